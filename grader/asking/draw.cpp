// Grades some checks of a lab, makes questions of their launches, and draws a few.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "asking/launch_record.h"
#include "asking/question.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/toml_file.h"
#include "grading/launch/arrays.h"

namespace lab32::asking {
namespace {

// Limits within which a launch is recorded: it must be small enough to be worked out on paper and
// to run again quickly.
constexpr uint64_t kMostThreads = 1 << 17;
constexpr unsigned kMostLaunches = 2;    // records of each kernel of a check
constexpr size_t kChecksAtOnce = 2;      // graded before questions are chosen
constexpr uint32_t kMostRequests = 512;  // recorded requests of each line of the block

class QuestionMaker : public grading::LaunchHooks {
 public:
  explicit QuestionMaker(uint64_t seed) : seed_(seed) {}

  bool wants_snapshot_before_launch(grading::Check& check, const grading::Launch& launch,
                                    device::Kernel&, device::LaunchOptions& options) override {
    recording_ = false;
    const uint64_t threads = launch.shape.grid.count() * launch.shape.block.count();
    if (threads < kWarpSize || threads > kMostThreads || check.trial.repeating()) return false;
    if (seen_[check.row.check + launch.kernel] >= kMostLaunches) return false;
    recording_ = true;
    random_ = Random(seed_of_stream(seed_, check.row.check + launch.kernel + launch.setting));
    counters::DetailFilter filter;
    filter.file = check.session.source.display();
    filter.most = kMostRequests;
    // Every third record is of the last block, which has the edge of the data.
    const uint64_t blocks = launch.shape.grid.count();
    filter.block =
        random_.below(3) == 0 ? blocks - 1 : random_.below(static_cast<uint32_t>(blocks));
    options.launch_detail = filter_ = filter;
    return true;
  }

  void after_clean_launch(grading::Check& check, const grading::Launch& launch,
                          device::Kernel& kernel, const device::LaunchResult& run,
                          device::SavedMemory* memory) override {
    if (!recording_ || !memory) return;
    if (!run.launch_detail || !has_line_accessed_by_many_lanes(check, *run.launch_detail)) return;
    ++seen_[check.row.check + launch.kernel];
    LaunchQuestionInputs record{
        check,
        launch,
        kernel.info(),
        run,
        {launch.kernel, launch.setting, check.session.source.display(), check.session.source,
         [&check](uint64_t address, uint32_t) { return grading::name_of_address(check, address); }},
        launch_text(check, launch, kernel.info()),
        random_,
        {}};
    compare_with_rotated_inputs(record, kernel, *memory);
    append_questions(single_access_questions(record));
    append_questions(writer_and_shuffle_questions(record));
    append_questions(calculation_questions(record));
    if (mutated_.insert(launch.kernel).second) {
      append_questions(mutant_questions(record, *memory));
      append_questions(changed_launch_questions(record, kernel, *memory));
    }
  }

  std::vector<Question> questions;

 private:
  // A launch for no elements or very few of them is not worth a question about a warp. Only loads
  // count if the launch has inputs, since a kernel may write its outputs even if there are no
  // elements.
  static bool has_line_accessed_by_many_lanes(const grading::Check& check,
                                              const counters::LaunchDetail& detail) {
    const bool has_inputs =
        std::any_of(check.arrays.begin(), check.arrays.end(),
                    [](const grading::DeviceArray* array) { return array->read_only(); });
    uint32_t most = 0;  // lanes, for one line
    for (const LineDetail& line : detail.lines) {
      uint32_t lanes = 0;
      for (const RequestDetail& request : line.requests)
        if (!line.shared && (!has_inputs || request.kind == sim::AccessKind::load))
          lanes += static_cast<uint32_t>(__builtin_popcount(request.mask));
      most = std::max(most, lanes);
    }
    return most >= std::min<uint32_t>(2 * kWarpSize, detail.threads);
  }

