// Questions about a change of the kernel or of its launch, which runs again: without one of its
// barriers, or in blocks of another size.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
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

constexpr uint64_t kMostOfMutant = 2'000'000;  // instructions of a warp

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
  return pair.first == pair.second ? fmt::format("line {} with itself", pair.first)
                                   : fmt::format("lines {} and {}", pair.first, pair.second);
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

// {a line that accesses shared memory: whether it stores}.
std::map<int, bool> shared_memory_lines(const counters::LaunchDetail& detail) {
  std::map<int, bool> lines;
  for (const LineDetail& line : detail.lines) {
    if (!line.shared) continue;
    for (const RequestDetail& request : line.requests)
      lines[line.line] |= request.kind != AccessKind::load;
  }
  return lines;
}

std::optional<Question> barrier_question(const LaunchRecord& record, int barrier,
                                         const device::LaunchResult& run) {
  const auto races = races_by_line_pair(run, record.names.file);
  if (races.empty() || races.size() > 3) return std::nullopt;
  auto right = races.begin();
  std::advance(right, record.random.below(static_cast<uint32_t>(races.size())));
  std::vector<std::pair<LinePair, std::string>> others;
  const std::map<int, bool> lines = shared_memory_lines(record.detail());
  for (auto a = lines.begin(); a != lines.end(); ++a)
    for (auto b = a; b != lines.end(); ++b)
      if (races.count({a->first, b->first}) == 0)
        others.push_back({{a->first, b->first},
                          a->second || b->second ? "Between these two, no two threads access the "
                                                   "same word without another barrier, "
                                                   "or the same thread does both."
                                                 : "Both only read, and reads do not race."});
  record.random.shuffle(others);
  if (others.size() > 2) others.resize(2);
  Question q = record.new_question(QuestionKind::why, "barrier", "barriers", barrier);
  q.text = "Without this barrier, which two lines race?";
  std::vector<std::pair<std::string, std::string>> options = {{line_pair_text(right->first), ""}};
  for (const auto& [pair, why] : others) options.push_back({line_pair_text(pair), why});
  record.random.shuffle(options);
  options.push_back({"no two lines: the kernel stays correct",
                     "Warps reach their lines at different times. Which values does a thread read "
                     "behind this barrier that another thread has written in front of it, or the "
                     "other way round?"});
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
  q.picture.race = pictures::race_of(*right->second, record.names);
  return q;
}

// The cost of each line in the recorded block, without lines whose accesses are too many to be
// worked out on paper.
std::map<std::pair<int, bool>, uint64_t> cost_of_each_line(const counters::LaunchDetail& detail) {
  constexpr size_t kMostOnPaper = 32;
  std::map<std::pair<int, bool>, uint64_t> costs;
  for (const LineDetail& line : detail.lines) {
    if (line.requests_in_block > kMostOnPaper || line.ptx_level) continue;
    uint64_t& cost = costs[{line.line, line.shared}];
    for (const RequestDetail& request : line.requests) cost += request.cost;
  }
  return costs;
}

pictures::PicturedAccess access_with_all_requests(const LaunchRecord& record,
                                                  const LineDetail& line) {
  pictures::PicturedAccess access = pictures::access_of(line, line.requests.at(0), record.names);
  for (size_t i = 1; i < line.requests.size(); ++i)
    access.requests.push_back(
        pictures::access_of(line, line.requests[i], record.names).requests[0]);
  access.worst = line.worst;
  return access;
}

// A shape with as many threads in blocks of another size; nullopt if the recorded block has no
// counterpart in it.
std::optional<device::LaunchShape> shape_with_other_block_size(const device::LaunchShape& shape,
                                                               uint64_t block) {
  const bool line =
      shape.grid.y == 1 && shape.grid.z == 1 && shape.block.y == 1 && shape.block.z == 1;
  const uint32_t other = shape.block.x == 64 ? 128 : 64;
  const uint64_t threads = uint64_t{shape.grid.x} * shape.block.x;
  if (!line || shape.block.x < 64 || threads % other != 0 || block >= threads / other)
    return std::nullopt;
  device::LaunchShape changed = shape;
  changed.block = {other};
  changed.grid = {static_cast<uint32_t>(threads / other)};
  return changed;
}

