// Pages of host memory: a pool that keeps them from one launch to the next, arrays of records made
// of them, and pages that are filled when they are first touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace lab32::sim {

// Host memory that a process keeps, in pieces of 2 MiB. A launch takes and frees arrays of tens of
// MB and twice as much for the records of the race check, each at new addresses. To have the system
// clear every page of them anew, fault by fault, was a sixth of a grading, and a third on virtual
// machines whose own memory comes by faults. A piece moves instead: its pages are taken out of one
// range of addresses and put into another, whatever is in them.

class PagePool {
 public:
  static constexpr uint64_t kPiece = 2 << 20;
  static constexpr uint64_t kKept = 256 << 20;  // at most

  static PagePool& of_process();

  // `at`: a multiple of kPiece in a private mapping of nothing, whose piece has not been touched.
  // True: a piece that was given lies there now, with what was in it; false: there was none.
  bool take(void* at);
  // Takes the piece at `at` away; it reads as zeros afterwards. What is more than kKept goes back
  // to the system.
  void give(void* at);

  // All whole pieces from `begin` to `end`; none where `begin` is no multiple of kPiece. The second
  // returns how many bytes they have.
  void take_all(std::byte* begin, const std::byte* end);
  uint64_t give_all(std::byte* begin, const std::byte* end);

  // Address space of that many bytes and the rest of the last piece, from a multiple of kPiece on;
  // released as a whole by its end. Throws Error where there is none.
  class Range {
   public:
    Range(uint64_t bytes, const char* what);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    std::byte* begin() const { return begin_; }

   private:
    uint64_t bytes_;
    void* reserved_;
    std::byte* begin_;
  };

 private:
  static constexpr size_t kMost = kKept / kPiece;
  PagePool();
  Range range_;
  std::mutex mutex_;
  std::vector<std::byte*> full_, empty_;  // places in range_
};

// ---------------------------------------------------------------------------------------------
// A long array of 8-byte records of which few are used: address space only, whose pages come, and
// are zero, when they are brought.

class RecordPages {
 public:
  // Throws Error where there is no address space for so many.
  explicit RecordPages(uint64_t count);
  ~RecordPages() { clear(); }
  RecordPages(const RecordPages&) = delete;
  RecordPages& operator=(const RecordPages&) = delete;

  // Before a record of this page is looked at for the first time since clear().
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

  PagePool::Range range_;
  uint64_t* records_;
  // By piece that holds pages: those that were brought.
  std::vector<std::unique_ptr<Present>> present_;
  std::vector<uint64_t> pieces_;  // those that are not null
};

// ---------------------------------------------------------------------------------------------
// Pages that hold poison when they are first touched: what allocates gigabytes need not wait until
// all of them are written, nor have room for those that nobody uses.

inline constexpr unsigned char kPoison = 0xff;

class PoisonPages {
 public:
  static constexpr uint64_t kPiece = 2 << 20;

  PoisonPages() = default;
  // Fills whole pieces from `begin` on, a multiple of kPiece in a private mapping; what was there
  // is gone. Returns how many bytes of `bytes` there are now: none where this system cannot.
  uint64_t map_poison(std::byte* begin, uint64_t bytes);
  // All of that range is about to be written: pieces in it that still wait for their poison become
  // plain memory, whose large pages come faster.
  void will_write(const std::byte* begin, const std::byte* end);
  bool empty() const { return waits_.empty(); }

 private:
  std::byte* begin_ = nullptr;
  std::vector<bool> waits_;  // by piece
};

}  // namespace lab32::sim