  // Runs the launch again with the elements of each input rotated, and records the lines whose
  // accesses do not depend on the inputs' values.
  void compare_with_rotated_inputs(LaunchQuestionInputs& record, device::Kernel& kernel,
                                   device::SavedMemory& before) const {
    device::Device& device = record.check.device();
    const auto after = device.save();
    before.put_back();
    bool moved = true;
    for (const grading::DeviceArray* array : record.check.arrays) {
      if (!array->read_only()) continue;
      std::vector<std::byte> bytes(array->buffer().bytes);
      device.download(bytes.data(), array->buffer(), bytes.size());
      const size_t by = array->element_bytes() * (array->count() / 2);
      const std::vector<std::byte> unmoved = bytes;
      std::rotate(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(by), bytes.end());
      moved &= bytes != unmoved;  // equal elements show nothing
      device.upload(array->buffer(), bytes.data(), bytes.size());
    }
    device::LaunchOptions options;
    options.warp_budget = kMostOfChangedRun;
    options.check_hazards = false;
    options.launch_detail = filter_;
    if (!moved) return after->put_back();
    const device::LaunchResult run =
        device.launch(kernel, record.launch.shape, record.launch.args, options);
    after->put_back();
    if (run.fault || !run.launch_detail) return;
    const counters::LaunchDetail &one = record.detail(), &other = *run.launch_detail;
    record.same_loading_lanes = loading_lanes(one) == loading_lanes(other);
    for (const LineDetail& line : one.lines)
      for (const LineDetail& again : other.lines)
        if (line.line == again.line && line.shared == again.shared &&
            std::equal(line.requests.begin(), line.requests.end(), again.requests.begin(),
                       again.requests.end(), are_identical_requests))
          record.known_lines.insert({line.line, line.shared});
    record.same_shuffles = std::equal(
        one.shuffles.begin(), one.shuffles.end(), other.shuffles.begin(), other.shuffles.end(),
        [](const counters::ShuffleDetail& a, const counters::ShuffleDetail& b) {
          return a.line == b.line && a.mask == b.mask && a.from == b.from;
        });
  }

  // The lanes of each load from global memory.
  static std::vector<std::tuple<int, uint32_t, uint32_t>> loading_lanes(
      const counters::LaunchDetail& detail) {
    std::vector<std::tuple<int, uint32_t, uint32_t>> lanes;  // line, warp and mask
    for (const LineDetail& line : detail.lines)
      for (const RequestDetail& request : line.requests)
        if (!line.shared && request.kind == sim::AccessKind::load)
          lanes.emplace_back(line.line, request.warp, request.mask);
    return lanes;
  }

  static bool are_identical_requests(const RequestDetail& a, const RequestDetail& b) {
    return std::tie(a.warp, a.number, a.kind, a.mask, a.address) ==
           std::tie(b.warp, b.number, b.kind, b.mask, b.address);
  }

  void append_questions(std::vector<Question> made) {
    for (Question& question : made) questions.push_back(std::move(question));
  }

