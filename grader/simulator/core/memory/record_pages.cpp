#include "simulator/core/memory/record_pages.h"

#include <cstring>

namespace lab32::sim {

RecordPages::RecordPages(uint64_t count)
    : range_(count * 8, "the records of the race check"),
      records_(reinterpret_cast<uint64_t*>(range_.begin())),
      present_(count / (kPage * kPagesOfPiece) + 1) {}

void RecordPages::fetch(uint64_t page) {
  const uint64_t piece = page / kPagesOfPiece;
  if (!present_[piece]) {
    present_[piece] = std::make_unique<Present>();
    pieces_.push_back(piece);
    PagePool::of_process().take(records_ + piece * kPagesOfPiece * kPage);
  }
  (*present_[piece])[page % kPagesOfPiece] = 1;
  // Also where the system would: a page that is read first is its page of zeros, and to replace it
  // later costs every core a flush of its address translations.
  std::memset(records_ + page * kPage, 0, 4096);
}

void RecordPages::clear() {
  for (const uint64_t piece : pieces_) {
    PagePool::of_process().give(records_ + piece * kPagesOfPiece * kPage);
    present_[piece].reset();
  }
  pieces_.clear();
}

}  // namespace lab32::sim
