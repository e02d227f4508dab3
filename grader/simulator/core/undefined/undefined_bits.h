// Which bits of registers and memory nothing has defined, and which reads they come from;
// definedness.h follows them.
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

// Where values that nobody has defined come from, so that a fault names the read and not only the
// place where it mattered.

// A read of what nobody has written, by its first lane.
struct UndefinedOrigin {
  uint32_t site;
  TrapFacts facts;
};

// Those of one block. Of the reads of one instruction the first stands for all.
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
  Id of_read(uint32_t site, Facts facts) {
    const auto [at, is_new] = of_site_.try_emplace(site, static_cast<Id>(reads_.size()));
    if (is_new) {
      reads_.push_back({static_cast<uint32_t>(list_.size())});
      list_.push_back({site, facts()});
    }
    return at->second;
  }
  // Of a value that was computed from both. More than a few say no more.
  Id join(Id a, Id b) {
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
  void each(Id id, F f) const {
    for (uint32_t read : reads_[id]) f(list_[read]);
  }

  // Memory to which an undefined value was stored, by a number of the word.
  void note_store(uint64_t word, Id id) { stored_[word] = id; }
  std::optional<Id> of_store(uint64_t word) const {
    const auto at = stored_.find(word);
    return at == stored_.end() ? std::nullopt : std::optional(at->second);
  }
  static uint64_t shared_word(uint64_t offset) { return offset >> 2; }
  static uint64_t local_word(uint32_t warp, int lane, uint64_t offset) {
    return (uint64_t{1} << 63) | uint64_t{warp} << 40 | static_cast<uint64_t>(lane) << 32 |
           offset >> 2;
  }

 private:
  static constexpr size_t kMost = 4;
  std::vector<UndefinedOrigin> list_;
  std::vector<std::vector<uint32_t>> reads_;  // by Id: places in the list
  std::map<std::pair<Id, Id>, Id> joined_;
  std::unordered_map<uint32_t, Id> of_site_;
  std::unordered_map<uint64_t, Id> stored_;
};

// ---------------------------------------------------------------------------------------------
// What a warp keeps and asks of where values are undefined; definedness.h follows them.

struct Frame;

// Of one activation: the undefined bits of its registers and parameters, laid out as these are.
struct UndefinedBits {
  UndefinedBits(size_t register_bytes, size_t param_bytes);
  std::vector<std::byte> registers, params;
  // By the offset of a register, of a parameter: of each lane that has undefined bits there.
  using OfLanes = std::array<UndefinedOrigins::Id, kWarpSize>;
  std::unordered_map<uint32_t, OfLanes> origin;
  std::map<uint32_t, OfLanes> param_origin;
};

class ValueTracker {
 public:
  virtual ~ValueTracker() = default;
  // Does what the instruction does for these lanes, and follows what is undefined.
  virtual void execute(Frame& frame, uint32_t mask, const Inst& in) = 0;
  // Before the warp's loop acts upon an instruction that says where lanes go, or who waits.
  virtual void decide(Frame& frame, uint32_t mask, const Inst& in) = 0;
  // The guard let none of the lanes in `mask` execute it.
  virtual void skip(Frame& frame, uint32_t mask, const Inst& in) = 0;
  // A load has found undefined bytes of these lanes: what to write their bits with.
  virtual Exec loaded(const Exec& x, const Inst& in, uint32_t lanes,
                      const UndefinedBits::OfLanes& origin) = 0;
};

// ---------------------------------------------------------------------------------------------
// Which bits of a block's shared memory, or of a warp's local memory, nobody has given a value.

// A byte for each byte of memory, with the undefined bits set. Lane l's place of address a is
// a + l * stride.
class UndefinedBytes {
 public:
  bool is_tracked() const { return !bits_.empty(); }
  // From now on they lie there, and the caller resets them.
  void use_storage(std::byte* place) {
    external_ = place;
    left_ = kNotCounted;
  }
  // The first `bytes` of `size` are undefined from now on, what lies behind them is not.
  void reset(size_t bytes, size_t size);
  // For who sets bits himself.
  std::byte* data() {
    left_ = kNotCounted;
    return storage();
  }

  // All is defined: that much is known without a look at them.
  bool none() const { return left_ == 0; }
  // The lanes of `mask` of whose `bytes` some bit is undefined.
  uint32_t lanes(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes) const;
  void define(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes);
  // The same for one piece of memory.
  bool any(uint64_t first, size_t bytes) const;
  void define(uint64_t first, size_t bytes);

 private:
  static constexpr size_t kNotCounted = ~size_t{0};

  std::byte* storage() { return external_ != nullptr ? external_ : bits_.data(); }
  const std::byte* storage() const { return external_ != nullptr ? external_ : bits_.data(); }

  std::vector<std::byte> bits_;
  std::byte* external_ = nullptr;
  size_t left_ = kNotCounted;  // bytes with undefined bits
};

}  // namespace lab32::sim
