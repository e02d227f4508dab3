// Host memory that a process keeps, in pieces of 2 MiB. A launch takes and frees arrays of tens of
// MB and twice as much for the records of the race check, each at new addresses. To have the system
// clear every page of them anew, fault by fault, was a sixth of a grading, and a third on virtual
// machines whose own memory comes by faults. A piece moves instead: its pages are taken out of one
// range of addresses and put into another, whatever is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace lab32::sim {

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

}  // namespace lab32::sim
