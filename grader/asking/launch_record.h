// The record of a launch, from which questions are made, and the functions that make them. They
// return every question that is worth asking; draw() chooses.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "asking/question.h"
#include "base/random.h"
#include "grading/launch/launch.h"
#include "pictures/make.h"

namespace lab32::asking {

using counters::LineDetail;
using counters::RequestDetail;

struct LaunchRecord {
  grading::Check& check;
  const grading::Launch& launch;
  const device::KernelInfo& kernel;
  const device::Run& run;  // with its launch_detail, of one block
  pictures::Names names;
  std::string words;  // "add(in, out, 1000), 4 blocks of 256 threads"
  Random& random;     // chooses warps and lanes
  // The lines (with `shared`) whose accesses are the same for other values in the inputs: the
  // student does not know the values. And whether the shuffles are.
  std::set<std::pair<int, bool>> known_lines;
  bool same_shuffles = false;

  const counters::LaunchDetail& detail() const { return *run.launch_detail; }
  bool is_known(const LineDetail& line) const {
    return known_lines.count({line.line, line.shared}) > 0;
  }
  Dim3 block() const { return launch.shape.block; }
  bool one_dimensional() const { return block().y == 1 && block().z == 1; }
  // A question about a line, without its text and its answer.
  Question about(Kind kind, const std::string& subject, const std::string& idea, int line) const;
  // Its picture is that of one request.
  void draw_request(Question& question, const LineDetail& line, const RequestDetail& request) const;
};

// "block 2", "block (1, 0)"
std::string block_name(const grading::Launch& launch, uint64_t block);
// Adds a wrong model, unless its answer is right, negative, or that of an earlier one.
void add_wrong(Question& question, int64_t answer, const std::string& misconception);
// The text of the launch for LaunchRecord::words.
std::string words_of_launch(grading::Check& check, const grading::Launch& launch,
                            const device::KernelInfo& kernel);

// What an access does, where a value comes from, and which threads do nothing.
std::vector<Question> trace_questions(const LaunchRecord& record);
// A row of a tile longer or shorter, and the blocks that fit on a multiprocessor.
std::vector<Question> computed_questions(const LaunchRecord& record);

// The kernel without one of its barriers, for each barrier. Constructed before the launch, since
// loading allocates memory.
class Mutants {
 public:
  Mutants(grading::Check& check, const grading::Launch& launch);
  // After the launch: runs the mutants, and the kernel in blocks of another size, from the memory
  // as it was before. Leaves the memory as it is.
  std::vector<Question> questions(const LaunchRecord& record, device::Kernel& kernel,
                                  device::SavedMemory& before);

 private:
  struct Mutant {
    int line = 0;  // of the barrier
    std::unique_ptr<device::LoadedModule> module;
    device::Kernel* kernel = nullptr;
  };
  std::vector<Mutant> mutants_;
};

}  // namespace lab32::asking
