// Questions about the kernel without one of its barriers, which runs again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "asking/launch_record.h"
#include "base/error.h"
#include "base/text.h"
#include "device/names.h"
#include "grading/launch/counting.h"

namespace lab32::asking {
namespace {

using sim::AccessKind;
using LinePair = std::pair<int, int>;

// For each line of PTX, the source line by the last .loc before it; 0 if there is none.
std::vector<int> source_line_of_each_ptx_line(const std::vector<std::string>& ptx) {
  static const RegularExpression position("^\\s*\\.loc\\s+[0-9]+\\s+([0-9]+)\\s.*");
  std::vector<int> lines;
  int now = 0;
  for (const std::string& line : ptx) {
    const bool may_match = line.find(".loc") != std::string::npos;  // a search is cheaper
    if (const auto found = may_match ? position.match(line) : std::nullopt)
      now = std::stoi((*found)[1]);
    lines.push_back(now);
  }
  return lines;
}

std::string line_pair_text(const LinePair& pair) {
  return pair.first == pair.second ? fmt::format("line {} in two threads", pair.first)
                                   : fmt::format("line {} and line {}", pair.first, pair.second);
}

// The pairs of the submission's lines between which the run had a race.
std::map<LinePair, const counters::Finding*> races_by_line_pair(const device::LaunchResult& run,
                                                                const std::string& file) {
  std::map<LinePair, const counters::Finding*> races;
  if (!run.hazards) return races;
  for (const counters::Finding& f : *run.hazards)
    if (!f.note && f.kind == counters::Finding::Kind::race && f.file == file &&
        f.other_file == file && f.line > 0 && f.other_line > 0)
      races.emplace(std::minmax(f.line, f.other_line), &f);
  return races;
}

struct KernelWithoutBarrier {
  int line = 0;       // where the barrier stood
  size_t copies = 0;  // instructions of the barrier
  std::string ptx;
};

// Two lines that access shared memory and do not race without the barrier, and the reason.
struct RaceFreeLinePair {
  LinePair lines;
  std::string reason;
  unsigned rank = 0;  // the lower, the more a student may take it for a race
};

constexpr int64_t kSeveral = -1;

// The thread that accesses each unit of the memory, or kSeveral.
using ThreadOfUnit = std::unordered_map<uint64_t, int64_t>;
ThreadOfUnit threads_of_units(const LineDetail& line, uint32_t unit) {
  ThreadOfUnit threads;
  for (const RequestDetail& request : line.requests)
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
      for (uint32_t byte = 0; is_active(request, lane) && byte < request.bytes; byte += unit) {
        const int64_t thread = thread_of(request.warp, lane);
        const auto [at, added] = threads.emplace((request.address[lane] + byte) / unit, thread);
        if (!added && at->second != thread) at->second = kSeveral;
      }
  return threads;
}

// The reason why two lines do not race if one barrier is missing; "" if the record does not tell.
std::string why_race_free(const LineDetail& a, const LineDetail& b) {
  const auto all = [](const LineDetail& line, bool (*is)(AccessKind)) {
    return std::all_of(line.requests.begin(), line.requests.end(),
                       [&](const RequestDetail& request) { return is(request.kind); });
  };
  const auto reads = [](AccessKind kind) { return kind == AccessKind::load; };
  const auto is_atomic = [](AccessKind kind) {
    return kind != AccessKind::load && kind != AccessKind::store;
  };
  if (all(a, reads) && all(b, reads)) return "Both only read, and reads do not race.";
  if (all(a, is_atomic) && all(b, is_atomic))
    return "Both are atomic: the additions to one word are made one after the other, and none is "
           "lost.";
  if (a.requests.size() != a.requests_in_block || b.requests.size() != b.requests_in_block)
    return "";
  uint32_t unit = 4;
  for (const LineDetail* line : {&a, &b})
    for (const RequestDetail& request : line->requests) {
      if (request.matrix) return "";
      unit = std::min<uint32_t>(unit, request.bytes);
    }
  const ThreadOfUnit of_a = threads_of_units(a, unit), of_b = threads_of_units(b, unit);
  bool one_thread = false;
  for (const auto& [at, thread] : of_a) {
    const auto found = of_b.find(at);
    if (found == of_b.end()) continue;
    if (thread == kSeveral || thread != found->second)
      return "Another barrier orders these accesses.";
    one_thread = true;
  }
  return one_thread ? "Each word that both access is accessed by one thread only."
                    : "No word is accessed by both.";
}

// The pairs of lines that do not race, those that are most like a race first.
std::vector<RaceFreeLinePair> race_free_line_pairs(
    const LaunchQuestionInputs& record, int barrier,
    const std::map<LinePair, const counters::Finding*>& races) {
  std::vector<RaceFreeLinePair> pairs;
  const auto& lines = record.detail().lines;
  for (auto a = lines.begin(); a != lines.end(); ++a)
    for (auto b = a; b != lines.end(); ++b) {
      if (!a->shared || !b->shared || races.count({a->line, b->line}) > 0) continue;
      const std::string reason = why_race_free(*a, *b);
      const bool atomic = reason.find("atomic") != std::string::npos;
      const unsigned rank = a->line < barrier && barrier < b->line ? 0
                            : atomic                               ? 1
                            : a->line != b->line                   ? 2
                                                                   : 3;
      if (!reason.empty()) pairs.push_back({{a->line, b->line}, reason, rank});
    }
  record.random.shuffle(pairs);
  std::stable_sort(
      pairs.begin(), pairs.end(),
      [](const RaceFreeLinePair& x, const RaceFreeLinePair& y) { return x.rank < y.rank; });
  return pairs;
}

// Whether the launch executes the barrier that the run lacks, accesses memory after it, and does
// not need it, neither for the order of two lines nor for anything else.
bool is_barrier_superfluous(const LaunchQuestionInputs& record, const device::LaunchResult& run) {
  const counters::LaunchDetail& with = record.detail();
  return !run.fault && !grading::has_hazard_finding(run) && run.launch_detail && !with.more_steps &&
         run.launch_detail->steps.size() < with.steps.size();
}

std::optional<Question> barrier_question(const LaunchQuestionInputs& record,
                                         const KernelWithoutBarrier& mutant,
                                         const device::LaunchResult& run) {
  const auto races = races_by_line_pair(run, record.names.file);
  if (races.size() > 3 || (races.empty() && !is_barrier_superfluous(record, run)))
    return std::nullopt;
  std::vector<RaceFreeLinePair> others = race_free_line_pairs(record, mutant.line, races);
  // Lines with themselves look like no race, so that the answer would be guessed.
  if (others.empty() || others[0].rank > 2) return std::nullopt;
  others.resize(std::min<size_t>(others.size(), races.empty() ? 3 : 2));
  Question q = record.new_question(QuestionKind::why, "barrier", "barriers", mutant.line);
  q.text =
      "Suppose that this barrier were removed. Between which two accesses of this launch, by "
      "different threads, would there be a race?";
  if (mutant.copies > 1)
    q.text += fmt::format(
        " The compiler has made {} copies of the line, for calls or for rounds of "
        "a loop.",
        mutant.copies);
  std::vector<std::pair<std::string, std::string>> options;  // the text, and why it is wrong
  for (const RaceFreeLinePair& other : others)
    options.emplace_back(line_pair_text(other.lines), other.reason);
  if (!races.empty()) {
    const auto right =
        std::next(races.begin(), record.random.below(static_cast<uint32_t>(races.size())));
    options.emplace_back(line_pair_text(right->first), "");
    q.picture.race = pictures::race_of(*right->second, record.names);
  }
  record.random.shuffle(options);
  options.emplace_back(
      "none: this launch does not need the barrier",
      races.empty() ? ""
                    : "Warps reach their lines at different times. Which values does a thread "
                      "read after this barrier that another thread has written before it, or "
                      "the other way round?");
  for (size_t i = 0; i < options.size(); ++i) {
    q.options.push_back(options[i].first);
    if (options[i].second.empty()) q.answer = static_cast<int64_t>(i) + 1;
  }
  for (size_t i = 0; i < options.size(); ++i)
    add_wrong_answer(q, static_cast<int64_t>(i) + 1, options[i].second);
  q.reason =
      "Look for a word that one thread writes on one side of the barrier and another thread "
      "accesses on the other side.";
  q.weight = 5;
  return q;
}

// The kernel without one of its barriers, a random one; nullopt: it has none.
std::optional<KernelWithoutBarrier> kernel_without_one_barrier(const LaunchQuestionInputs& record) {
  const grading::GradingSession& s = record.check.session;
  if (!s.artifact || record.block().count() <= kWarpSize) return std::nullopt;
  const std::vector<std::string> symbols = s.module.kernel_symbols();
  const auto symbol = device::find_kernel(symbols, record.launch.kernel);
  if (!symbol) return std::nullopt;
  const std::vector<std::string> ptx =
      grading::ptx_lines_without_other_kernels(s.artifact->ptx, symbols[*symbol]);
  const std::vector<int> positions = source_line_of_each_ptx_line(ptx);
  std::vector<bool> is_barrier;
  std::set<int> lines;
  for (size_t i = 0; i < ptx.size(); ++i) {
    is_barrier.push_back(ptx[i].find("bar") != std::string::npos &&
                         grading::is_ptx_block_barrier(ptx[i]));
    if (is_barrier[i] && s.source.text_of(positions[i]).find("sync") != std::string::npos)
      lines.insert(positions[i]);
  }
  if (lines.empty()) return std::nullopt;
  KernelWithoutBarrier mutant{
      *std::next(lines.begin(), record.random.below(static_cast<uint32_t>(lines.size()))), 0, ""};
  for (size_t i = 0; i < ptx.size(); ++i)
    if (positions[i] == mutant.line && is_barrier[i])
      ++mutant.copies;
    else
      mutant.ptx += ptx[i] + "\n";
  return mutant;
}

// Loads the PTX `text` and runs its kernel; nullopt if it is not a valid program. The module is
// unloaded again, because a snapshot of the device's memory needs the allocations that existed when
// it was taken.
std::optional<device::LaunchResult> run_mutant_kernel(const LaunchQuestionInputs& record,
                                                      const std::string& text) {
  toolchain::CompiledArtifact artifact;
  artifact.source = record.check.session.artifact->source;
  artifact.arch = record.check.session.artifact->arch;
  artifact.ptx = text;
  device::LaunchOptions options;
  options.warp_budget = kMostOfChangedRun;  // without its barrier, a kernel may loop for ever
  options.keep_going = true;
  options.count = false;
  options.launch_detail.emplace();
  options.launch_detail->file = record.names.file;
  options.launch_detail->block = record.detail().block;
  options.launch_detail->most = 1;
  try {
    const auto module = record.check.device().load(artifact);
    device::Kernel* const kernel = module->find(record.launch.kernel);
    if (!kernel) return std::nullopt;
    return record.check.device().launch(*kernel, record.launch.shape, record.launch.args, options);
  } catch (const MachineError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Question> mutant_questions(const LaunchQuestionInputs& record,
                                       device::SavedMemory& before) {
  std::vector<Question> questions;
  const auto after = record.check.device().save();
  if (const auto mutant = kernel_without_one_barrier(record)) {
    before.put_back();
    if (const auto run = run_mutant_kernel(record, mutant->ptx))
      if (auto question = barrier_question(record, *mutant, *run))
        questions.push_back(std::move(*question));
  }
  after->put_back();
  return questions;
}

}  // namespace lab32::asking
