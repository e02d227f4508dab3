// Launching a student's kernel: what goes wrong in it becomes the verdict of the check.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/grid.h"
#include "device/device.h"
#include "grading/engine/check.h"

namespace lab32::grading {

struct Launch {
  std::string kernel;  // "scale", "reduce_v6<256>"
  device::Shape shape;
  std::vector<device::Arg> args;
  std::string setting;  // what distinguishes this launch of several: "n = 33"
  device::LaunchOptions::Model model = device::LaunchOptions::Model::none;
  bool other_order = true;  // of blocks and warps: tried, too, where the check is one of results
  // A function of the submission's says where a given kernel's accesses lie: they are drawn.
  bool draws_given = false;
  // Else only what ended it is: what it reads are the grader's tables, for functions that answer,
  // or another check draws its kernel.
  bool drawn = true;
};

struct LaunchConfig {
  uint32_t block = 0;
  uint32_t items_per_thread = 0;
  uint32_t blocks_per_sm = 0;  // 0: no limit
  uint32_t dynamic_shared = 0;

  // ceil(n / (block * items_per_thread)) blocks, one at least, and at most blocks_per_sm for each
  // of a device's multiprocessors.
  device::Shape shape(uint64_t n, uint32_t multiprocessors) const;
};

// The record of `kernel`, a base name. Loses the check, and says what to write, when the file has
// none, or when no launch could be made of it. items_per_thread left out is 1.
LaunchConfig launch_config(Check& check, const std::string& kernel);
LaunchConfig launch_config(Check& check, const std::string& kernel, device::LoadedModule& module);

// Runs it. The check is lost, with the reason, when the module has no such kernel, when the kernel
// faults, when it changes what it may only read, and when it holds a race or another hazard.
device::Run run(Check& check, const Launch& launch);

// A launch of which only counts or time are wanted, since nothing is wrong with its kernel: a given
// one that calls nothing of the submission's, or one that other checks have judged. Races, values
// that nobody wrote and inputs that it changes are not looked for.
device::Run run_to_count(Check& check, const Launch& launch);

// A launch in the submission as it was loaded, without verdicts: no earlier launch has left
// anything in its `__device__` variables. False where the kernel does not end well, or is not
// there.
bool run_afresh(Check& check, const Launch& launch);

// For a check that judges each launch before it makes the next one: ends it where it has been run
// again only for a launch in another order of blocks and warps, which was right now, too.
void end_if_judged(Check& check);

constexpr uint32_t ceil_div(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

// Blocks for n items, one at least: a grid of none cannot be launched.
inline uint32_t blocks_for(uint64_t n, uint32_t per_block) {
  return n == 0 ? 1 : ceil_div(n, per_block);
}

// Ends the check where parameters are no longer as given: by the name of each, before a launch
// reads a number as an address or the output as the input. What C++ cannot tell apart passes.
// `setting`: of the launch, as in its failure.
void check_parameters(Check& check, const device::KernelInfo& kernel,
                      const std::vector<device::Arg>& args, const std::string& setting);

// The run of `kernel` that `make` launches, and whose result `make` judges. The first check that
// asks for `key` makes it; each later one has asked the module for the kernel all the same, so that
// it counts as one that depends on it (tools/mutants/reused_checks.h). A check that is judged by
// another order of blocks (schedule_trial.h) makes its own.
std::shared_ptr<const device::Run> shared_launch(Check& check, const std::string& key,
                                                 const std::string& kernel,
                                                 const std::function<device::Run()>& make);

}  // namespace lab32::grading
