#include "grading/launch/shared_memory.h"

#include <fmt/core.h>

#include <vector>

#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"

namespace lab32::grading {
namespace {

constexpr uint64_t kBanks = 32, kBankBytes = 4;

std::string banks_of(const device::WorstAccess& access) {
  std::vector<int> active;
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) active.push_back(lane);
  std::string text;
  for (size_t i = 0; i < active.size(); ++i) {
    const bool last = i + 1 == active.size();
    if (i >= 3 && !last) continue;
    if (i > 0) text += i >= 3 && active.size() > 4 ? ", ..., " : ", ";
    const uint64_t word = access.address[active[i]] / kBankBytes;
    text += fmt::format("lane {} bank {} (word {})", active[i], word % kBanks, word);
  }
  return text;
}

}  // namespace

Waste worst_shared(const device::Run& run) {
  const std::string& own = session().source.display();
  Waste waste;
  uint64_t most = 0;
  const counters::Counters* counted = nullptr;
  for (const counters::LineCounters& line : run.lines) {
    const uint64_t excess = line.counters.shared_wavefronts() - line.counters.shared_ideal();
    if (line.file != own || excess <= most) continue;
    most = excess;
    waste.line = line.line;
    counted = &line.counters;
  }
  const device::WorstAccess* worst = nullptr;
  for (const device::WorstAccess& access : run.worst) {
    if (access.file != own || access.line != waste.line || !access.shared) continue;
    if (!worst || uint64_t{access.cost} * worst->ideal > uint64_t{worst->cost} * access.ideal)
      worst = &access;
  }
  if (counted && worst)
    waste.message = unless_withheld(fmt::format(
        "Warp {} of block {}: the {} of {} lane{}, {} byte{} each, take {} wavefronts where {} "
        "would "
        "do: {}.",
        worst->warp, worst->block, plural_of(*worst), __builtin_popcount(worst->mask),
        __builtin_popcount(worst->mask) == 1 ? "" : "s", worst->bytes, worst->bytes == 1 ? "" : "s",
        worst->cost, worst->ideal, banks_of(*worst)));
  return waste;
}

namespace {

// Who leaves shared memory has no conflicts there. That is as good only where it costs nothing in
// device memory: each access there moves as few sectors as its bytes need, and none is an atomic.
bool does_well_without(const counters::Counters& c) {
  return c.red.requests + c.atom.requests == 0 && c.load.sectors <= c.load_ideal &&
         c.store.sectors <= c.store_ideal;
}

[[noreturn]] void lose_for_leaving(const counters::Counters& c, uint64_t wavefronts, double ideal) {
  Failure failure{Failure::Kind::other_version};
  failure.measured = static_cast<double>(wavefronts);
  failure.expected = ideal;
  lose(failure, 0,
       fmt::format("{} wavefronts are fewer than the task takes in shared memory: what leaves it "
                   "has to do as well without. In device memory {} sectors were moved for accesses "
                   "that fit into {}, and {} requests were atomics.",
                   grouped(wavefronts), grouped(c.load.sectors + c.store.sectors),
                   grouped(c.load_ideal + c.store_ideal),
                   grouped(c.red.requests + c.atom.requests)));
}

}  // namespace

void credit_wavefronts(const device::Run& run, double ideal, const std::string& idea,
                       const LineToShow& line_to_show) {
  expected(grouped(static_cast<uint64_t>(ideal)) + " wavefronts");
  const counters::Counters& c = counters_of(run, Counted::shared);
  const uint64_t wavefronts = c.shared_wavefronts();
  const bool told = session().withheld.empty() || static_cast<double>(wavefronts) <= ideal;
  if (told) {
    measured(grouped(wavefronts) + " wavefronts");
    figure("wavefronts", static_cast<double>(wavefronts));
    figure("conflicts", static_cast<double>(wavefronts - c.shared_ideal()));
  } else {
    withhold_count(session().withheld);
  }
  figure("shared_requests", static_cast<double>(c.shared_requests()));
  figure("ideal_wavefronts", ideal);
  if (static_cast<double>(wavefronts) < ideal && !does_well_without(c))
    lose_for_leaving(c, wavefronts, ideal);
  credit_work(run);
  credit(ideal, static_cast<double>(wavefronts));
  if (static_cast<double>(wavefronts) <= ideal) return;
  const Waste waste = worst_shared(run);
  explain(line_to_show ? line_to_show(waste.line) : waste.line,
          waste.message.empty()
              ? fmt::format("No access has a bank conflict, but {} wavefronts are more "
                            "than the task needs.",
                            grouped(wavefronts))
              : waste.message);
  explain(0, idea);
}

void hold_wavefronts(const std::string& where, double limit, const device::Run& run) {
  hold_elsewhere(where, "wavefronts", limit, counters_of(run, Counted::shared).shared_wavefronts(),
                 worst_shared(run));
}

void limit_shared(const std::string& kernel, double bytes) {
  const device::Kernel* found = session().module.find(kernel);
  if (!found) return;  // its launch will say so
  const uint32_t taken = found->info().static_shared;
  figure("shared_bytes", taken);
  figure("shared_limit", bytes);
  if (taken <= bytes) return;
  measured(grouped(taken) + " bytes");
  expected("at most " + grouped(static_cast<uint64_t>(bytes)));
  Failure failure{Failure::Kind::shared_memory, "", kernel};
  failure.measured = taken;
  failure.expected = bytes;
  lose(failure, line_of(kernel.substr(0, kernel.find('<'))));
}

}  // namespace lab32::grading
