// Launches a student's kernel in a check. run() checks the launch for faults, races and changed
// inputs, and each problem becomes the verdict of the check. run_to_count() skips these checks for
// kernels that are known to be right.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/grid.h"
#include "device/device.h"
#include "grading/engine/check.h"

namespace lab32::grading {

struct Launch {
  std::string kernel;  // "scale", "reduce_v6<256>"
  device::LaunchShape shape;
  std::vector<device::KernelArgument> args;
  std::string setting;  // what tells this launch from others: "n = 33"
  device::LaunchOptions::Model model = device::LaunchOptions::Model::none;
  // Whether a check of results repeats this launch in another order of blocks and warps.
  bool try_other_order = true;
  // The launch is of a given kernel, but a function of the submission decides which addresses it
  // accesses: pictures show these accesses.
  bool pictures_of_given = false;
  // Pictures may show this launch. If false, they show only a fault that ended it: the launch reads
  // the grader's tables, or another check shows the same kernel.
  bool in_pictures = true;
};

// Sees each launch of the submission's kernels whose result a check has accepted so far.
class LaunchHooks {
 public:
  virtual ~LaunchHooks() = default;
  // Before the launch. May ask `options` for more records. Returns whether after_clean_launch()
  // wants the memory as it is now.
  virtual bool wants_snapshot_before_launch(Check& check, const Launch& launch,
                                            device::Kernel& kernel,
                                            device::LaunchOptions& options) = 0;
  // After the launch, which has neither a fault nor a hazard. `memory`: null unless
  // wants_snapshot_before_launch() wanted it. Launches of its own must leave the memory as it was.
  virtual void after_clean_launch(Check& check, const Launch& launch, device::Kernel& kernel,
                                  const device::LaunchResult& run, device::SavedMemory* memory) = 0;
};

struct LaunchShapeRule {
  uint32_t block = 0;
  uint32_t items_per_thread = 0;
  uint32_t blocks_per_sm = 0;  // 0: no limit
  uint32_t dynamic_shared = 0;

  // ceil(n / (block * items_per_thread)) blocks, but at least one, and at most blocks_per_sm for
  // each of a device's multiprocessors.
  device::LaunchShape shape(uint64_t n, uint32_t multiprocessors) const;
};

// The bytes of a record that the submission has defined by a macro of lab32.cuh, as they are before
// anything runs; nullopt: there is none. Loses the check if it is no __constant__ variable, which a
// kernel could change.
std::optional<std::vector<std::byte>> read_constant_of_submission(Check& check,
                                                                  device::LoadedModule& module,
                                                                  const std::string& symbol);

// The fields of a LAB32_LAUNCH record, besides .block and .items_per_thread, that a task leaves
// free.
struct LaunchFieldsLeftToStudent {
  bool blocks_per_sm = true, dynamic_shared = true;
};

// The LAB32_LAUNCH record of `kernel`, a name without template arguments. items_per_thread defaults
// to 1. If the file has no such record, or an invalid one, the check is lost and the message says
// what to write.
LaunchShapeRule launch_config(Check& check, const std::string& kernel,
                              LaunchFieldsLeftToStudent free = {});
LaunchShapeRule launch_config(Check& check, const std::string& kernel, device::LoadedModule& module,
                              LaunchFieldsLeftToStudent free = {});

// LAB32_TILE: the tile of a matrix that a block moves, and the threads of a block.
struct TileConfig {
  uint32_t rows = 0, columns = 0, threads = 0;

  // The launch for n rows of m columns.
  device::LaunchShape shape(uint32_t n, uint32_t m) const;
};
// As launch_config(), for the kernel's LAB32_TILE record.
TileConfig tile_config(Check& check, const std::string& kernel, device::LoadedModule& module);

// Launches the kernel. The check is lost if the module has no such kernel, if the kernel faults, if
// it changes an input, or if it has a race or another hazard.
device::LaunchResult run(Check& check, const Launch& launch);

// Launches a kernel only for its counters or its modelled time, without looking for races,
// uninitialised values or changed inputs. For kernels that are known to be right: a given kernel
// that calls no function of the submission, or a kernel that other checks have checked.
device::LaunchResult run_to_count(Check& check, const Launch& launch);

// Launches the kernel in a module that is loaded afresh, so that no earlier launch has changed its
// `__device__` variables. Gives no verdict. Returns whether the launch ended without a fault.
bool is_faultless_in_fresh_module(Check& check, const Launch& launch);

// Launches a kernel of another module than the session's, and gives no verdict. `most`: how many
// instructions a warp may issue.
device::LaunchResult launch_without_verdict(Check& check, device::Kernel& kernel,
                                            const device::LaunchShape& shape,
                                            const std::vector<device::KernelArgument>& args,
                                            uint64_t most = device::LaunchOptions().warp_budget);
// Launches a part of one block, for what it leaves in memory.
device::LaunchResult launch_without_verdict(Check& check, device::Kernel& kernel,
                                            const Launch& launch, const PartialBlockLaunch& part);
// Whether the launch has a race or another hazard.
bool has_hazard_finding(const device::LaunchResult& run);

// Ends the check if it is repeated because of one launch in another order (ScheduleTrial) and
// that launch was right this time, too. For checks that check each launch before they make the next
// one.
void end_if_repetition_done(Check& check);

constexpr uint32_t ceil_div(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

// Blocks for n items, at least one: CUDA cannot launch an empty grid.
inline uint32_t blocks_for(uint64_t n, uint32_t per_block) {
  return n == 0 ? 1 : ceil_div(n, per_block);
}

// Loses the check if a kernel's parameters have changed in a way that would make a launch use a
// number as an address, or an output as an input. Compares the types, so it cannot detect two
// parameters of the same type that have changed places. `setting`: the launch's, for the failure.
void check_parameters(Check& check, const device::KernelInfo& kernel,
                      const std::vector<device::KernelArgument>& args, const std::string& setting);

// A launch of `kernel` that several checks use. The first check that asks for `key` calls `make`,
// which launches the kernel and checks its result; later checks get the same run. They still ask
// the module for the kernel, so that tools know that they depend on it
// (tools/mutants/reused_checks.h). A check that is repeated in another order of blocks
// (ScheduleTrial) makes its own launch.
std::shared_ptr<const device::LaunchResult> reused_launch(
    Check& check, const std::string& key, const std::string& kernel,
    const std::function<device::LaunchResult()>& make);

}  // namespace lab32::grading
