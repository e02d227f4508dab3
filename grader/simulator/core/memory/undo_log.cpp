#include "simulator/core/memory/undo_log.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace lab32::sim {

size_t UndoLog::next_piece() {
  if (count_ == pieces_.size() * kLines) {
    if (few_.size() < kFewPieces) {
      few_.emplace_back(new Piece);
      pieces_.push_back(few_.back().get());
    } else {
      take_page();
    }
  }
  return sizeof(Piece);
}

void UndoLog::take_page() {
  pages_.push_back(std::make_unique<PagePool::Range>(PagePool::kPiece, "a launch's rollback"));
  std::byte* const page = pages_.back()->begin();
  madvise(page, PagePool::kPiece, MADV_HUGEPAGE);
  auto* const first = reinterpret_cast<Piece*>(page);
  for (size_t i = 0; i < kPiecesOfPage; ++i) pieces_.push_back(first + i);
}

void UndoLog::add(uint64_t line, const Memory& memory, bool all_written) {
  Piece& piece = *pieces_[count_ / kLines];
  const size_t at = count_++ % kLines;
  piece.line[at] = line;
  piece.all_written[at] = all_written;
  const std::byte* const data = memory.host(kGlobalBase + line * kLine);
  // Most kernels go on with the lines behind it. A store need not wait for them, but who keeps them
  // must; and no harm is done if there are none.
  constexpr uint64_t kAhead = 2 * kLine, kCacheLine = 64;
  for (uint64_t i = 0; i < kLine; i += kCacheLine) __builtin_prefetch(data + kAhead + i, 1);
  std::memcpy(piece.data[at], data, kLine);
  if (!all_written)
    std::memcpy(piece.written[at], memory.written_bits() + line * kLine / 8, kLine / 8);
}

void UndoLog::put_back(Memory& memory) const {
  for (size_t i = 0; i < count_; ++i) {
    const Piece& piece = *pieces_[i / kLines];
    const size_t at = i % kLines;
    const uint64_t line = piece.line[at];
    std::memcpy(memory.host(kGlobalBase + line * kLine), piece.data[at], kLine);
    if (!piece.all_written[at])
      std::memcpy(memory.written_bits() + line * kLine / 8, piece.written[at], kLine / 8);
  }
}

void UndoLog::trim(size_t bytes) {
  clear();
  pages_.resize(std::min(pages_.size(), bytes / PagePool::kPiece));
  pieces_.resize(std::min(pieces_.size(), few_.size() + pages_.size() * kPiecesOfPage));
}

}  // namespace lab32::sim
