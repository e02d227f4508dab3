// The storage of undefined bits: which bits of registers and memory are undefined, and which reads
// they come from. definedness.h propagates them through instructions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// The origins of undefined values. A fault then names the read that returned the value and not only
// the instruction that used it.

// A read of memory that was never written, or of absent lanes by a shuffle; the facts are those of
// the first such read.
struct UndefinedOrigin {
  uint32_t site;
  TrapFacts facts;
  // True: a neighbouring word was written (in the same eight aligned bytes), so the word that was
  // read may be the padding of a structure.
  bool beside_written = false;
};

// The origins of undefined values in one block. All reads by one instruction share the facts of its
// first read.
class UndefinedOrigins {
 public:
  using Id = uint16_t;

  void clear() {
    list_.clear();
    reads_.clear();
    of_site_.clear();
    joined_.clear();
    stored_.clear();
  }
  template <class Facts>
  Id origin_id_of_read(uint32_t site, bool beside_written, Facts facts) {
    const auto [at, is_new] =
        of_site_.try_emplace({site, beside_written}, static_cast<Id>(reads_.size()));
    if (is_new) {
      reads_.push_back({static_cast<uint32_t>(list_.size())});
      list_.push_back({site, facts(), beside_written});
    }
    return at->second;
  }
  // The id of a value that is computed from values with the origins a and b. It has at most kMost
  // origins; further ones are dropped.
  Id join_origins(Id a, Id b) {
    if (a == b || reads_[a].size() >= kMost) return a;
    const auto [at, is_new] =
        joined_.try_emplace(std::minmax(a, b), static_cast<Id>(reads_.size()));
    if (is_new) {
      std::vector<uint32_t> both = reads_[a];
      for (uint32_t read : reads_[b])
        if (std::find(both.begin(), both.end(), read) == both.end()) both.push_back(read);
      reads_.push_back(std::move(both));
    }
    return at->second;
  }
  template <class F>
  void for_each_origin(Id id, F f) const {
    for (uint32_t read : reads_[id]) f(list_[read]);
  }

  // Records the origin of an undefined value that was stored to memory word number `word`.
  void note_store(uint64_t word, Id id) { stored_[word] = id; }
  std::optional<Id> origin_id_of_store(uint64_t word) const {
    const auto at = stored_.find(word);
    return at == stored_.end() ? std::nullopt : std::optional(at->second);
  }
  static uint64_t shared_word(uint64_t offset) { return offset >> 2; }
  static uint64_t local_word_key(uint32_t warp, int lane, uint64_t offset) {
    return (uint64_t{1} << 63) | uint64_t{warp} << 40 | static_cast<uint64_t>(lane) << 32 |
           offset >> 2;
  }

 private:
  static constexpr size_t kMost = 4;
  std::vector<UndefinedOrigin> list_;
  std::vector<std::vector<uint32_t>> reads_;  // by Id: indices into list_
  std::map<std::pair<Id, Id>, Id> joined_;
  std::map<std::pair<uint32_t, bool>, Id> of_site_;
  std::unordered_map<uint64_t, Id> stored_;
};

// ---------------------------------------------------------------------------------------------

struct CallFrame;

// The undefined bits of the registers and parameters of one activation. They have the layout of the
// registers and parameters themselves.
struct FrameUndefinedBits {
  FrameUndefinedBits(size_t register_bytes, size_t param_bytes);
  std::vector<std::byte> registers, params;
  // For each register or parameter (by offset) that has undefined bits: the origin of these bits in
  // each lane.
  using OfLanes = std::array<UndefinedOrigins::Id, kWarpSize>;
  std::unordered_map<uint32_t, OfLanes> origin;
  std::map<uint32_t, OfLanes> param_origin;
};

class UndefinedValueTracker {
 public:
  virtual ~UndefinedValueTracker() = default;
  // Executes the instruction for these lanes and propagates undefined bits.
  virtual void execute_and_propagate(CallFrame& frame, uint32_t mask, const Inst& in) = 0;
  // Called before the warp's loop executes an instruction that changes control flow or waits.
  virtual void check_control_flow_operands(CallFrame& frame, uint32_t mask, const Inst& in) = 0;
  // Called when the guard disables the instruction for all lanes in `mask`.
  virtual void execute_guarded_off(CallFrame& frame, uint32_t mask, const Inst& in) = 0;
  // Called when a load has found undefined bytes in these lanes. Returns the ExecContext with which
  // to write their undefined bits.
  virtual ExecContext shadow_context_of_undefined_load(
      const ExecContext& x, const Inst& in, uint32_t lanes,
      const FrameUndefinedBits::OfLanes& origin) = 0;
};

// ---------------------------------------------------------------------------------------------

// The undefined bits of a block's shared memory or a warp's local memory: one byte for each byte of
// memory, with the undefined bits set. The entry for address a of lane l is at a + l * stride.
class UndefinedBitsOfMemory {
 public:
  bool is_tracked() const { return !bits_.empty(); }
  // From now on the bits are kept in the caller's storage, and the caller resets them.
  void use_external_storage(std::byte* place) {
    external_ = place;
    left_ = kNotCounted;
  }
  // Marks the first `bytes` of `size` as undefined and the rest as defined.
  void mark_first_undefined(size_t bytes, size_t size);
  // The undefined bits, for callers that set them directly. The number of undefined bytes is not
  // counted from then on.
  std::byte* data() {
    left_ = kNotCounted;
    return storage();
  }

  // True if all bytes are known to be defined because the count of undefined bytes is 0.
  bool none() const { return left_ == 0; }
  // The lanes of `mask` for which any of the `bytes` bytes at their address has an undefined bit.
  uint32_t lanes_with_undefined_bytes(const uint64_t* address, size_t stride, uint32_t mask,
                                      unsigned bytes) const;
  void mark_defined(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes);
  // For one contiguous range.
  bool any_undefined(uint64_t first, size_t bytes) const;
  void mark_defined(uint64_t first, size_t bytes);

 private:
  static constexpr size_t kNotCounted = ~size_t{0};

  std::byte* storage() { return external_ != nullptr ? external_ : bits_.data(); }
  const std::byte* storage() const { return external_ != nullptr ? external_ : bits_.data(); }

  std::vector<std::byte> bits_;
  std::byte* external_ = nullptr;
  size_t left_ = kNotCounted;  // bytes with undefined bits
};

}  // namespace lab32::sim
