// The one record of a grading; every renderer prints this and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lab32::report {

enum class Status : uint8_t { passed, failed, not_run, error };

// One line of the score board: one TEST_CASE of a lab suite.
struct Test {
  std::string name;
  Status status = Status::not_run;
  double score = 0, max_score = 0;
  std::string measured;  // short, for the table: "5.0 sectors a request"
  std::string wanted;    // "4.0"
  std::string message;   // what is wrong, where, which idea mends it; may have lines
  std::string file;      // of the student
  int line = 0;
  std::map<std::string, double> figures;  // machine-readable: "sectors": 1048576
};

struct Lab {
  std::string name;                 // "coalescing"
  Status status = Status::passed;   // error: did not compile, no such kernel file, …
  std::string message;              // of status error: the compiler's text
  double score = 0, max_score = 0;  // of the tests that ran
  std::vector<Test> tests;
};

struct Result {
  std::string device;
  std::string stopwatch;  // the card that times were taken on; empty: none were
  uint64_t seed = 0;
  double score = 0, max_score = 0;
  std::vector<Lab> labs;
};

}  // namespace lab32::report
