#include "device/function_times.h"

namespace lab32::device {

std::vector<FunctionTimes> by_function(const sim::KernelProgram& program,
                                       const std::vector<sim::IssueTally>& tally) {
  std::vector<FunctionTimes> all;
  for (size_t site = 0; site < program.sites.size(); ++site) {
    if (site == 0 || program.sites[site].function != program.sites[site - 1].function)
      all.push_back({&program.functions[program.sites[site].function], site, {}});
    all.back().times.push_back(tally[site].warps);
  }
  return all;
}

}  // namespace lab32::device
