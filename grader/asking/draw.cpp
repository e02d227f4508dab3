// Grades the checks of a lab, makes questions of their launches, and draws a few.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "asking/launch_record.h"
#include "asking/question.h"
#include "base/error.h"
#include "base/files.h"
#include "base/toml_file.h"
#include "grading/launch/arrays.h"

namespace lab32::asking {
namespace {

// A launch is recorded if it is small enough to be worked out on paper and to run again quickly.
constexpr uint64_t kMostThreads = 1 << 17;
constexpr unsigned kMostLaunches = 4;              // recorded for each kernel of a check
constexpr uint64_t kMostInstructions = 2'000'000;  // of a warp, with other inputs
constexpr uint32_t kMostRequests = 512;            // recorded for each line of the block

class QuestionMaker : public grading::LaunchWatcher {
 public:
  explicit QuestionMaker(uint64_t seed) : seed_(seed) {}

  bool before(grading::Check& check, const grading::Launch& launch, device::Kernel&,
              device::LaunchOptions& options) override {
    mutants_.reset();
    recording_ = false;
    const uint64_t threads = launch.shape.grid.count() * launch.shape.block.count();
    if (threads < kWarpSize || threads > kMostThreads || check.trial.repeating()) return false;
    if (seen_[check.row.check + launch.kernel] >= kMostLaunches) return false;
    recording_ = true;
    random_ = Random(stream_of(seed_, check.row.check + launch.kernel + launch.setting));
    counters::DetailFilter filter;
    filter.file = check.session.source.display();
    filter.most = kMostRequests;
    // The last block has the edge of the data, so every third record is of it.
    const uint64_t blocks = launch.shape.grid.count();
    filter.block =
        random_.below(3) == 0 ? blocks - 1 : random_.below(static_cast<uint32_t>(blocks));
    options.launch_detail = filter_ = filter;
    if (mutated_.insert(launch.kernel).second) mutants_ = std::make_unique<Mutants>(check, launch);
    return true;
  }

  void after(grading::Check& check, const grading::Launch& launch, device::Kernel& kernel,
             const device::Run& run, device::SavedMemory* memory) override {
    if (!recording_ || !memory) return;
    if (!run.launch_detail || !is_worth_asking_about(*run.launch_detail)) {
      if (mutants_) mutated_.erase(launch.kernel);
      return;
    }
    ++seen_[check.row.check + launch.kernel];
    LaunchRecord record{
        check,
        launch,
        kernel.info(),
        run,
        {launch.kernel, launch.setting, check.session.source.display(), check.session.source,
         [&check](uint64_t address, uint32_t) { return grading::name_of_address(check, address); }},
        words_of_launch(check, launch, kernel.info()),
        random_,
        {}};
    compare_with_other_inputs(record, kernel, *memory);
    keep(trace_questions(record));
    keep(computed_questions(record));
    if (mutants_) keep(mutants_->questions(record, kernel, *memory));
  }

  std::vector<Question> questions;

 private:
  // A launch for very few elements asks nothing about a warp.
  static bool is_worth_asking_about(const counters::LaunchDetail& detail) {
    int lanes = 0;
    for (const LineDetail& line : detail.lines)
      for (const RequestDetail& request : line.requests)
        if (!line.shared) lanes += __builtin_popcount(request.mask);
    return lanes >= 2 * kWarpSize;
  }

  // Runs the launch with the elements of each input moved on, and finds what stays the same.
  void compare_with_other_inputs(LaunchRecord& record, device::Kernel& kernel,
                                 device::SavedMemory& before) const {
    device::Device& device = record.check.device();
    for (const grading::DeviceArray* array : record.check.arrays)
      if (array->read_only() && array->count() == 1) return;  // cannot be moved on
    const auto after = device.save();
    before.put_back();
    for (const grading::DeviceArray* array : record.check.arrays) {
      if (!array->read_only()) continue;
      std::vector<std::byte> bytes(array->buffer().bytes);
      device.download(bytes.data(), array->buffer(), bytes.size());
      const size_t by = array->element_bytes() * (array->count() / 2);
      std::rotate(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(by), bytes.end());
      device.upload(array->buffer(), bytes.data(), bytes.size());
    }
    device::LaunchOptions options;
    options.warp_budget = kMostInstructions;
    options.check_hazards = false;
    options.launch_detail = filter_;
    const device::Run run = device.launch(kernel, record.launch.shape, record.launch.args, options);
    after->put_back();
    if (run.fault || !run.launch_detail) return;
    const counters::LaunchDetail &one = record.detail(), &other = *run.launch_detail;
    for (const LineDetail& line : one.lines)
      for (const LineDetail& again : other.lines)
        if (line.line == again.line && line.shared == again.shared &&
            std::equal(line.requests.begin(), line.requests.end(), again.requests.begin(),
                       again.requests.end(), is_same))
          record.known_lines.insert({line.line, line.shared});
    record.same_shuffles = std::equal(
        one.shuffles.begin(), one.shuffles.end(), other.shuffles.begin(), other.shuffles.end(),
        [](const counters::ShuffleDetail& a, const counters::ShuffleDetail& b) {
          return a.line == b.line && a.mask == b.mask && a.from == b.from;
        });
  }

