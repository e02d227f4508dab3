// Pages of host memory: PagePool keeps them from one launch to the next, SparseRecordArray makes
// sparse arrays of records of them, and LazilyPoisonedPages fills them with poison on first access.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace lab32::sim {

// Host memory that the process reuses, in pieces of 2 MiB. A launch allocates and frees arrays of
// tens of MB, and twice as much for the records of the race check, each at new addresses. Letting
// the system clear every page, fault by fault, took a sixth of a grading run, and a third on
// virtual machines that get their own memory by faults. Instead a piece is remapped: its pages
// leave one address range and enter another with their contents.

class PagePool {
 public:
  static constexpr uint64_t kPiece = 2 << 20;
  static constexpr uint64_t kKept = 256 << 20;  // bytes that are kept at most

  static PagePool& process_wide();

  // Maps a pooled piece at `at`, a multiple of kPiece in an untouched private mapping. True: the
  // piece is there, with its old contents. False: the pool is empty.
  bool map_dirty_piece_from_pool(void* at);
  // Moves the piece at `at` into the pool; that range then reads as zeros. Pieces beyond kKept
  // bytes return to the system.
  void move_piece_into_pool(void* at);

  // Take or give all whole pieces from `begin` to `end`; nothing if `begin` is not a multiple of
  // kPiece. move_pieces_into_pool() returns the bytes that it moved.
  void map_dirty_pieces_from_pool(std::byte* begin, const std::byte* end);
  uint64_t move_pieces_into_pool(std::byte* begin, const std::byte* end);

  // Reserves address space for `bytes`, rounded up to whole pieces and aligned to kPiece. The
  // destructor releases it. Throws Error if the reservation fails; `what` names the purpose.
  class ReservedRange {
   public:
    ReservedRange(uint64_t bytes, const char* what);
    ~ReservedRange();
    ReservedRange(const ReservedRange&) = delete;
    ReservedRange& operator=(const ReservedRange&) = delete;
    std::byte* begin() const { return begin_; }

   private:
    uint64_t bytes_;
    void* reserved_;
    std::byte* begin_;
  };

 private:
  static constexpr size_t kMost = kKept / kPiece;
  PagePool();
  ReservedRange range_;
  std::mutex mutex_;
  std::vector<std::byte*> full_, empty_;  // places in range_
};

// ---------------------------------------------------------------------------------------------
// A long, sparsely used array of 8-byte records. It reserves address space only; ensure_page()
// provides a page of zeros.

class SparseRecordArray {
 public:
  // Throws Error if there is no address space for `count` records.
  explicit SparseRecordArray(uint64_t count);
  ~SparseRecordArray() { clear(); }
  SparseRecordArray(const SparseRecordArray&) = delete;
  SparseRecordArray& operator=(const SparseRecordArray&) = delete;

  // The caller must ensure a page before it accesses a record of it after clear().
  static constexpr uint64_t kPage = 4096 / 8;  // records
  void ensure_page(uint64_t page) {
    const Present* piece = present_[page / kPagesOfPiece].get();
    if (piece == nullptr || (*piece)[page % kPagesOfPiece] == 0) make_page(page);
  }
  uint64_t& operator[](uint64_t record) const { return records_[record]; }
  uint64_t* at(uint64_t record) const { return records_ + record; }
  void clear();

 private:
  static constexpr uint64_t kPagesOfPiece = PagePool::kPiece / 4096;
  using Present = std::array<uint8_t, kPagesOfPiece>;
  void make_page(uint64_t page);

  PagePool::ReservedRange range_;
  uint64_t* records_;
  // For each piece: which of its pages are present. Null: none of them.
  std::vector<std::unique_ptr<Present>> present_;
  std::vector<uint64_t> pieces_;  // the pieces whose entry is not null
};

// ---------------------------------------------------------------------------------------------
// Pages that hold poison on first access. An allocation of gigabytes then need not write all of
// them at once, nor occupy memory for pages that no kernel uses.

inline constexpr unsigned char kPoison = 0xff;

class LazilyPoisonedPages {
 public:
  static constexpr uint64_t kPiece = 2 << 20;

  LazilyPoisonedPages() = default;
  // Maps poison over whole pieces from `begin` on, a multiple of kPiece in a private mapping, and
  // discards the old contents. Returns the bytes that it mapped: 0 if the system does not support
  // this.
  uint64_t map_poison_filled_pages(std::byte* begin, uint64_t bytes);
  // Announces that the whole range is about to be written. Its pieces that still map poison become
  // plain memory, whose large pages are faster to provide.
  void map_plain_memory_before_write(const std::byte* begin, const std::byte* end);
  bool empty() const { return waits_.empty(); }

 private:
  std::byte* begin_ = nullptr;
  std::vector<bool> waits_;  // by piece: whether it still maps poison
};

}  // namespace lab32::sim