  uint64_t seed_;
  Random random_{0};
  bool recording_ = false;
  counters::DetailFilter filter_;
  std::map<std::string, unsigned> seen_;  // launches by check and kernel
  std::set<std::string> mutated_;         // kernels
};

// The checks to grade: the named ones, or all that compare results. A check that is hidden until
// some time is left out even after it, because answers are judged later than they are given and
// must be about the same questions.
std::vector<std::string> named_or_result_checks(const grading::Rubric& rubric,
                                                const std::string& check) {
  if (!check.empty()) return grading::checks_matching(rubric, check);
  std::vector<std::string> names;
  for (const grading::RubricCheckEntry& row : rubric.rows())
    if (row.credit == grading::Credit::all && !row.asks() && !row.bonus && row.hidden_until == 0)
      names.push_back(row.check);
  return names;
}

// The idea that a lab teaches, from its rubric, and the lab's place in the course.
struct LabMainConcept {
  std::string lab, idea;
  int64_t order = 0;
};

std::vector<LabMainConcept> main_concepts_of_labs(const std::vector<std::string>& labs) {
  std::vector<LabMainConcept> ideas;
  for (const std::string& lab : labs) {
    const std::filesystem::path file = grading::rubric_folder(lab) / (lab + ".toml");
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    const toml::table table = read_toml(file);
    ideas.push_back({lab, table["idea"].value_or(std::string()),
                     table["order"].value_or(std::numeric_limits<int64_t>::max())});
  }
  return ideas;
}

// If the question is about the idea of an earlier lab and not of its own, stores that lab in
// `spaced`.
void mark_idea_of_earlier_lab(Question& question, const std::string& lab,
                              const std::vector<LabMainConcept>& ideas) {
  const auto own = std::find_if(ideas.begin(), ideas.end(),
                                [&](const LabMainConcept& i) { return i.lab == lab; });
  for (const LabMainConcept& earlier : ideas)
    if (own != ideas.end() && earlier.order < own->order && earlier.idea == question.idea &&
        own->idea != question.idea)
      question.spaced = earlier.lab;
}

// Draws questions at random, by weight: each subject at most once, and no second question of a kind
// while there are others. If several are drawn, one of them repeats the idea of an earlier lab, if
// there is such a question.
std::vector<Question> choose_questions(std::vector<Question> pool, size_t count, Random& random) {
  std::vector<Question> chosen;
  std::set<std::string> subjects;
  std::set<QuestionKind> kinds;
  while (chosen.size() < count) {
    // The question that repeats an earlier lab's idea is drawn first, so that the others can be of
    // other kinds.
    const bool wants_spaced =
        chosen.empty() && count > 1 &&
        std::any_of(pool.begin(), pool.end(), [](const Question& q) { return !q.spaced.empty(); });
    std::vector<Question*> open;
    for (const bool any_kind : {false, true}) {
      for (Question& question : pool)
        if ((question.spaced.empty() || wants_spaced || any_kind) &&
            (!wants_spaced || !question.spaced.empty()) && subjects.count(question.subject) == 0 &&
            (any_kind || kinds.count(question.kind) == 0))
          open.push_back(&question);
      if (!open.empty()) break;
    }
    if (open.empty()) break;
    // Draws a subject and then one of its questions, so that a subject with many questions is not
    // drawn more often.
    std::map<std::string, unsigned> best;
    for (const Question* question : open)
      best[question->subject] = std::max(best[question->subject], question->weight);
    unsigned sum = 0;
    for (const auto& [subject, weight] : best) sum += weight;
    unsigned at = random.below(sum);
    auto subject = best.begin();
    while (at >= subject->second) at -= (subject++)->second;
    std::vector<Question*> alike;
    for (Question* question : open)
      if (question->subject == subject->first && question->weight == subject->second)
        alike.push_back(question);
    const Question* const drawn = alike[random.below(static_cast<uint32_t>(alike.size()))];
    subjects.insert(drawn->subject);
    kinds.insert(drawn->kind);
    chosen.push_back(*drawn);
  }
  return chosen;
}

std::string reason_for_no_questions(const report::LabResult& lab,
                                    const std::set<std::string>& passed) {
  if (lab.status == report::Status::error || lab.status == report::Status::not_graded) {
    const std::string first_line = lab.message.substr(0, lab.message.find('\n'));
    return first_line.substr(0, first_line.find_last_not_of(':') + 1);
  }
  if (passed.empty())
    return fmt::format(
        "no check of {} has passed yet, and questions are asked about launches that "
        "are right",
        lab.name);
  return "the launches of this check give no good question: their answers are constants, or too "
         "long to work out on paper";
}

// Adds the checks that have passed to `passed`. Returns the first check with open questions of the
// lab; "": there is none.
std::string first_check_awaiting_answers(const grading::Rubric& rubric,
                                         const report::LabResult& lab,
                                         std::set<std::string>& passed) {
  for (const report::CheckResult& test : lab.tests) {
    const auto row = std::find_if(rubric.rows().begin(), rubric.rows().end(),
                                  [&](const auto& r) { return r.check == test.name; });
    if (test.status == report::Status::passed)
      passed.insert(test.name);
    else if (row != rubric.rows().end() && row->asks())
      return test.name;
  }
  return "";
}

// Whether the answer stands as a number in the line that the question is about.
bool source_line_reveals_answer(const Question& question) {
  static const RegularExpression number("[0-9]+");
  if (!question.options.empty()) return false;
  for (const auto& found : number.all(question.source))
    if (found[0] == std::to_string(question.answer)) return true;
  return false;
}

// Whether the pool leaves a choice between subjects and between kinds.
bool has_enough_variety(const std::vector<Question>& pool, size_t count) {
  std::set<std::string> subjects;
  std::set<QuestionKind> kinds;
  for (const Question& question : pool) {
    subjects.insert(question.subject);
    kinds.insert(question.kind);
  }
  return subjects.size() > count && kinds.size() >= std::min<size_t>(count, 3);
}

}  // namespace

DrawnQuestions draw_questions(const AskOptions& options) {
  grading::GradeOptions grade = options.grade;
  const grading::SubmittedLabFile file = grading::files_to_grade(grade).at(0);
  const grading::Rubric rubric(grade.rubric.empty() ? grading::rubric_folder() : grade.rubric,
                               file.lab);
  const uint64_t seed = hash_of(options.id + "\n" + read_file(file.file).value_or(""));
  QuestionMaker maker(seed);
  grade.device = "sim";
  grade.seed = seed & 0xffffffffffff;  // 48 bits, as in a grading without --seed
  grade.modelled_times = false;
  grade.watcher = &maker;
  std::vector<std::string> left = named_or_result_checks(rubric, options.check);
  const std::set<std::string> named(left.begin(), left.end());
  if (options.check.empty()) Random(seed_of_stream(seed, "checks")).shuffle(left);

  DrawnQuestions drawn{file.lab, file.file.string(), {}, "", {}};
  for (const std::string& lab : grading::known_labs())
    if (options.labs.empty() ||
        std::find(options.labs.begin(), options.labs.end(), lab) != options.labs.end())
      drawn.labs.push_back(lab);
  const std::vector<LabMainConcept> ideas = main_concepts_of_labs(drawn.labs);
  std::vector<Question> pool;
  std::set<std::string> passed;
  report::LabResult lab;
  do {
    const size_t some = options.check.empty() ? std::min(kChecksAtOnce, left.size()) : left.size();
    grade.checks.assign(left.end() - static_cast<ptrdiff_t>(some), left.end());
    left.resize(left.size() - some);
    lab = grading::grade(grade).labs.at(0);
    if (lab.status == report::Status::error || lab.status == report::Status::not_graded) break;
    if (const std::string open = first_check_awaiting_answers(rubric, lab, passed); !open.empty()) {
      drawn.why_none =
          fmt::format("they would give away the answers to `{}`, so answer that check first", open);
      return drawn;
    }
    for (Question& question : std::exchange(maker.questions, {})) {
      if (passed.count(question.check) == 0 || named.count(question.check) == 0 ||
          source_line_reveals_answer(question))
        continue;
      mark_idea_of_earlier_lab(question, file.lab, ideas);
      pool.push_back(std::move(question));
    }
  } while (!left.empty() && !has_enough_variety(pool, options.count));
  Random random(seed_of_stream(seed, "choose"));
  drawn.questions = choose_questions(std::move(pool), options.count, random);
  // The question about an earlier lab's idea was drawn first, and is asked last.
  if (!drawn.questions.empty())
    std::rotate(drawn.questions.begin(), drawn.questions.begin() + 1, drawn.questions.end());
  if (drawn.questions.empty()) drawn.why_none = reason_for_no_questions(lab, passed);
  return drawn;
}

}  // namespace lab32::asking
