// Lines of device memory as they were, to be put back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/core/memory/page_pool.h"

namespace lab32::sim {

class UndoLog {
 public:
  static constexpr uint64_t kLine = 256;  // bytes. A scattered store keeps one line.

  // Room for the next add(). Returns the bytes of memory that it takes up for that: mostly 0.
  size_t make_room() { return count_ % kLines == 0 ? next_piece() : 0; }
  // `all_written`: all its bytes were written before, so that no bit of them needs to come back.
  void add(uint64_t line, const Memory& memory, bool all_written);
  void put_back(Memory& memory) const;
  void clear() { count_ = 0; }
  // Empty, and of the memory that it has taken up only about so much stays its own.
  void trim(size_t bytes);

 private:
  static constexpr size_t kLines = 64;
  struct Piece {
    alignas(64) std::byte data[kLines][kLine];
    uint8_t written[kLines][kLine / 8];
    uint64_t line[kLines];
    bool all_written[kLines];
  };
  // Short logs take a piece at a time; long ones as many as fit a large page of the host's.
  static constexpr size_t kFewPieces = 8, kPiecesOfPage = PagePool::kPiece / sizeof(Piece);
  size_t next_piece();
  void take_page();

  size_t count_ = 0;            // lines
  std::vector<Piece*> pieces_;  // the few, and then those of each page
  std::vector<std::unique_ptr<Piece>> few_;
  std::vector<std::unique_ptr<PagePool::Range>> pages_;
};

}  // namespace lab32::sim
