#include "grading/launch/counting.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "device/names.h"
#include "grading/engine/check.h"
#include "grading/launch/launch.h"

namespace lab32::grading {
namespace {

// The submission's line with the most traffic of the copy engine; 0: none.
int busiest_bulk_copy_line(Check& check, const device::LaunchResult& run) {
  int found = 0;
  uint64_t most = 0;
  for (const counters::LineCounters& line : run.lines) {
    const counters::TextureBulkRemoteTraffic& w = line.counters.other;
    const uint64_t copies = w.bulk_load.instructions + w.bulk_store.instructions + w.bulk_unknown;
    if (line.file != check.session.source.display() || copies <= most) continue;
    most = copies;
    found = line.line;
  }
  return found;
}

// What made the copy engine move the data. A student who writes cuda::memcpy_async need not know
// that it becomes a bulk copy if the size is known to be a multiple of 16 bytes.
std::string bulk_copy_origin_text(Check& check, const device::LaunchResult& run) {
  const std::string line = check.session.source.text_of(busiest_bulk_copy_line(check, run));
  return line.find("memcpy_async") == std::string::npos
             ? "has the copy engine move data (cp.async.bulk)"
             : "has the copy engine move data: memcpy_async becomes cp.async.bulk if its size is "
               "an aligned_size_t";
}

// How the kernel moved data other than by loads and stores of lanes; empty: it did not.
std::string uncounted_traffic_text(Check& check, const device::LaunchResult& run, Counted counted) {
  if (run.child_launches > 0) return "launches kernels";
  if (!run.counters) return {};
  const counters::TextureBulkRemoteTraffic& w = run.counters->other;
  if (w.bulk_load.instructions + w.bulk_store.instructions + w.bulk_unknown > 0)
    return bulk_copy_origin_text(check, run);
  if (w.texture.requests + w.surface_load.requests + w.surface_store.requests + w.texture_unknown >
      0)
    return "reads textures or surfaces";
  if (counted != Counted::global && w.remote_banks.requests > 0)
    return "reaches the shared memory of another block of its cluster";
  return {};
}

void add_bulk_traffic(counters::GlobalTraffic& global, counters::SharedTraffic& shared,
                      const counters::BulkTraffic& from) {
  global += {from.lines, from.sectors};
  shared.requests += from.lines;
  shared.wavefronts += from.lines;
  shared.ideal += from.lines;
  shared.lanes += 32 * from.lines;
}

// Adds the traffic of other units to that of loads and stores. Everything that reaches or leaves a
// multiprocessor counts, whichever unit asks for it. The copy engine counts line by line, as a
// warp's request of 4 bytes per lane. An access to another block's shared memory counts twice: it
// crosses the network that leads to L2, and it keeps banks busy.
counters::Counters include_other_units_traffic(counters::Counters c) {
  const counters::TextureBulkRemoteTraffic w = c.other;
  add_bulk_traffic(c.load, c.shared_store, w.bulk_load);
  add_bulk_traffic(c.store, c.shared_load, w.bulk_store);
  c.load_ideal += w.bulk_load.ideal;
  c.store_ideal += w.bulk_store.ideal;
  // For textures, surfaces and remote accesses no better pattern is known: their ideal is the
  // number of sectors that they touch.
  uint64_t sectors = 0;
  for (const counters::GlobalTraffic& load : {w.texture, w.surface_load, w.remote_load}) {
    c.load += load;
    c.load_ideal += load.sectors;
    sectors += load.sectors;
  }
  for (const counters::GlobalTraffic& store : {w.surface_store, w.remote_store}) {
    c.store += store;
    c.store_ideal += store.sectors;
    sectors += store.sectors;
  }
  c.atom += w.remote_atom;
  sectors += w.remote_atom.sectors;
  c.l2_sectors += sectors + w.bulk_load.sectors + w.bulk_store.sectors;
  c.l2_sectors_ideal += sectors + w.bulk_load.ideal + w.bulk_store.ideal;
  c.global_bytes += 32 * (sectors + w.bulk_load.ideal + w.bulk_store.ideal);
  c.shared_load.requests += w.remote_banks.requests;
  c.shared_load.lanes += w.remote_banks.lanes;
  c.shared_load.wavefronts += w.remote_banks.wavefronts;
  c.shared_load.ideal += w.remote_banks.ideal;
  return c;
}

void explain_uncertain_count(Check& check, const counters::Counters& most,
                             const counters::Counters& least, Counted counted) {
  const bool shared = counted == Counted::shared;
  const uint64_t high = shared ? most.shared_wavefronts() : most.global_sectors(),
                 low = shared ? least.shared_wavefronts() : least.global_sectors();
  if (low == high) return;
  check.uncertain_count = fmt::format(
      "ptxas has merged or moved accesses of this kernel, and the grader cannot follow all of "
      "them. They take at most {} {} and at least {}; the check counts the smaller number.",
      grouped_digits(high), shared ? "wavefronts" : "sectors", grouped_digits(low));
}

}  // namespace

void require_only_lane_accesses(Check& check, const device::LaunchResult& run) {
  const std::string what = uncounted_traffic_text(check, run, Counted::global);
  if (what.empty()) return;
  check.measured("not the lanes' own");
  check.fail_and_throw(
      CheckFailureReason{CheckFailureReason::Kind::uncountable}, busiest_bulk_copy_line(check, run),
      fmt::format("This kernel {}. The check counts the loads and stores of lanes only, so "
                  "data that moves in another way earns no points.",
                  what));
}

void require_countable(Check& check, const device::LaunchResult& run) {
  if (!run.has_uncounted_traffic()) return;
  check.measured("not countable");
  check.fail_and_throw(
      CheckFailureReason{CheckFailureReason::Kind::uncountable}, 0,
      fmt::format("This kernel {}, in a form whose cost on the hardware is not documented. "
                  "The grader cannot count it, so it earns no points. It can count loads "
                  "and stores of lanes.",
                  uncounted_traffic_text(check, run, Counted::everything)));
}

counters::Counters counters_of(Check& check, const device::LaunchResult& run, Counted counted) {
  if (!run.counters) {
    NotRunReason reason{NotRunReason::Kind::no_counters, check.device().name()};
    check.not_run(reason);
  }
  const counters::Counters& c = *run.counters;
  const bool global = counted != Counted::shared, shared = counted != Counted::global;
  require_countable(check, run);
  const bool uncertain = (global && c.global_ptx_level) || (shared && c.shared_ptx_level);
  if (!uncertain || !run.least) return include_other_units_traffic(c);
  counters::Counters least = include_other_units_traffic(*run.least);
  explain_uncertain_count(check, include_other_units_traffic(c), least, counted);
  return least;
}

// ---- needless work ----

namespace {

// The most instructions that are tried: more than an unrolled reduction of 1024 elements has.
constexpr size_t kMostTries = 200;

// The PTX instruction that clears a register, "mov.b32 %r7, 0;"; empty for a register of an unknown
// type.
std::string clear_register_instruction(const std::string& name) {
  static const RegularExpression numbered("^%(rs|rd|r|fd|f)[0-9]+$");
  const auto kind = numbered.match(name);
  if (!kind) return "";
  if (kind->at(1) == "rs") return "mov.b16 " + name + ", 0;";
  if (kind->at(1) == "rd") return "mov.b64 " + name + ", 0;";
  if (kind->at(1) == "f") return "mov.f32 " + name + ", 0f00000000;";
  if (kind->at(1) == "fd") return "mov.f64 " + name + ", 0d0000000000000000;";
  return "mov.b32 " + name + ", 0;";
}

// The instructions that replace a removed load: under the load's predicate, they set each of its
// registers to 0. nullopt: a register has an unknown type.
std::optional<std::string> clear_register_instructions(const std::string& predicate,
                                                       const std::string& names) {
  std::istringstream words(RegularExpression("[{},]").replace(names, " "));
  std::string text;
  for (std::string name; words >> name;) {
    const std::string move = clear_register_instruction(name);
    if (move.empty()) return std::nullopt;
    text += predicate + move + " ";
  }
  return text;
}

// The line of PTX without its instruction, if that is of the kind `work`; nullopt: it is not.
std::optional<std::string> ptx_line_with_instruction_removed(const std::string& line,
                                                             RemovableInstructions work) {
  static const RegularExpression store("^\\s*(@!?%p[0-9]+\\s+)?st(\\.[a-z]+)*\\.shared\\b[^;]*;$"),
      load(
          "^\\s*(@!?%p[0-9]+\\s+)?ld(\\.[a-z]+)*\\.shared\\b\\S*\\s+(\\{[^}]*\\}|%[a-z0-9]+)\\s*,"
          "[^;]*;$");
  if (work == RemovableInstructions::barriers)
    return is_ptx_block_barrier(line) ? std::optional("") : std::nullopt;
  if (store.match(line)) return "";
  if (const auto found = load.match(line))
    return clear_register_instructions(found->at(1), found->at(3));
  return std::nullopt;
}

std::optional<device::LaunchResult> try_edited_ptx(Check& check,
                                                   const std::vector<std::string>& lines,
                                                   const std::string& kernel,
                                                   const TryKernel& attempt) {
  toolchain::CompiledArtifact artifact;
  artifact.source = check.session.artifact->source;
  artifact.arch = check.session.artifact->arch;
  for (const std::string& line : lines) artifact.ptx += line + "\n";
  try {
    const std::unique_ptr<device::LoadedModule> module = check.device().load(artifact);
    device::Kernel* const found = module->find(kernel);
    return found ? attempt(*found) : std::nullopt;
  } catch (const MachineError&) {
    throw;
  } catch (const Error&) {  // without the instruction, the text is not valid PTX
    return std::nullopt;
  }
}

// Removes needless instructions from the end of the kernel to its beginning: a store is needless
// once the later load of its value is gone.
void remove_needless_instructions(Check& check, std::vector<std::string>& lines,
                                  const std::string& kernel, RemovableInstructions work,
                                  const TryKernel& attempt,
                                  std::optional<RunWithoutNeedlessWork>& found) {
  size_t tries = 0;
  for (auto line = lines.rbegin(); line != lines.rend() && tries < kMostTries; ++line) {
    const std::optional<std::string> without = ptx_line_with_instruction_removed(*line, work);
    if (!without) continue;
    ++tries;
    const std::string before = std::exchange(*line, *without);
    std::optional<device::LaunchResult> run = try_edited_ptx(check, lines, kernel, attempt);
    if (run)
      found = {found ? found->removed + 1 : 1, std::move(*run)};
    else
      *line = before;
  }
}

// The share of `count` parts without which a launch leaves something else, as `needs` says.
double share_of_needed_parts(uint32_t count, Random& random,
                             const std::function<bool(uint32_t part)>& needs) {
  constexpr uint32_t kTries = 3;
  std::vector<uint32_t> parts(count);
  std::iota(parts.begin(), parts.end(), 0u);
  uint32_t needed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i == kTries && needed == kTries) return 1;
    std::swap(parts[i], parts[i + random.below(count - i)]);
    needed += needs(parts[i]);
  }
  return static_cast<double>(needed) / count;
}

}  // namespace

