// Finds the source line of the program's call that this library is in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

namespace lab32::cudart {

// A place in the program's machine code: the innermost consecutive frames that are in one file
// outside this library. Taking it is cheap; finding its source line is not.
struct CallSite {
  std::filesystem::path file;
  std::vector<uint64_t> addresses;  // relative to the file, the innermost first

  // The site of the current call. It is empty if the call did not come from a file.
  static CallSite current();
  // The site that contains this address of code, for a signal handler.
  static CallSite at(const void* code);

  bool operator<(const CallSite& b) const {
    return std::tie(file, addresses) < std::tie(b.file, b.addresses);
  }
};

// line 0: not known, because no line is better than a wrong one.
struct SourcePlace {
  std::string file;  // as the compiler was given it
  int line = 0;
  std::string function;  // that contains the line
};

// Runs addr2line, which takes some hundredths of a second.
SourcePlace source_place(const CallSite& site);

// "a.cu:12: ", or "" if the line is not known.
std::string prefix(const SourcePlace& place);

}  // namespace lab32::cudart
