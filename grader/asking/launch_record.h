// The record of a launch, from which questions are made, and the functions that make them. They
// return every question that is worth asking; draw_questions() chooses.
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

constexpr int64_t kLargestIndex = 9'999;  // a larger index takes too long to work out on paper
constexpr uint32_t kManyLanes = 8;        // an access of fewer lanes shows little about a warp

// "tile[3][0]": the array and its indices; no array if the name has another form.
struct ElementName {
  std::string array;
  std::vector<int64_t> index;
};
ElementName parse_element_name(const std::string& name);

// The request that a question is about, and the words that tell it from the other requests of its
// line.
struct RequestInQuestion {
  const LineDetail* line = nullptr;
  const RequestDetail* request = nullptr;  // null: none can be chosen
  bool told = false;  // whether words can tell it from the other requests of its line and warp
  std::string which;  // "", or ", the second time that the warp executes this access"
  std::string array;  // "`in`", or "`in` (`from` points into it)" if the line has another name
  pictures::PicturedRequest named;
  // The requests by which the warp executes this access, in order, and the place of this one.
  std::vector<const RequestDetail*> rounds;
  size_t round = 0;
};

struct LaunchQuestionInputs {
  grading::Check& check;
  const grading::Launch& launch;
  const device::KernelInfo& kernel;
  const device::LaunchResult& run;  // recorded with launch_detail, for one block
  pictures::LaunchNames names;
  std::string words;  // "add(in, out, 1000), 4 blocks of 256 threads"
  Random& random;     // chooses warps and lanes
  // The lines, each with whether the access is to shared memory, whose accesses do not depend on
  // the values of the inputs, and whether the shuffles do not: a question must not depend on values
  // that the student does not know.
  std::set<std::pair<int, bool>> known_lines;
  bool same_shuffles = false;
  // Whether the values of the inputs do not decide which lanes load from global memory.
  bool same_loading_lanes = false;

  const counters::LaunchDetail& detail() const { return *run.launch_detail; }
  bool is_independent_of_inputs(const LineDetail& line) const {
    return known_lines.count({line.line, line.shared}) > 0;
  }
  // Whether all accesses of the line in the block were recorded as the machine code issues them,
  // and do not depend on the inputs' values.
  bool is_exactly_recorded(const LineDetail& line) const {
    return line.requests.size() == line.requests_in_block && !line.ptx_level &&
           is_independent_of_inputs(line);
  }
  bool are_shared_lines_exactly_recorded() const;
  // Whether the text of the line shows an access: nvcc gives the accesses of an inlined function's
  // arguments to the line of the function's body.
  bool has_access_syntax_in_line(int line) const;
  bool is_usable_for_questions(const LineDetail& line) const {
    return is_exactly_recorded(line) && has_access_syntax_in_line(line.line);
  }
  Dim3 block() const { return launch.shape.block; }
  bool one_dimensional() const { return block().y == 1 && block().z == 1; }
  // The number of the thread whose x and y are those of `thread`, exchanged; -1: there is none.
  int64_t thread_with_exchanged_xy(int64_t thread) const;
  // A random load or store of the line, and a random lane that takes part.
  RequestInQuestion choose_request(const LineDetail& line) const;
  uint32_t random_active_lane(const RequestDetail& request) const;
  std::string warp_name(const RequestInQuestion& chosen) const;  // "warp 3 of block 2"
  // A question about a line, in which only the text and the answer are still missing.
  Question new_question(QuestionKind kind, const std::string& subject, const std::string& idea,
                        int line) const;
  // Adds the picture of a request to the question.
  void add_request_picture(Question& question, const LineDetail& line,
                           const RequestDetail& request) const;
};

inline bool is_active(const RequestDetail& request, uint32_t lane) {
  return request.mask >> lane & 1;
}
inline int64_t thread_of(uint32_t warp, uint32_t lane) { return int64_t{warp} * kWarpSize + lane; }
// The name by which the line accesses the array: the array's own, or that of the pointer that the
// line uses; "": unknown.
std::string name_on_line(const std::string& source, const std::string& array, sim::AccessKind kind);
// The number of times that the line has the name with an index.
size_t count_indexed_uses_on_line(const std::string& source, const std::string& name);
const char* verb_of(sim::AccessKind kind);  // of a load or a store
std::string ordinal_word(size_t number);    // 0: "first", at most 3: "fourth"
// "block 2", "block 5 (x 1, y 1)": pictures number the blocks
std::string block_name(const grading::Launch& launch, uint64_t block);
// Adds an answer that follows from a misconception, unless the answer is right or negative, or the
// question has it already.
void add_wrong_answer(Question& question, int64_t answer, const std::string& misconception);
// The launch in words, as LaunchQuestionInputs::words has it.
std::string launch_text(grading::Check& check, const grading::Launch& launch,
                        const device::KernelInfo& kernel);

// Questions about one access: its element, its bank, its sectors and its wavefronts.
std::vector<Question> single_access_questions(const LaunchQuestionInputs& record);
// Questions about the whole launch: which thread stores, where a value comes from, and which line
// wastes most.
std::vector<Question> writer_and_shuffle_questions(const LaunchQuestionInputs& record);
// Questions about a change whose effect is computed: a tile with longer or shorter rows, and the
// blocks of a kernel that fit on a GPU's multiprocessor.
std::vector<Question> calculation_questions(const LaunchQuestionInputs& record);

// Questions about a change whose effect is found by running the kernel. Runs start from the memory
// `before` the launch; the memory is restored afterwards.

constexpr uint64_t kMostOfChangedRun = 2'000'000;  // instructions of a warp
// The accesses that race without one of the kernel's barriers.
std::vector<Question> mutant_questions(const LaunchQuestionInputs& record,
                                       device::SavedMemory& before);
// The cost of lines in blocks of another size, the threads that do nothing with fewer elements, and
// the atomic operations on equal inputs.
std::vector<Question> changed_launch_questions(const LaunchQuestionInputs& record,
                                               device::Kernel& kernel, device::SavedMemory& before);

}  // namespace lab32::asking
