// A long array of 8-byte records of which few are used: address space only, whose pages come, and
// are zero, when they are brought.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/memory/page_pool.h"

namespace lab32::sim {

class RecordPages {
 public:
  // Throws Error where there is no address space for so many.
  explicit RecordPages(uint64_t count);
  ~RecordPages() { clear(); }
  RecordPages(const RecordPages&) = delete;
  RecordPages& operator=(const RecordPages&) = delete;

  // Before a record of this page is looked at for the first time since clear().
  static constexpr uint64_t kPage = 4096 / 8;  // records
  void bring(uint64_t page) {
    const Present* piece = present_[page / kPagesOfPiece].get();
    if (piece == nullptr || (*piece)[page % kPagesOfPiece] == 0) fetch(page);
  }
  uint64_t& operator[](uint64_t record) const { return records_[record]; }
  uint64_t* at(uint64_t record) const { return records_ + record; }
  void clear();

 private:
  static constexpr uint64_t kPagesOfPiece = PagePool::kPiece / 4096;
  using Present = std::array<uint8_t, kPagesOfPiece>;
  void fetch(uint64_t page);

  PagePool::Range range_;
  uint64_t* records_;
  // By piece that holds pages: those that were brought.
  std::vector<std::unique_ptr<Present>> present_;
  std::vector<uint64_t> pieces_;  // those that are not null
};

}  // namespace lab32::sim