std::optional<double> measure_needed_thread_share(Check& check, device::Kernel& kernel,
                                                  const Launch& launch,
                                                  device::SavedMemory& before) {
  Random random(seed_of_stream(check.session.setup.seed, launch.kernel + " needs"));
  const auto blocks = static_cast<uint32_t>(launch.shape.grid.count()),
             threads = static_cast<uint32_t>(launch.shape.block.count());
  const std::unique_ptr<device::SavedMemory> after = check.device().save();
  const auto runs = [&](const PartialBlockLaunch& part) {
    before.put_back();
    return !launch_without_verdict(check, kernel, launch, part).fault;
  };
  // A kernel with wide accesses may leave whole blocks of the given grid without work: of those
  // that are drawn, the first that leaves something in memory is judged.
  constexpr int kMostIdleBlocks = 20;
  constexpr uint32_t kAllLanes = ~0u;
  std::optional<double> share;
  for (int i = 0; i < kMostIdleBlocks && !share; ++i) {
    const uint64_t block = random.below(blocks);
    if (!runs({block})) break;
    const std::unique_ptr<device::SavedMemory> whole = check.device().save();
    const auto needs = [&](const PartialBlockLaunch& part) {
      return !runs(part) || !whole->same();
    };
    if (!needs({block, kAllLanes})) continue;
    const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize,
                   lanes = std::min<uint32_t>(threads, kWarpSize);
    share = share_of_needed_parts(warps, random,
                                  [&](uint32_t warp) {
                                    return needs({block, 0, static_cast<int>(warp)});
                                  }) *
            share_of_needed_parts(lanes, random, [&](uint32_t lane) {
              return needs({block, 1u << lane});
            });
  }
  after->put_back();
  return share;
}

