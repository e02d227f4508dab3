// Questions about a changed launch, which runs again: in blocks of another size, or with fewer and
// equal elements.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "asking/launch_record.h"
#include "grading/launch/arrays.h"
#include "grading/launch/counting.h"

namespace lab32::asking {
namespace {

using sim::AccessKind;

// The cost of each line in the recorded block, without lines whose accesses are too many to be
// worked out on paper.
std::map<std::pair<int, bool>, uint64_t> cost_by_line_and_space(
    const counters::LaunchDetail& detail) {
  constexpr size_t kMostOnPaper = 32;
  std::map<std::pair<int, bool>, uint64_t> costs;
  for (const LineDetail& line : detail.lines) {
    if (line.requests_in_block > kMostOnPaper || line.ptx_level) continue;
    uint64_t& cost = costs[{line.line, line.shared}];
    for (const RequestDetail& request : line.requests) cost += request.cost;
  }
  return costs;
}

pictures::PicturedLineRequests pictured_access_of_line_detail(const LaunchQuestionInputs& record,
                                                              const LineDetail& line) {
  pictures::PicturedLineRequests access =
      pictures::single_request_picture(line, line.requests.at(0), record.names);
  for (size_t i = 1; i < line.requests.size(); ++i)
    access.requests.push_back(
        pictures::single_request_picture(line, line.requests[i], record.names).requests[0]);
  access.worst = line.worst;
  return access;
}

// A shape with as many threads in blocks of another size; nullopt if the recorded block has no
// counterpart in it.
std::optional<device::LaunchShape> shape_with_other_block_size(const device::LaunchShape& shape,
                                                               uint64_t recorded_block) {
  const bool line =
      shape.grid.y == 1 && shape.grid.z == 1 && shape.block.y == 1 && shape.block.z == 1;
  const uint32_t other = shape.block.x == 64 ? 128 : 64;
  const uint64_t threads = uint64_t{shape.grid.x} * shape.block.x;
  if (!line || shape.block.x < 64 || threads % other != 0 || recorded_block >= threads / other)
    return std::nullopt;
  device::LaunchShape changed = shape;
  changed.block = {other};
  changed.grid = {static_cast<uint32_t>(threads / other)};
  return changed;
}

// Questions about what the lines of a block cost if the block has another number of threads.
std::vector<Question> changed_block_size_questions(const LaunchQuestionInputs& record,
                                                   const counters::LaunchDetail& other,
                                                   const device::LaunchShape& shape) {
  std::vector<Question> questions;
  constexpr uint64_t kMostCost = 64;
  const auto before = cost_by_line_and_space(record.detail()),
             after = cost_by_line_and_space(other);
  const uint32_t now = record.block().x, threads = shape.block.x;
  for (const auto& [line, cost] : after) {
    const auto known = before.find(line);
    if (known == before.end() || record.known_lines.count(line) == 0 || cost == 0 ||
        cost > kMostCost)
      continue;
    const uint64_t was = known->second, in_proportion = was * threads / now;
    // A difference of 1 is only that of the last warp, or that of rounding.
    const bool near = cost * now + now >= was * threads && cost * now <= was * threads + now;
    if (cost == was || near || !record.has_access_syntax_in_line(line.first)) continue;
    const char* const unit = line.second ? "wavefronts" : "sectors";
    Question q = record.new_question(QuestionKind::what_if, "block size",
                                     line.second ? "banks" : "sectors", line.first);
    q.answer = static_cast<int64_t>(cost);
    q.text = fmt::format(
        "Suppose that the launch had {} blocks of {} threads instead of {} of {}. How many {} "
        "would "
        "all accesses of this line in block {} of the new grid take together?",
        shape.grid.x, threads, record.launch.shape.grid.x, now, unit, record.detail().block);
    q.reason = fmt::format(
        "How many warps execute the line, how often, and how many {} does each "
        "of their requests take?",
        unit);
    add_wrong_answer(q, static_cast<int64_t>(was),
                     fmt::format("That is the number for blocks of {} threads.", now));
    add_wrong_answer(
        q, static_cast<int64_t>(in_proportion),
        "That is in proportion to the threads. Some warps take part more often than others, "
        "or not with all lanes.");
    q.weight = 3;
    for (const LineDetail& l : other.lines)
      if (l.line == line.first && l.shared == line.second)
        q.picture.accesses = {pictured_access_of_line_detail(record, l)};
    questions.push_back(std::move(q));
  }
  return questions;
}

// A launch with a smaller first integer, on inputs whose elements are all equal.
struct LaunchWithSmallerN {
  grading::Launch launch;
  int64_t before = 0, now = 0;  // the integer
};

std::optional<LaunchWithSmallerN> launch_with_smaller_n(const LaunchQuestionInputs& record) {
  const auto& types = record.kernel.parameter_types;
  LaunchWithSmallerN changed{record.launch, 0, 0};
  for (size_t i = 0; i < types.size() && i < changed.launch.args.size(); ++i) {
    if (types[i] != "int" || changed.launch.args[i].bytes().size() != sizeof(int32_t)) continue;
    int32_t n = 0;
    std::memcpy(&n, changed.launch.args[i].bytes().data(), sizeof n);
    if (n < 8) return std::nullopt;
    const auto most = std::min<uint64_t>(record.block().count() - 1, static_cast<uint64_t>(n) / 4);
    changed.before = n;
    n -= 1 + static_cast<int32_t>(record.random.below(static_cast<uint32_t>(most)));
    changed.now = n;
    changed.launch.args[i] = device::KernelArgument(n);
    return changed;
  }
  return std::nullopt;
}

void fill_inputs_with_first_element(const LaunchQuestionInputs& record) {
  device::Device& device = record.check.device();
  for (const grading::DeviceArray* array : record.check.arrays) {
    if (!array->read_only()) continue;
    std::vector<std::byte> bytes(array->buffer().bytes);
    device.download(bytes.data(), array->buffer(), bytes.size());
    const size_t of_element = array->element_bytes();
    for (size_t at = of_element; at < bytes.size(); ++at) bytes[at] = bytes[at - of_element];
    device.upload(array->buffer(), bytes.data(), bytes.size());
  }
}

class SmallerNQuestions {
 public:
  SmallerNQuestions(const LaunchQuestionInputs& record, const LaunchWithSmallerN& changed,
                    const counters::LaunchDetail& detail)
      : r_(record), changed_(changed), detail_(detail) {}

