// ObserverNotifier: sends a block's events to those observers that want them. It converts each
// access to the form in which ptxas issues it (access_plan.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/memory/order_guard.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/launch_context.h"

namespace lab32::sim {

class ObserverNotifier {
 public:
  // `observers`: this host thread's own instances. `suspects`: the words whose accesses observers
  // want. null: they want none, except that an observer that replaces loaded values gets all but
  // plain loads.
  ObserverNotifier(const LaunchContext& launch, std::vector<Observer*> observers,
                   const PossibleRaceDetector* suspects);
  // Resets the state for the next block.
  void reset_for_next_block() { stored_ = {}; }

  const std::vector<Observer*>& observers() const { return observers_; }
  bool observes_accesses() const { return !access_observers_.empty(); }
  // Whether accesses must be reported: to observers, or to record which lanes stored before a
  // barrier.
  bool reports_accesses() const { return observes_accesses() || launch_.keep_going; }
  bool observes_shared_ptx_accesses() const { return !raw_observers_.empty(); }
  bool observes_shuffles() const { return !shuffle_observers_.empty(); }
  // Whether accesses to device memory are reported if they are strong or go to a suspect word.
  bool observes_order() const { return suspects_ != nullptr || chooser_ != nullptr; }
  bool replaces_loaded_values() const { return chooser_ != nullptr; }

  // An access by one instruction of a warp. `matrix`, `peer`: as in IssuedWarpAccess.
  struct WarpAccess {
    AccessSpace space;
    AccessKind kind;
    unsigned bytes;
    uint32_t mask;
    const uint64_t* address;
    bool matrix = false;
    const uint64_t* peer = nullptr;
  };
  // Reports an access in the way in which ptxas issues it.
  void access(uint32_t warp, const Inst& in, const WarpAccess& access);
  void texel_access(uint32_t warp, WarpTexelAccess access);
  void bulk_move(uint32_t warp, const ContiguousBulkMove& move);
  void shared_ptx_access(uint32_t warp, const PtxSharedAccessEvent& access) {
    for (Observer* o : raw_observers_) o->shared_ptx_access(warp, access);
  }
  void async_copy_begins(uint32_t warp, const PtxSharedAccessEvent& access) {
    for (Observer* o : raw_observers_) o->async_copy_begins(warp, access);
  }
  void async_copy_ends(uint32_t warp, const PtxSharedAccessEvent& access) {
    for (Observer* o : raw_observers_) o->async_copy_ends(warp, access);
  }
  // Reports an access to device memory whose order matters. Called before the access is carried
  // out.
  void strong_or_suspect_access(uint32_t warp, const Inst& in, AccessKind kind, unsigned bytes,
                                uint32_t mask, const uint64_t* address, const std::byte* values);
  // Lets the observer that replaces loaded values replace the values of a strong load.
  void replace_loaded_values(uint32_t warp, const Inst& in, unsigned bytes, uint32_t mask,
                             const uint64_t* address, std::byte* values);
  void fence(uint32_t warp, const Inst& in, uint32_t mask);
  void shuffle(uint32_t warp, const ShuffleEvent& shuffle);
  void copy_engine_event(uint32_t warp, const CopyEngineEvent& event);
  void warp_barrier(uint32_t warp, uint32_t mask);
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases, bool completes);
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase);

  // Sets the lanes whose current access is to another block's shared memory.
  void set_remote(uint32_t lanes) { remote_ = lanes; }
  // The lanes of a warp that have stored something since their last barrier, except to their own
  // local memory. note_stored() adds stores that are not reported as an IssuedWarpAccess.
  uint32_t& stored(uint32_t warp) { return stored_[warp]; }
  void note_stored(uint32_t warp, uint32_t mask) { stored_[warp] |= mask; }

 private:
  // Lanes that are reported together. `others`: lanes of the same access that are reported
  // separately. `remote`: the lanes access another block's memory.
  struct AccessLaneSubset {
    uint32_t mask, others;
    bool remote;
  };
  void report_lane_subset(uint32_t warp, const Inst& in, const WarpAccess& whole,
                          const AccessLaneSubset& part);

  const LaunchContext& launch_;
  std::vector<Observer*> observers_;
  std::vector<Observer*> access_observers_, raw_observers_, shuffle_observers_;
  Observer* chooser_ = nullptr;  // null: loads return the newest values
  const PossibleRaceDetector* suspects_;
  std::array<uint32_t, 32> stored_{};  // by warp
  uint32_t remote_ = 0;
};

}  // namespace lab32::sim