  static bool is_same(const RequestDetail& a, const RequestDetail& b) {
    return std::tie(a.warp, a.number, a.kind, a.mask, a.address) ==
           std::tie(b.warp, b.number, b.kind, b.mask, b.address);
  }

  void keep(std::vector<Question> made) {
    for (Question& question : made) questions.push_back(std::move(question));
  }

  uint64_t seed_;
  Random random_{0};
  bool recording_ = false;
  counters::DetailFilter filter_;
  std::map<std::string, unsigned> seen_;  // launches by check and kernel
  std::set<std::string> mutated_;         // kernels
  std::unique_ptr<Mutants> mutants_;
};

// The checks to grade: the named ones, or all that compare results.
std::vector<std::string> checks_of(const grading::Rubric& rubric, const std::string& check) {
  if (!check.empty()) return grading::checks_named(rubric, check);
  std::vector<std::string> names;
  for (const grading::RubricRow& row : rubric.rows())
    if (row.credit == grading::Credit::all && !row.asks() && !row.bonus) names.push_back(row.check);
  return names;
}

// The idea of a lab, from its rubric, and its place in the course.
struct LabIdea {
  std::string lab, idea;
  int64_t order = 0;
};

std::vector<LabIdea> ideas_in(const std::filesystem::path& rubrics) {
  std::vector<LabIdea> ideas;
  for (const std::string& lab : grading::known_labs()) {
    const std::filesystem::path file = rubrics / (lab + ".toml");
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    const toml::table table = read_toml(file);
    ideas.push_back({lab, table["idea"].value_or(std::string()),
                     table["order"].value_or(std::numeric_limits<int64_t>::max())});
  }
  return ideas;
}

// Names the earlier lab whose idea the question repeats, if there is one.
void name_earlier_lab(Question& question, const std::string& lab,
                      const std::vector<LabIdea>& ideas) {
  const auto own =
      std::find_if(ideas.begin(), ideas.end(), [&](const LabIdea& i) { return i.lab == lab; });
  for (const LabIdea& earlier : ideas)
    if (own != ideas.end() && earlier.order < own->order && earlier.idea == question.idea &&
        own->idea != question.idea)
      question.spaced = earlier.lab;
}

// Draws by weight, each subject at most once, and different kinds before a second one of a kind.
// One question of several repeats the idea of an earlier lab, if there is one.
std::vector<Question> choose(std::vector<Question> pool, size_t count, Random& random) {
  std::vector<Question> chosen;
  std::set<std::string> subjects;
  std::set<Kind> kinds;
  while (chosen.size() < count) {
    // The first is spaced, so that the following ones can be of other kinds.
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
    // First a subject, then one of its questions: a subject with many questions is not likelier.
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

std::string reason_for_none(const report::Lab& lab, const std::set<std::string>& passed) {
  if (lab.status == report::Status::error || lab.status == report::Status::not_graded)
    return lab.message;
  if (passed.empty())
    return fmt::format(
        "no check of {} has passed yet, and questions are asked about launches that "
        "are right",
        lab.name);
  return "the launches of this check give no good question: their answers are constants, or too "
         "long to work out on paper";
}

}  // namespace

Drawn draw(const AskOptions& options) {
  grading::GradeOptions grade = options.grade;
  const grading::LabFile file = grading::files_of(grade).at(0);
  const grading::Rubric rubric(grade.rubric.empty() ? grading::rubric_folder() : grade.rubric,
                               file.lab);
  const uint64_t seed = hash_of(options.id + "\n" + read_file(file.file).value_or(""));
  QuestionMaker maker(seed);
  grade.checks = checks_of(rubric, options.check);
  grade.device = "sim";
  grade.seed = seed & 0xffffffffffff;  // 48 bits, as in a grading without --seed
  grade.modelled_times = false;
  grade.watcher = &maker;
  const report::Result result = grading::grade(grade);
  const report::Lab& lab = result.labs.at(0);

  Drawn drawn{file.lab, file.file.string(), {}, ""};
  std::set<std::string> passed;
  std::string open;  // the first check with open questions of the lab
  for (const report::Test& test : lab.tests) {
    const auto row = std::find_if(rubric.rows().begin(), rubric.rows().end(),
                                  [&](const auto& r) { return r.check == test.name; });
    if (test.status == report::Status::passed)
      passed.insert(test.name);
    else if (row != rubric.rows().end() && row->asks() && open.empty())
      open = test.name;
  }
  if (!open.empty()) {
    drawn.why_none =
        fmt::format("they would answer the questions of `{}`; answer these first", open);
    return drawn;
  }
  const std::vector<LabIdea> ideas = ideas_in(rubric.folder());
  std::vector<Question> pool;
  for (Question& question : maker.questions) {
    const bool named = options.check.empty() || std::find(grade.checks.begin(), grade.checks.end(),
                                                          question.check) != grade.checks.end();
    if (!named || passed.count(question.check) == 0) continue;
    name_earlier_lab(question, file.lab, ideas);
    pool.push_back(std::move(question));
  }
  Random random(stream_of(seed, "choose"));
  drawn.questions = choose(std::move(pool), options.count, random);
  // The spaced one is asked last.
  if (!drawn.questions.empty())
    std::rotate(drawn.questions.begin(), drawn.questions.begin() + 1, drawn.questions.end());
  if (drawn.questions.empty()) drawn.why_none = reason_for_none(lab, passed);
  return drawn;
}

}  // namespace lab32::asking