  std::vector<Question> all_questions() {
    add_idle_threads_question();
    for (const LineDetail& line : detail_.lines) {
      const bool changes = std::any_of(
          line.requests.begin(), line.requests.end(),
          [&](const RequestDetail& r) { return is_atomic(r) || (line.shared && is_store(r)); });
      if (line.requests.size() != line.requests_in_block || !changes ||
          r_.is_independent_of_inputs(line) || !r_.has_access_syntax_in_line(line.line))
        continue;
      ask_additions_if_inputs_equal(line);
      ask_lanes_per_word_if_inputs_equal(line);
    }
    return std::move(questions_);
  }

 private:
  static bool is_store(const RequestDetail& r) { return r.kind == AccessKind::store; }
  static bool is_atomic(const RequestDetail& r) {
    return r.kind != AccessKind::load && r.kind != AccessKind::store;
  }
  static int64_t lanes_of(const RequestDetail& r) { return __builtin_popcount(r.mask); }

  // The question about the changed launch; `what`: what else is changed.
  Question new_question(const std::string& subject, const std::string& idea, int line,
                        const std::string& what) const {
    Question q = r_.new_question(QuestionKind::what_if, subject, idea, line);
    q.launch = launch_text(r_.check, changed_.launch, r_.kernel);
    q.text = fmt::format("Suppose that the launch were as above, with {} instead of {}{}. ",
                         changed_.now, changed_.before, what);
    return q;
  }

  void add_if_enough_wrong_answers(Question question, size_t least_wrong) {
    if (question.wrong.size() < least_wrong || question.answer > kLargestIndex) return;
    questions_.push_back(std::move(question));
  }

