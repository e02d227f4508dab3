// What the warps of a block share, as they and their instructions see it: the launch, shared
// memory, and the way of every access to memory and to the observers. Block (schedule/block.h)
// derives from it and runs the warps; a warp is known here by its index only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/core/memory/order_guard.h"
#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/cluster_context.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/launch_context.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {

class Warp;

class BlockContext {
 public:
  const LaunchContext& launch() const { return launch_; }
  const BlockInfo& info() const { return info_; }
  // Null: the block is alone.
  ClusterContext* cluster() { return cluster_; }
  // Where its own memory lies among its cluster's.
  uint64_t shared_base() const { return shared_base_; }
  // Other host threads may run blocks of this launch at the same time.
  bool guarded() const { return guard_ != nullptr; }
  bool parallel() const { return launch_.apart || (guard_ != nullptr && guard_->at_once()); }
  std::vector<IssueTally>& tally() { return tally_; }
  // By the site of its first instruction: how often a whole run (Inst::run) was issued. They are
  // not in tally() before settle_runs().
  struct RunTally {
    uint64_t warps = 0, lanes = 0;
  };
  std::vector<RunTally>& runs() { return runs_; }
  void settle_runs();
  // How often the instruction was issued so far, in runs or not.
  uint64_t issued_at(uint32_t site) const;
  // The first bad access of memory that did not end the launch.
  const std::optional<Trap>& first_bad_access() const { return first_bad_access_; }
  const std::optional<OddAmount>& odd_amount() const { return odd_amount_; }
  void note_odd_amount(uint32_t site, bool shuffle, uint32_t amount, uint32_t limit) {
    if (!odd_amount_) odd_amount_ = {info_.index, site, shuffle, amount, limit};
  }
  // Instructions that a warp of the block may issue.
  uint64_t warp_budget() const { return warp_budget_; }
  // printf output of the block run last; handed over once.
  std::string take_output() { return std::move(output_); }
  void print(const std::string& text);
  // More than the launch keeps is there already.
  bool prints_no_more() const;
  // Nobody will read what its next blocks print.
  void mute() { muted_ = true; }
  // Local memory that its warps hold in this process.
  uint64_t local_bytes() const { return local_bytes_; }
  // A warp is about to hold so much more. Throws Trap.
  void take_local(uint32_t warp, uint64_t more, bool in_call);
  // What is known of any fault of a warp, and of a lane of it.
  ThreadId thread_id(uint32_t warp, int lane) const;
  TrapFacts facts(TrapReason reason, uint32_t warp) const;
  TrapFacts facts(TrapReason reason, uint32_t warp, int lane) const;

  // --- accesses ---
  // In a launch that keeps going, bad accesses go to so many bytes of each lane's own.
  static constexpr uint64_t kSinkBytes = 16;
  // Of all blocks of the cluster, if it is in one.
  std::byte* shared() { return shared_data_; }
  uint32_t shared_bytes() const { return launch_.shared_bytes; }
  bool observes_accesses() const { return !access_observers_.empty(); }
  // Accesses are reported: to observers, or since barriers are asked who stored before them.
  bool reports_accesses() const { return observes_accesses() || launch_.keep_going; }
  bool observes_raw_shared() const { return !raw_observers_.empty(); }
  bool observes_shuffles() const { return !shuffle_observers_.empty(); }
  // Accesses to device memory are told, where they touch a suspect word or are strong.
  bool observes_order() const { return suspects_ != nullptr; }
  // What nothing has written is followed, and a fault where it matters.
  bool checks_reads() const { return checks_reads_; }
  // A whole program's launch, which is not checked: it goes on where a GPU goes on.
  bool as_on_a_gpu() const { return !checks_reads_; }
  // To shared memory, under way.
  BulkCopies& bulk_copies() { return cluster_ != nullptr ? cluster_->bulk_copies() : bulk_copies_; }
  UndefinedBytes& undefined_shared() { return undefined_shared_; }
  // The undefined bits of so many bytes; null: the block's shared memory has them not.
  std::byte* undefined_shared(uint64_t offset, unsigned bytes) {
    return is_shared(offset, bytes) ? undefined_shared_.data() + offset : nullptr;
  }
  Origins& origins() { return origins_; }
  // The lanes whose last read of device memory found bytes that nothing has written.
  uint32_t take_unwritten() { return std::exchange(unwritten_, 0); }
  TrapFacts facts_of_unwritten(uint32_t warp, int lane, AccessSpace space, uint64_t at,
                               unsigned bytes) const;
  void value_matters(const Origin& origin, ValueUse use, uint32_t lanes);

