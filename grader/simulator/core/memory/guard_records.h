// The records that a SerialEquivalenceRollback writes while blocks run in parallel: an undo log of
// overwritten lines, which lines are already in a log, and which words each host thread accessed.
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
  static constexpr uint64_t kLine = 256;  // bytes. A scattered store saves one line.

  // Makes room for the next add(). Returns the bytes that this allocates, usually 0.
  size_t make_room() { return count_ % kLines == 0 ? add_piece_returning_bytes() : 0; }
  // Saves a line. `all_written`: all its bytes were written before, so their written bits need not
  // be restored.
  void add(uint64_t line, const Memory& memory, bool all_written);
  void put_back(Memory& memory) const;
  void clear() { count_ = 0; }
  // Clears the log and frees all but about `bytes` of its memory.
  void clear_and_shrink(size_t bytes);

 private:
  static constexpr size_t kLines = 64;
  struct UndoLogChunk {
    alignas(64) std::byte data[kLines][kLine];
    uint8_t written[kLines][kLine / 8];
    uint64_t line[kLines];
    bool all_written[kLines];
  };
  // A short log grows piece by piece. A long one grows by as many pieces as fit in one large page
  // of the host.
  static constexpr size_t kFewPieces = 8, kPiecesOfPage = PagePool::kPiece / sizeof(UndoLogChunk);
  size_t add_piece_returning_bytes();
  void add_page_of_pieces();

  size_t count_ = 0;  // lines
  std::vector<UndoLogChunk*>
      pieces_;  // first the pieces in few_, then those of each page in pages_
  std::vector<std::unique_ptr<UndoLogChunk>> few_;
  std::vector<std::unique_ptr<PagePool::ReservedRange>> pages_;
};

// ---------------------------------------------------------------------------------------------
// Which lines of device memory any host thread has saved in the current round.

class SavedMemoryLineSet {
 public:
  SavedMemoryLineSet() = default;
  ~SavedMemoryLineSet();
  SavedMemoryLineSet(const SavedMemoryLineSet&) = delete;
  SavedMemoryLineSet& operator=(const SavedMemoryLineSet&) = delete;

  // Makes room for lines below that number.
  void resize(uint64_t lines);
  // Starts a round in which no line is saved.
  void mark_all_lines_unsaved();

  bool has_undo_copy(uint64_t line) const {
    return state_[line].load(std::memory_order_acquire) == round_;
  }
  // Claims a line for the calling thread. True: the caller must save the line and then call done().
  // False: another thread has saved it; the call waits for that thread, so no thread writes to a
  // line before it is saved.
  bool claim_line(uint64_t line);
  void done(uint64_t line) { state_[line].store(round_, std::memory_order_release); }

  uint64_t bytes() const { return lines_; }

 private:
  // By line: the round in which it was saved last. A new round therefore need not clear this array.
  std::atomic<uint8_t>* state_ = nullptr;
  uint64_t lines_ = 0;
  uint8_t round_ = 0;
};

// ---------------------------------------------------------------------------------------------
// A sparse set of 4-byte words of device memory: a bitmap that only has the pages it needs. The
// pages are reused, because a host thread's blocks access another part of memory in each round.

class WordBitmap {
 public:
  static constexpr uint64_t kPageBytes = 1024, kWordsOfPage = kPageBytes * 8;
  static constexpr uint64_t kSpan = kWordsOfPage * 4;  // bytes of device memory that a page covers
  struct BitmapPage {
    alignas(64) uint64_t bits[kPageBytes / 8];
  };

  // Empties the set and makes room for words below that number.
  void reset(uint64_t words);

  void add(uint64_t word) {
    ensure_page_of_word(word)->bits[word % kWordsOfPage / 64] |= uint64_t{1} << (word % 64);
  }
  // Adds 32 consecutive words.
  void add_32_words(uint64_t first) {
    const uint64_t bit = first % 64;
    if (bit > 32) return add_32_words_singly(first);
    ensure_page_of_word(first)->bits[first % kWordsOfPage / 64] |= uint64_t{0xffffffff} << bit;
  }
  void clear();
  // Empties the set and frees all but about `bytes` of its memory.
  void clear_and_shrink(size_t bytes);

  // Null if the set has no word of the page.
  const BitmapPage* page(uint64_t number) const { return table_[number]; }
  // The numbers of the pages that exist, in the order of their creation.
  const std::vector<uint32_t>& pages() const { return used_; }
  uint64_t most_pages() const { return table_pages_; }

 private:
  BitmapPage* ensure_page_of_word(uint64_t word) {
    BitmapPage* const page = table_[word / kWordsOfPage];
    return page != nullptr ? page : add_page(word / kWordsOfPage);
  }
  BitmapPage* add_page(uint64_t number);
  void add_32_words_singly(uint64_t first);

  struct TableDeleter {
    void operator()(BitmapPage** table) const { std::free(table); }
  };
  // By page number; null: no page. The host allocates the untouched parts of this table lazily.
  std::unique_ptr<BitmapPage*[], TableDeleter> table_;
  uint64_t table_pages_ = 0;
  std::vector<uint32_t> used_;
  // The first used_.size() pages of store_ are in the table.
  std::vector<std::unique_ptr<BitmapPage>> store_;
};

// ---------------------------------------------------------------------------------------------
// All records of one SerialEquivalenceRollback. The process keeps them for the next launch:
// allocating them page by page from the system on all cores at once took longer than using them.

struct OrderGuardRecords {
  // Aligned to two cache lines, because a core prefetches the neighbouring line, too.
  struct alignas(128) WorkerRecords {
    UndoLog log;
    WordBitmap written, read;  // read: only in allocations that are tracked by word
  };

  // Returns empty records for `bytes` of device memory and at least `workers` workers.
  static std::unique_ptr<OrderGuardRecords> acquire_guard_records(uint64_t bytes, unsigned workers);
  static void keep_for_reuse(std::unique_ptr<OrderGuardRecords> records);

  SavedMemoryLineSet lines;
  std::vector<std::unique_ptr<WorkerRecords>> workers;
};

}  // namespace lab32::sim
