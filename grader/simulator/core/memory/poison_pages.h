// Pages that hold poison when they are first touched: what allocates gigabytes need not wait until
// all of them are written, nor have room for those that nobody uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab32::sim {

inline constexpr unsigned char kPoison = 0xff;

class PoisonPages {
 public:
  static constexpr uint64_t kPiece = 2 << 20;

  PoisonPages() = default;
  // Fills whole pieces from `begin` on, a multiple of kPiece in a private mapping; what was there
  // is gone. Returns how many bytes of `bytes` there are now: none where this system cannot.
  uint64_t lay(std::byte* begin, uint64_t bytes);
  // All of that range is about to be written: pieces in it that still wait for their poison become
  // plain memory, whose large pages come faster.
  void will_write(const std::byte* begin, const std::byte* end);
  bool empty() const { return waits_.empty(); }

 private:
  std::byte* begin_ = nullptr;
  std::vector<bool> waits_;  // by piece
};

}  // namespace lab32::sim