  // Checks a warp's accesses to device memory (addresses of the lanes in mask, `bytes` each) and
  // returns the pointer to add them to. Traps name the first lane that is wrong; in a launch that
  // keeps going, `address` of such a lane is sent to 16 bytes of its own instead. `operation` is
  // the kind of an update (0: none, or one that does not commute).
  using Use = AccessUse;
  std::byte* global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t mask, unsigned bytes,
                    Use use, uint8_t operation = 0);
  void check_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                    Use use);
  // The same for a whole warp: null: something is not as usual, and nothing has been done.
  std::byte* global_row(uint32_t warp, const Inst& in, const WarpRow& row, unsigned bytes, Use use);
  // Of lanes whose first and last address these are; right, and in this block's own memory.
  bool is_shared_row(uint64_t first, uint64_t last, unsigned bytes) const {
    const uint64_t size = launch_.shared_bytes;
    return cluster_ == nullptr && first <= last && last <= size && last + bytes <= size &&
           (first & (bytes - 1)) == 0;
  }
  TrapFacts facts_of_access(uint32_t warp, int lane, AccessSpace space, Use use,
                            unsigned bytes) const;
  // Traps, or tells the observers; `facts(lane)` says what is wrong with it.
  void raise(uint32_t site, uint32_t lanes, FaultEvent::Kind kind,
             const std::function<TrapFacts(int)>& facts);

  // --- observers ---
  // Reports an access the way ptxas issues it.
  void report(uint32_t warp, const Inst& in, AccessSpace space, AccessKind kind, unsigned bytes,
              uint32_t mask, const uint64_t* address, bool matrix = false,
              const uint64_t* peer = nullptr);
  void report_texels(uint32_t warp, TexelAccess access);
  void report_bulk(uint32_t warp, const BulkMove& move);
  // Lanes that stored in a way that is no Access.
  void note_stored(uint32_t warp, uint32_t mask) { stored_[warp] |= mask; }
  void report_raw_shared(uint32_t warp, const Inst& in, AccessKind kind, unsigned bytes,
                         uint32_t mask, const uint64_t* offset, const std::byte* values,
                         const WarpRow* row = nullptr);
  // The same for a whole warp's load from a row.
  void report_raw_load(uint32_t warp, const Inst& in, unsigned bytes, const WarpRow& row) {
    const RawAccess load{
        in.site, AccessKind::load, static_cast<uint8_t>(bytes), kFullMask, nullptr, nullptr, &row};
    for (Observer* o : raw_observers_) o->raw_shared(warp, load);
  }
  // Before the access is carried out.
  void report_ordered(uint32_t warp, const Inst& in, AccessKind kind, unsigned bytes, uint32_t mask,
                      const uint64_t* address, const std::byte* values);
  void report_fence(uint32_t warp, const Inst& in, uint32_t mask);
  void report_bad_warp_op(uint32_t warp, const Inst& in, uint32_t mask, uint32_t bad);
  void report_shuffle(uint32_t warp, const ShuffleEvent& shuffle);
  void report_engine(uint32_t warp, const EngineEvent& event);
  void report_warp_barrier(uint32_t warp, uint32_t mask);
  void report_mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void report_mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);
  void report_cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                             bool completes);
  void report_cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase);
  void own_lane_not_named(uint32_t warp, const Inst& in, uint32_t lanes, uint32_t member_mask);

  // --- what the block does about it; rare ---
  // Block barriers: the warp's current split arrives, and waits until the barrier is complete.
  struct Arrival {
    uint32_t barrier = 0;
    uint32_t threads = 0;  // 0: all threads that have not exited
    bool wait = true;      // false: bar.arrive
    enum class Reduce : uint8_t { none, popc, all, any } reduce = Reduce::none;
    uint32_t predicate = 0;  // lane mask
    const Inst* inst = nullptr;
  };
  virtual void arrive(Warp& warp, uint32_t mask, std::byte* regs, const Arrival& arrival) = 0;
  virtual void threads_exited() = 0;

 protected:
  // `observers`: this host thread's own instances. `guard`: null where nothing is to be guarded.
  // `suspects`: words whose accesses observers want; null: none. `cluster`: null: the block is
  // alone.
  BlockContext(const LaunchContext& launch, std::vector<Observer*> observers,
               OrderGuard::Worker* guard, const TouchMap* suspects, ClusterContext* cluster,
               uint32_t rank);
  ~BlockContext() = default;
  void start(uint64_t index);

  const LaunchContext& launch_;
  std::vector<Observer*> observers_;
  BlockInfo info_{};
  std::array<uint32_t, 32> stored_{};  // by warp: lanes that stored since their last barrier
  uint32_t epoch_ = 0;                 // barriers that the whole block has passed
  uint64_t warp_budget_ = 0;

 private:
  void report_lanes(uint32_t warp, const Inst& in, AccessSpace space, AccessKind kind,
                    unsigned bytes, uint32_t mask, const uint64_t* address, bool matrix,
                    const uint64_t* peer, uint32_t others, bool remote);

  uint64_t local_bytes_ = 0;
  bool muted_ = false;
  // --- access_faults.cpp: what is wrong with an access, and what then ---
  // `meant`: the array that the instruction's other lanes, or its earlier accesses, are in.
  TrapFacts facts_of_global(uint32_t warp, int lane, uint64_t address, unsigned bytes, Use use,
                            const Allocation* meant) const;
  TrapFacts facts_of_shared(uint32_t warp, int lane, uint64_t offset, unsigned bytes,
                            Use use) const;
  void bad_global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t lanes, unsigned bytes,
                  Use use, const Allocation* meant);
  void unwritten_global(uint32_t warp, const Inst& in, const uint64_t* address, uint32_t lanes,
                        unsigned bytes);
  void bad_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                  Use use);
  void check_cluster_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                            unsigned bytes, Use use);
  // What is wrong with one lane's access; nothing: it is right.
  std::optional<TrapReason> wrong_in_cluster(const Inst& in, uint64_t address,
                                             unsigned bytes) const;
  bool is_shared(uint64_t address, unsigned bytes) const {
    if (cluster_ == nullptr) return address + bytes <= launch_.shared_bytes;
    return rank_of(address) < cluster_->blocks() &&
           offset_in_block(address) + bytes <= launch_.shared_bytes;
  }
  // Where bad accesses of shared memory go in a launch that keeps going: behind it, a piece per
  // lane.
  uint64_t shared_sink() const {
    return shared_base_ + (launch_.shared_bytes + kSinkBytes) / kSinkBytes * kSinkBytes;
  }

  std::vector<Observer*> access_observers_, raw_observers_, shuffle_observers_;
  OrderGuard::Worker* guard_;
  const TouchMap* suspects_;
  const bool checks_reads_;
  ClusterContext* const cluster_;
  const uint64_t shared_base_;
  std::vector<std::byte> shared_;  // of a block that is alone
  std::byte* shared_data_;
  BulkCopies bulk_copies_;
  uint32_t remote_ = 0;  // lanes whose last access of shared memory is to another block's
  UndefinedBytes undefined_shared_;
  Origins origins_;
  uint32_t unwritten_ = 0;
  std::vector<IssueTally> tally_;
  std::vector<RunTally> runs_;
  std::string output_;
  struct Recent {
    uint32_t site = 0;
    Allocation* allocation = nullptr;
  };
  std::array<Recent, 64> recent_{};  // by site: the allocation used last
  // In a launch that keeps going:
  std::vector<uint8_t> told_;  // by site: the kinds of FaultEvent told, a bit each
  std::optional<Trap> first_bad_access_;
  std::optional<OddAmount> odd_amount_;
};

}  // namespace lab32::sim