  // Asks how many threads of the last block load nothing, in the last round of a loop if there is
  // one. Lines that load in a loop are asked about only if no other line loads, and if one integer
  // decides how far the loop goes.
  void add_idle_threads_question() {
    if (!r_.same_loading_lanes || !r_.one_dimensional()) return;
    std::map<size_t, std::set<int64_t>> loading;  // threads, by round
    const LineDetail* shown = nullptr;
    size_t lines = 0;
    for (const LineDetail& line : detail_.lines) {
      std::map<uint32_t, size_t> rounds;  // by warp
      if (line.shared) continue;
      if (line.requests.size() != line.requests_in_block) return;
      for (const RequestDetail& request : line.requests) {
        if (request.kind != AccessKind::load) continue;
        if (rounds.empty()) ++lines;
        const size_t round = rounds[request.warp]++;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
          if (is_active(request, lane)) loading[round].insert(thread_of(request.warp, lane));
        if (!shown) shown = &line;
      }
    }
    if (!shown) return;
    const auto& [round, working] = *loading.rbegin();
    const auto& types = r_.kernel.parameter_types;
    const bool one_integer = std::count(types.begin(), types.end(), "int") == 1;
    if (round > 0 && (lines > 1 || !one_integer || round > 3 || !has_single_load_in_source(*shown)))
      return;
    const auto threads = static_cast<int64_t>(r_.block().count());
    const int64_t idle = threads - static_cast<int64_t>(working.size());
    if (idle == 0 || working.size() < kManyLanes) return;
    Question q = new_question("idle threads", "indices",
                              r_.has_access_syntax_in_line(shown->line) ? shown->line : 0, "");
    q.answer = idle;
    q.text += fmt::format(
        "How many of the {} threads of the last block, {}, load nothing from "
        "global memory{}?",
        threads, block_name(r_.launch, detail_.block),
        round == 0
            ? ""
            : fmt::format(" in the {} round of the loop around this line", ordinal_word(round)));
    q.reason = "Which elements does the last block have, and how many of them come before the end?";
    add_wrong_answer(q, threads - idle, "Those are the threads that load.");
    add_wrong_answer(q, 0,
                     "The number of elements is no multiple of what a block takes: the guard turns "
                     "threads of the last block away.");
    add_wrong_answer(q, idle % kWarpSize,
                     "That counts only the last warp that works: the warps after it load nothing "
                     "either.");
    q.weight = 3;
    const RequestDetail* end = &shown->requests[0];
    for (const RequestDetail& request : shown->requests)
      if (request.kind == AccessKind::load &&
          (request.number > end->number ||
           (request.number == end->number && request.warp >= end->warp)))
        end = &request;
    r_.add_request_picture(q, *shown, *end);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  // Whether the line has only one load, so that the requests of a warp are rounds of a loop.
  bool has_single_load_in_source(const LineDetail& line) const {
    const std::string source = r_.names.source.text_of(line.line);
    std::set<std::string> arrays;
    for (const RequestDetail& request : line.requests)
      if (request.kind == AccessKind::load)
        arrays.insert(parse_element_name(pictures::single_request_picture(line, request, r_.names)
                                             .requests[0]
                                             .name[__builtin_ctz(request.mask)])
                          .array);
    const std::string& array = *arrays.begin();
    return arrays.size() == 1 && !array.empty() &&
           count_indexed_uses_on_line(source, name_on_line(source, array, AccessKind::load)) == 1;
  }

  const char* equal_inputs_assumption() const {
    return ", and that all elements of an input array had the same value";
  }

  // Asks how often the line stores or adds if all inputs are equal.
  void ask_additions_if_inputs_equal(const LineDetail& line) {
    const bool atomic = is_atomic(line.requests[0]);
    int64_t lanes = 0, requests = 0, elements = 0;
    for (const RequestDetail& request : line.requests) {
      if (request.kind == AccessKind::load) continue;
      lanes += lanes_of(request);
      ++requests;
    }
    for (const LineDetail& loads : detail_.lines) {
      int64_t loaded = 0;
      for (const RequestDetail& request : loads.requests)
        if (!loads.shared && request.kind == AccessKind::load) loaded += lanes_of(request);
      elements = std::max(elements, loaded);
    }
    if (lanes == elements) return;  // the answer stands in the launch
    Question q = new_question("additions", "atomics", line.line, equal_inputs_assumption());
    q.answer = lanes;
    q.text += fmt::format("How many {} would the threads of {} execute on this line, in all?",
                          atomic ? "atomic additions" : "stores to shared memory",
                          block_name(r_.launch, detail_.block));
    q.reason = "Which lanes of a warp execute the line if all have the same value, and how often?";
    add_wrong_answer(q, elements, "That is once for each element. Do all lanes execute this line?");
    add_wrong_answer(q, static_cast<int64_t>(r_.block().count()),
                     "That is once for each thread. How many elements has a thread, and do all "
                     "lanes execute this line?");
    add_wrong_answer(q, requests,
                     "That counts instructions of warps. Each active lane adds for itself.");
    add_wrong_answer(q, 1, "Warps do not know each other's values.");
    q.weight = 4;
    r_.add_request_picture(q, line, line.requests[line.requests.size() - 1]);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  // Asks how many lanes of one request access one word if all inputs are equal. The request with
  // the fewest lanes is the one at the end of the data.
  void ask_lanes_per_word_if_inputs_equal(const LineDetail& line) {
    const RequestDetail* least = nullptr;
    std::map<uint32_t, size_t> rounds;
    size_t round = 0;
    for (const RequestDetail& request : line.requests) {
      if (!is_atomic(request)) continue;
      const size_t at = rounds[request.warp]++;
      if (least && lanes_of(request) >= lanes_of(*least)) continue;
      least = &request;
      round = at;
    }
    if (!least || round > 3 || lanes_of(*least) == 1) return;
    std::map<uint64_t, int64_t> adds;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
      if (is_active(*least, lane)) ++adds[least->address[lane]];
    if (adds.size() != 1) return;
    Question q = new_question("equal words", "atomics", line.line, equal_inputs_assumption());
    q.answer = lanes_of(*least);
    q.text += fmt::format(
        "The {} time that warp {} of {} executes this line, how many additions to one word does it "
        "make?",
        ordinal_word(round), least->warp, block_name(r_.launch, detail_.block));
    q.reason = "Which lanes take part, and to which words do they add?";
    add_wrong_answer(q, 1,
                     "That would be so if the lanes had different values. Here all add to one "
                     "word, and each addition is made.");
    add_wrong_answer(q, kWarpSize, "Do all lanes of this warp still have an element?");
    add_wrong_answer(q, kWarpSize - q.answer, "Those are the lanes that have no element.");
    q.weight = 4;
    r_.add_request_picture(q, line, *least);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  const LaunchQuestionInputs& r_;
  const LaunchWithSmallerN& changed_;
  const counters::LaunchDetail& detail_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> changed_launch_questions(const LaunchQuestionInputs& record,
                                               device::Kernel& kernel,
                                               device::SavedMemory& before) {
  std::vector<Question> questions;
  device::Device& device = record.check.device();
  const auto after = device.save();
  device::LaunchOptions options;
  options.warp_budget = kMostOfChangedRun;
  options.launch_detail.emplace();
  options.launch_detail->file = record.names.file;
  options.launch_detail->most = 512;
  if (const auto shape = shape_with_other_block_size(record.launch.shape, record.detail().block)) {
    before.put_back();
    options.launch_detail->block = record.detail().block;
    const device::LaunchResult run = device.launch(kernel, *shape, record.launch.args, options);
    // Nothing is asked if the result differs, as in a kernel that is written for one size of block.
    if (!run.fault && run.launch_detail && !grading::has_hazard_finding(run) && after->same())
      questions = changed_block_size_questions(record, *run.launch_detail, *shape);
  }
  if (const auto changed = launch_with_smaller_n(record)) {
    before.put_back();
    fill_inputs_with_first_element(record);
    options.launch_detail->block = record.launch.shape.grid.count() - 1;
    const device::LaunchResult run =
        device.launch(kernel, changed->launch.shape, changed->launch.args, options);
    if (!run.fault && run.launch_detail && !grading::has_hazard_finding(run))
      for (Question& question :
           SmallerNQuestions(record, *changed, *run.launch_detail).all_questions())
        questions.push_back(std::move(question));
  }
  after->put_back();
  return questions;
}

}  // namespace lab32::asking
