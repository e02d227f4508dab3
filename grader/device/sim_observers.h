// The observers of one launch on the simulator, and the LaunchResult that is made of their results.
// Construct it, pass all() to sim::run_grid(), then call collect_results() once.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/names.h"
#include "simulator/core/schedule/launch.h"
#include "simulator/observers/caches/caches.h"
#include "simulator/observers/races/cluster_and_engine_checks.h"
#include "simulator/observers/races/global_races.h"
#include "simulator/observers/races/hazards.h"
#include "simulator/observers/races/stale_values.h"
#include "simulator/observers/traffic/launch_detail.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/sass/emitted.h"
#include "simulator/timing/profile.h"

namespace lab32::device {

class LaunchObservers {
 public:
  // Observes traffic and hazards if `options` ask for them. All arguments must outlive this object.
  LaunchObservers(const sim::LaunchContext& launch, const LaunchOptions& options,
                  ElementNames& places);

  // Also models caches and time on that GPU; `profile` and `emitted` must outlive this object. `l2`
  // is the state that earlier launches have left; without it L2 is empty.
  void observe_for_time_model(const model::DeviceProfile& profile,
                              const model::Occupancy& occupancy,
                              const sass::SassBlocksByFunction& emitted,
                              std::optional<counters::L2> l2);

  // The argument for sim::run_grid().
  const std::vector<sim::Observer*>& all() const { return all_; }

  // Call it once, after the launch.
  LaunchResult collect_results(sim::LaunchOutcome outcome);
  // After collect_results(): the state of L2 that the launch has left; nullopt if it faulted or was
  // not modelled.
  std::optional<counters::L2> take_l2() { return std::move(l2_); }

 private:
  KernelFault fault_of(const sim::Trap& trap);
  counters::LaunchDetail launch_detail();
  std::vector<counters::Finding> findings();
  void add_predicted_time(const sim::LaunchOutcome& outcome, LaunchResult& run);
  void add_modelled_cycles(const sim::LaunchOutcome& outcome, model::LaunchWorkCounts& work);
  void add_worst_accesses_by_site(const sim::LaunchOutcome& outcome, LaunchResult& run) const;

  const sim::LaunchContext& launch_;
  const LaunchOptions& options_;
  const sim::KernelProgram& program_;
  ElementNames& places_;
  counters::PositionOf position_;
  counters::TrafficObserver traffic_;
  counters::SharedMemoryHazardObserver hazards_;
  counters::GlobalMemoryRaceObserver races_;
  counters::BulkCopyRaceCheck engine_use_;
  std::optional<counters::StaleGlobalValueInjector> stale_;
  std::optional<counters::CacheReplayObserver> caches_;
  std::optional<counters::CasLoopContentionObserver> spins_;
  std::optional<counters::DetailObserver> launch_detail_;
  const model::DeviceProfile* profile_ = nullptr;  // null: time is not modelled
  const sass::SassBlocksByFunction* emitted_ = nullptr;
  model::Occupancy occupancy_;
  std::optional<counters::L2> l2_;
  std::vector<sim::Observer*> all_;
};

}  // namespace lab32::device
