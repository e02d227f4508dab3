// The record of a launch, from which questions are made, and the functions that make them. They
// return every question that is worth asking; draw() chooses.
#pragma once

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

constexpr uint32_t kManyLanes = 8;  // an access of fewer lanes says little about a warp

// "tile[3][0]": the array and its indices; no array if the name has another form.
struct Element {
  std::string array;
  std::vector<int64_t> index;
};
Element element_of(const std::string& name);

// One request of a line, and the words that tell it from the line's others.
struct ChosenRequest {
  const LineDetail* line = nullptr;
  const RequestDetail* request = nullptr;  // null: none can be chosen
  bool told = true;   // words can tell it from the line's other requests by that warp
  std::string which;  // "", or ", the second time that the warp executes this access"
  pictures::Request named;
};

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
  // The record has all accesses of the line in the block, as the machine code issues them.
  bool is_usable(const LineDetail& line) const {
    return line.requests.size() == line.requests_in_block && !line.ptx_level && is_known(line);
  }
  // Whether all lines that access shared or global memory are usable.
  bool complete_in(bool shared) const;
  Dim3 block() const { return launch.shape.block; }
  bool one_dimensional() const { return block().y == 1 && block().z == 1; }
  // The number of the thread whose x and y are those of `thread`, exchanged; -1: there is none.
  int64_t exchanged(int64_t thread) const;
  // A random load or store of the line, and a random lane that takes part.
  ChosenRequest choose(const LineDetail& line) const;
  uint32_t random_lane(const RequestDetail& request) const;
  std::string warp_name(const ChosenRequest& chosen) const;  // "warp 3 of block 2"
  // A question about a line, without its text and its answer.
  Question about(Kind kind, const std::string& subject, const std::string& idea, int line) const;
  // Adds the picture of a request.
  void draw_request(Question& question, const LineDetail& line, const RequestDetail& request) const;
};

inline bool is_active(const RequestDetail& request, uint32_t lane) {
  return request.mask >> lane & 1;
}
inline int64_t thread_of(uint32_t warp, uint32_t lane) { return int64_t{warp} * kWarpSize + lane; }
const char* verb_of(sim::AccessKind kind);  // of a load or a store
std::string ordinal(size_t number);         // 0: "first", at most 3: "fourth"
// "block 2", "block 5 (x 1, y 1)": pictures number the blocks
std::string block_name(const grading::Launch& launch, uint64_t block);
// Adds a wrong model, unless its answer is right, negative, or that of an earlier one.
void add_wrong(Question& question, int64_t answer, const std::string& misconception);
// The text of the launch for LaunchRecord::words.
std::string words_of_launch(grading::Check& check, const grading::Launch& launch,
                            const device::KernelInfo& kernel);

// What one access does: the element, the bank, the sectors and the wavefronts.
std::vector<Question> trace_questions(const LaunchRecord& record);
// Where a value comes from, which threads do nothing, and which line wastes most.
std::vector<Question> launch_questions(const LaunchRecord& record);
// A row of a tile longer or shorter, and the blocks that fit on a multiprocessor.
std::vector<Question> computed_questions(const LaunchRecord& record);

// Without one of its barriers, which lines race? In blocks of another size, what do the lines cost?
// Runs the changed launches from the memory `before` the launch, and leaves the memory as it is.
std::vector<Question> mutant_questions(const LaunchRecord& record, device::Kernel& kernel,
                                       device::SavedMemory& before);

}  // namespace lab32::asking