// Questions about what the lines of a block cost if the block has another number of threads.
std::vector<Question> block_size_questions(const LaunchRecord& record,
                                           const counters::LaunchDetail& other,
                                           const device::LaunchShape& shape) {
  std::vector<Question> questions;
  constexpr uint64_t kMostCost = 64;
  const auto before = cost_of_each_line(record.detail()), after = cost_of_each_line(other);
  const uint32_t now = record.block().x, threads = shape.block.x;
  for (const auto& [line, cost] : after) {
    const auto known = before.find(line);
    if (known == before.end() || record.known_lines.count(line) == 0 || cost == 0 ||
        cost > kMostCost)
      continue;
    const uint64_t was = known->second, in_proportion = was * threads / now;
    if (cost == was || cost == in_proportion) continue;
    const char* const unit = line.second ? "wavefronts" : "sectors";
    Question q = record.new_question(QuestionKind::what_if, "block size",
                                     line.second ? "banks" : "sectors", line.first);
    q.answer = static_cast<int64_t>(cost);
    q.text = fmt::format(
        "With {} blocks of {} threads instead of {} of {}, how many {} does this line take in all "
        "in "
        "block {}?",
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
        q.picture.accesses = {access_with_all_requests(record, l)};
    questions.push_back(std::move(q));
  }
  return questions;
}

struct KernelWithoutBarrier {
  int line = 0;  // of the barrier that it lacks
  std::string ptx;
};

// The kernel without one of its barriers, a random one; nullopt: it has none.
std::optional<KernelWithoutBarrier> kernel_without_one_barrier(const LaunchRecord& record) {
  const grading::GradingSession& s = record.check.session;
  if (!s.artifact || record.block().count() <= kWarpSize) return std::nullopt;
  const std::vector<std::string> symbols = s.module.kernel_symbols();
  const auto symbol = device::find_kernel(symbols, record.launch.kernel);
  if (!symbol) return std::nullopt;
  const std::vector<std::string> ptx =
      grading::ptx_without_other_kernels(s.artifact->ptx, symbols[*symbol]);
  const std::vector<int> positions = source_line_of_each_ptx_line(ptx);
  std::vector<bool> is_barrier;
  std::set<int> lines;
  for (size_t i = 0; i < ptx.size(); ++i) {
    is_barrier.push_back(ptx[i].find("bar") != std::string::npos &&
                         grading::is_block_barrier(ptx[i]));
    if (is_barrier[i] && s.source.text_of(positions[i]).find("sync") != std::string::npos)
      lines.insert(positions[i]);
  }
  if (lines.empty()) return std::nullopt;
  KernelWithoutBarrier mutant{
      *std::next(lines.begin(), record.random.below(static_cast<uint32_t>(lines.size()))), ""};
  for (size_t i = 0; i < ptx.size(); ++i)
    if (positions[i] != mutant.line || !is_barrier[i]) mutant.ptx += ptx[i] + "\n";
  return mutant;
}

// Loads the PTX `text` and runs its kernel; nullopt if it is not a valid program. The module is
// unloaded again, because a snapshot of the device's memory needs the allocations that existed when
// it was taken.
std::optional<device::LaunchResult> run_mutant_kernel(const LaunchRecord& record,
                                                      const std::string& text) {
  toolchain::CompiledArtifact artifact;
  artifact.source = record.check.session.artifact->source;
  artifact.arch = record.check.session.artifact->arch;
  artifact.ptx = text;
  device::LaunchOptions options;
  options.warp_budget = kMostOfMutant;  // without its barrier, a kernel may loop for ever
  options.keep_going = true;
  options.count = false;
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

std::vector<Question> mutant_questions(const LaunchRecord& record, device::Kernel& kernel,
                                       device::SavedMemory& before) {
  std::vector<Question> questions;
  device::Device& device = record.check.device();
  const auto after = device.save();
  if (const auto mutant = kernel_without_one_barrier(record)) {
    before.put_back();
    if (const auto run = run_mutant_kernel(record, mutant->ptx))
      if (auto question = barrier_question(record, mutant->line, *run))
        questions.push_back(std::move(*question));
  }
  if (auto shape = shape_with_other_block_size(record.launch.shape, record.detail().block)) {
    before.put_back();
    device::LaunchOptions options;
    options.warp_budget = kMostOfMutant;
    options.launch_detail.emplace();
    options.launch_detail->file = record.names.file;
    options.launch_detail->block = record.detail().block;
    options.launch_detail->most = 512;
    const device::LaunchResult run = device.launch(kernel, *shape, record.launch.args, options);
    // Nothing is asked if the result differs, as in a kernel that is written for one size of block.
    if (!run.fault && run.launch_detail && !grading::has_hazard_finding(run) && after->same())
      for (Question& question : block_size_questions(record, *run.launch_detail, *shape))
        questions.push_back(std::move(question));
  }
  after->put_back();
  return questions;
}

}  // namespace lab32::asking
