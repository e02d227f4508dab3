// Lines of device memory as they were, to be put back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "simulator/core/memory/host_pages.h"
#include "simulator/core/memory/memory.h"

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

// ---------------------------------------------------------------------------------------------
// Which lines of device memory were kept in the round under way, by any host thread.

class LineRounds {
 public:
  LineRounds() = default;
  ~LineRounds();
  LineRounds(const LineRounds&) = delete;
  LineRounds& operator=(const LineRounds&) = delete;

  // For lines below that number.
  void resize(uint64_t lines);
  // None is kept.
  void next_round();

  bool is_saved(uint64_t line) const {
    return state_[line].load(std::memory_order_acquire) == round_;
  }
  // Whoever comes first keeps it, true, and says done(); the others wait: nobody writes to a line
  // before it is kept.
  bool claim(uint64_t line);
  void done(uint64_t line) { state_[line].store(round_, std::memory_order_release); }

  uint64_t bytes() const { return lines_; }

 private:
  // The round in which it was kept last, so that a round begins without a look at them.
  std::atomic<uint8_t>* state_ = nullptr;
  uint64_t lines_ = 0;
  uint8_t round_ = 0;
};

// ---------------------------------------------------------------------------------------------
// A set of 4-byte words of device memory, a bit for each, where there are any. Its pages are few
// and change places: one host thread's blocks touch another part of memory in each round.

class WordMap {
 public:
  static constexpr uint64_t kPageBytes = 1024, kWordsOfPage = kPageBytes * 8;
  static constexpr uint64_t kSpan = kWordsOfPage * 4;  // device memory that a page stands for
  struct Page {
    alignas(64) uint64_t bits[kPageBytes / 8];
  };

  // For words below that number; empty. What it held is forgotten.
  void reset(uint64_t words);

  void add(uint64_t word) {
    page_of(word)->bits[word % kWordsOfPage / 64] |= uint64_t{1} << (word % 64);
  }
  // Of 32 words one behind the other.
  void add_row(uint64_t first) {
    const uint64_t bit = first % 64;
    if (bit > 32) return add_split(first);
    page_of(first)->bits[first % kWordsOfPage / 64] |= uint64_t{0xffffffff} << bit;
  }
  void clear();
  // Of the memory that it has taken up, only about so much stays its own. It is empty then.
  void trim(size_t bytes);

  // Null: none of the page's words is in the set.
  const Page* page(uint64_t number) const { return table_[number]; }
  // Those that are not null, in the order in which they came.
  const std::vector<uint32_t>& pages() const { return used_; }
  uint64_t most_pages() const { return table_pages_; }

 private:
  Page* page_of(uint64_t word) {
    Page* const page = table_[word / kWordsOfPage];
    return page != nullptr ? page : add_page(word / kWordsOfPage);
  }
  Page* add_page(uint64_t number);
  void add_split(uint64_t first);

  struct Free {
    void operator()(Page** table) const { std::free(table); }
  };
  // By page. Nulls that nobody looks at take no memory.
  std::unique_ptr<Page*[], Free> table_;
  uint64_t table_pages_ = 0;
  std::vector<uint32_t> used_;
  std::vector<std::unique_ptr<Page>> store_;  // of pages: the first used_.size() are in the table
};

// ---------------------------------------------------------------------------------------------
// What an OrderGuard writes down. A process keeps what a launch has used for the next one: to have
// it come from the system, page by page on all cores at once, took longer than to use it.

struct GuardRecords {
  // Apart from those of others, also from the cache line that a core fetches besides.
  struct alignas(128) OfWorker {
    UndoLog log;
    WordMap written, read;  // read: in allocations that are noted by word
  };

  // For so many bytes of device memory, all of it empty; at least so many workers.
  static std::unique_ptr<GuardRecords> take(uint64_t bytes, unsigned workers);
  static void give(std::unique_ptr<GuardRecords> records);

  LineRounds lines;
  std::vector<std::unique_ptr<OfWorker>> workers;
};

}  // namespace lab32::sim
