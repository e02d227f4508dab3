#include "simulator/core/memory/guard_records.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace lab32::sim {

size_t UndoLog::add_piece_returning_bytes() {
  if (count_ == pieces_.size() * kLines) {
    if (few_.size() < kFewPieces) {
      few_.emplace_back(new UndoLogChunk);
      pieces_.push_back(few_.back().get());
    } else {
      add_page_of_pieces();
    }
  }
  return sizeof(UndoLogChunk);
}

void UndoLog::add_page_of_pieces() {
  pages_.push_back(
      std::make_unique<PagePool::ReservedRange>(PagePool::kPiece, "a launch's rollback"));
  std::byte* const page = pages_.back()->begin();
  madvise(page, PagePool::kPiece, MADV_HUGEPAGE);
  auto* const first = reinterpret_cast<UndoLogChunk*>(page);
  for (size_t i = 0; i < kPiecesOfPage; ++i) pieces_.push_back(first + i);
}

void UndoLog::add(uint64_t line, const Memory& memory, bool all_written) {
  UndoLogChunk& piece = *pieces_[count_ / kLines];
  const size_t at = count_++ % kLines;
  piece.line[at] = line;
  piece.all_written[at] = all_written;
  const std::byte* const data = memory.host(kGlobalBase + line * kLine);
  // Most kernels store to the following lines next. Saving a line must wait for its data, unlike a
  // store, so this prefetches them. Prefetching beyond the end does no harm.
  constexpr uint64_t kAhead = 2 * kLine, kCacheLine = 64;
  for (uint64_t i = 0; i < kLine; i += kCacheLine) __builtin_prefetch(data + kAhead + i, 1);
  std::memcpy(piece.data[at], data, kLine);
  if (!all_written)
    std::memcpy(piece.written[at], memory.written_bits() + line * kLine / 8, kLine / 8);
}

void UndoLog::put_back(Memory& memory) const {
  for (size_t i = 0; i < count_; ++i) {
    const UndoLogChunk& piece = *pieces_[i / kLines];
    const size_t at = i % kLines;
    const uint64_t line = piece.line[at];
    std::memcpy(memory.host(kGlobalBase + line * kLine), piece.data[at], kLine);
    if (!piece.all_written[at])
      std::memcpy(memory.written_bits() + line * kLine / 8, piece.written[at], kLine / 8);
  }
}

void UndoLog::clear_and_shrink(size_t bytes) {
  clear();
  pages_.resize(std::min(pages_.size(), bytes / PagePool::kPiece));
  pieces_.resize(std::min(pieces_.size(), few_.size() + pages_.size() * kPiecesOfPage));
}

// ---------------------------------------------------------------------------------------------

namespace {

constexpr uint8_t kBeingKept = 255, kLastRound = 254;

}  // namespace

SavedMemoryLineSet::~SavedMemoryLineSet() {
  if (state_ != nullptr) munmap(static_cast<void*>(state_), lines_);
}

void SavedMemoryLineSet::resize(uint64_t lines) {
  if (lines <= lines_) return;
  void* const p = mmap(nullptr, lines, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw Error("out of host memory for the record of written lines");
  if (state_ != nullptr) munmap(static_cast<void*>(state_), lines_);
  state_ = static_cast<std::atomic<uint8_t>*>(p);
  lines_ = lines;
  round_ = 0;
}

void SavedMemoryLineSet::mark_all_lines_unsaved() {
  if (round_ == kLastRound) {
    madvise(static_cast<void*>(state_), lines_, MADV_DONTNEED);
    round_ = 0;
  }
  ++round_;
}

bool SavedMemoryLineSet::claim_line(uint64_t line) {
  std::atomic<uint8_t>& state = state_[line];
  uint8_t before = state.load(std::memory_order_acquire);
  if (before == round_) return false;
  if (before != kBeingKept &&
      state.compare_exchange_strong(before, kBeingKept, std::memory_order_acquire))
    return true;
  while (state.load(std::memory_order_acquire) != round_) std::this_thread::yield();
  return false;
}

// ---------------------------------------------------------------------------------------------

void WordBitmap::reset(uint64_t words) {
  clear();
  const uint64_t pages = words / kWordsOfPage + 1;
  if (pages <= table_pages_) return;
  table_.reset(static_cast<BitmapPage**>(std::calloc(pages, sizeof(void*))));
  table_pages_ = table_ ? pages : 0;
  if (!table_) throw Error("out of host memory for the record of written words");
}

WordBitmap::BitmapPage* WordBitmap::add_page(uint64_t number) {
  if (used_.size() == store_.size()) store_.push_back(std::make_unique<BitmapPage>());
  BitmapPage* const page = store_[used_.size()].get();
  *page = {};
  used_.push_back(static_cast<uint32_t>(number));
  return table_[number] = page;
}

void WordBitmap::add_32_words_singly(uint64_t first) {
  for (uint64_t word = first; word < first + 32; ++word) add(word);
}

void WordBitmap::clear() {
  for (const uint32_t number : used_) table_[number] = nullptr;
  used_.clear();
}

void WordBitmap::clear_and_shrink(size_t bytes) {
  clear();
  store_.resize(std::min(store_.size(), bytes / kPageBytes));
}

// ---------------------------------------------------------------------------------------------

namespace {

// Bytes that each host thread keeps for later launches: of its log, and of each of its maps.
constexpr size_t kHeldLog = 8 << 20, kHeldMap = 1 << 20;
// Bytes of line records to keep: enough for 2 GiB of device memory.
constexpr uint64_t kHeldLines = 8 << 20;

struct SpareGuardRecords {
  std::mutex mutex;
  std::unique_ptr<OrderGuardRecords> records;
  // Never destroyed: devices may outlive main().
  static SpareGuardRecords& process_wide() {
    static auto* const spare = new SpareGuardRecords;
    return *spare;
  }
};

}  // namespace

std::unique_ptr<OrderGuardRecords> OrderGuardRecords::acquire_guard_records(uint64_t bytes,
                                                                            unsigned workers) {
  std::unique_ptr<OrderGuardRecords> records;
  {
    const std::lock_guard<std::mutex> lock(SpareGuardRecords::process_wide().mutex);
    records = std::move(SpareGuardRecords::process_wide().records);
  }
  if (!records) records = std::make_unique<OrderGuardRecords>();
  records->lines.resize(bytes / UndoLog::kLine + 1);
  while (records->workers.size() < workers)
    records->workers.push_back(std::make_unique<WorkerRecords>());
  for (unsigned i = 0; i < workers; ++i) {
    records->workers[i]->written.reset(bytes / 4);
    records->workers[i]->read.reset(bytes / 4);
  }
  return records;
}

void OrderGuardRecords::keep_for_reuse(std::unique_ptr<OrderGuardRecords> records) {
  if (records->lines.bytes() > kHeldLines) return;
  for (const auto& of : records->workers) {
    of->log.clear_and_shrink(kHeldLog);
    of->written.clear_and_shrink(kHeldMap);
    of->read.clear_and_shrink(kHeldMap);
  }
  const std::lock_guard<std::mutex> lock(SpareGuardRecords::process_wide().mutex);
  if (!SpareGuardRecords::process_wide().records)
    SpareGuardRecords::process_wide().records = std::move(records);
}

}  // namespace lab32::sim