std::vector<std::string> ptx_lines_without_other_kernels(const std::string& ptx,
                                                         const std::string& symbol) {
  std::vector<std::string> kept;
  bool other = false;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    const size_t entry = line[0] == '.' ? line.find(".entry ") : std::string::npos;
    if (entry != std::string::npos) {
      const size_t name = entry + 7;
      other = line.substr(name, line.find_first_of("( \t", name) - name) != symbol;
    }
    if (!other) kept.push_back(line);
    if (line == "}") other = false;
  }
  return kept;
}

bool is_ptx_block_barrier(const std::string& line) {
  static const RegularExpression barrier(
      "^\\s*(@!?%p[0-9]+\\s+)?(bar|barrier)(\\.cta)?\\.sync\\b[^;]*;$");
  return barrier.match(line).has_value();
}

std::optional<RunWithoutNeedlessWork> find_removable_instructions(Check& check,
                                                                  const std::string& kernel,
                                                                  RemovableInstructions work,
                                                                  const TryKernel& attempt) {
  GradingSession& s = check.session;
  if (!s.artifact) return std::nullopt;
  const std::vector<std::string> symbols = s.module.kernel_symbols();
  const auto symbol = device::find_kernel(symbols, kernel);
  if (!symbol) return std::nullopt;
  std::vector<std::string> lines =
      ptx_lines_without_other_kernels(s.artifact->ptx, symbols[*symbol]);
  std::optional<RunWithoutNeedlessWork> found;
  remove_needless_instructions(check, lines, kernel, RemovableInstructions::shared_accesses,
                               attempt, found);
  if (work == RemovableInstructions::barriers)
    remove_needless_instructions(check, lines, kernel, RemovableInstructions::barriers, attempt,
                                 found);
  return found;
}

}  // namespace lab32::grading
