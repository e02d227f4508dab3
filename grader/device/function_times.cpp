#include "device/function_times.h"

namespace lab32::device {

std::vector<FunctionTimes> by_function(const sim::KernelProgram& program,
                                       const std::vector<sim::IssueTally>& tally,
                                       const counters::TrafficObserver& traffic) {
  std::vector<FunctionTimes> all;
  for (size_t site = 0; site < program.sites.size(); ++site) {
    if (site == 0 || program.sites[site].function != program.sites[site - 1].function)
      all.push_back({&program.functions[program.sites[site].function], site, {}, {}});
    all.back().times.push_back(tally[site].warps);
    uint64_t rounds = 0;
    for (const sim::IssuedAccess& issue : program.plans[site].issues)
      if (issue.lanes == sim::IssuedAccess::Lanes::spin)
        rounds = traffic.of_site(static_cast<uint32_t>(site)).shared_atom.requests;
    all.back().rounds.push_back(rounds);
  }
  return all;
}

double runs(const sass::EmittedBlock& block, const FunctionTimes& f) {
  const double entered = sass::runs(block, f.times);
  if (block.spins < 0) return entered;
  const auto at = static_cast<size_t>(block.spins);
  // Not reconciled: how many there are is not known.
  if (f.rounds[at] == 0 || f.times[at] == 0) return entered;
  return entered * static_cast<double>(f.rounds[at]) / static_cast<double>(f.times[at]);
}

}  // namespace lab32::device
