#include "simulator/core/memory/order_guard.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"
#include "simulator/core/execute/instruction.h"
#include "simulator/core/execute/trap.h"
#include "simulator/core/memory/contiguous.h"

namespace lab32::sim {
namespace {

// What is kept for the rollback, piece by piece. A scattered store keeps one line.
constexpr uint64_t kLine = 256;
// A round ends when it has kept 1/64 of the device memory in use; it is given up at 1/32, which
// blocks that write very much can reach before they end. At least this much for each host thread,
// since they all wait where a round ends.
constexpr uint64_t kShare = 64, kLeast = 4 << 20;

// Device memory that one page of a word map stands for.
constexpr uint64_t kMapPage = 4096, kPageSpan = kMapPage * 8 * 4;

constexpr uint8_t kBeingKept = 255, kLastRound = 254;

void* reserve_record(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw Error("out of host memory for the record of written words");
  return p;
}

}  // namespace

// A line as it was.
struct OrderGuard::Worker::Kept {
  uint64_t line;
  std::byte data[kLine];
  uint8_t written[kLine / 8];
};

namespace {
constexpr size_t kKeptAtOnce = 64;
// Pages of its maps that a worker holds on to from round to round: to have them zeroed by the
// system, fault by fault on all cores, costs more than to zero them.
constexpr size_t kHeldPages = 512;
// What is kept for a rollback is needed again by the next launch; so much is not given back, for
// each host thread.
constexpr size_t kHeldBytes = 8 << 20;
}  // namespace

// Pieces of memory for lines, of all guards.
class OrderGuard::Worker::Store {
 public:
  static Store& of_process() {
    static auto* const store = new Store;
    return *store;
  }
  std::unique_ptr<Kept[]> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return std::unique_ptr<Kept[]>(new Kept[kKeptAtOnce]);
    std::unique_ptr<Kept[]> piece = std::move(free_.back());
    free_.pop_back();
    return piece;
  }
  void give(std::vector<std::unique_ptr<Kept[]>>& pieces, size_t workers) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& piece : pieces)
      if (free_.size() * kKeptAtOnce * sizeof(Kept) < workers * kHeldBytes)
        free_.push_back(std::move(piece));
    pieces.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Kept[]>> free_;
};

OrderGuard::OrderGuard(Memory& memory, unsigned workers, Mode mode, bool find_races)
    : memory_(memory), mode_(mode), find_races_(find_races), by_word_(memory.allocations().size()) {
  const uint64_t used = (memory.used() + kPageSpan) / kPageSpan * kPageSpan;
  map_bytes_ = used / 32 + kMapPage;
  limit_ = std::max(kLeast * workers, memory.used() / kShare);
  lines_ = used / kLine + 1;
  line_state_ = static_cast<std::atomic<uint8_t>*>(reserve_record(lines_));
  for (unsigned i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& w = *workers_.back();
    w.guard_ = this;
    w.written_ = static_cast<uint8_t*>(reserve_record(map_bytes_));
    w.read_ = static_cast<uint8_t*>(reserve_record(map_bytes_));
    w.touched_.resize(map_bytes_ / kMapPage);
    w.operation_.resize(memory.allocations().size());
    w.used_.resize(memory.allocations().size());
    if (find_races) w.touches_ = std::make_unique<TouchMap>(used);
  }
  next_round();
  for (const auto& w : workers_) w->stale_ = false;
}

OrderGuard::~OrderGuard() {
  for (auto& w : workers_) {
    Worker::Store::of_process().give(w->kept_, workers_.size());
    munmap(w->written_, map_bytes_);
    munmap(w->read_, map_bytes_);
  }
  munmap(static_cast<void*>(line_state_), lines_);
}

// ---------------------------------------------------------------------------------------------
// While blocks run

void OrderGuard::Worker::note(Allocation& a, uint8_t use) {
  uint8_t& used = used_[a.index];
  used |= use;
  if ((used & kByWord) != 0 || (used & (used - 1)) == 0) return;
  used |= kClash;
  guard_->want_words(a);
  throw OrderMatters{};
}

void OrderGuard::Worker::touch(Touch how, const By& by, const uint64_t* address, uint32_t mask,
                               unsigned bytes) {
  if (!touches_) return;
  if (touches_->touch(by.strong ? Touch::strong : how, by.who, address, mask, bytes) && at_once())
    throw OrderMatters{};
}

void OrderGuard::Worker::first_read(Allocation& a, const uint64_t* address, uint32_t mask,
                                    unsigned bytes, const By& by) {
  if ((used_[a.index] & kByWord) == 0) return note(a, kRead);
  if (at_once()) mark(kReadWords, address, mask, bytes);
  touch(Touch::read, by, address, mask, bytes);
}

void OrderGuard::Worker::write(Allocation& a, const uint64_t* address, uint32_t mask,
                               unsigned bytes, const By& by) {
  if ((used_[a.index] & (kWrite | kClash)) != kWrite) note(a, kWrite);
  if (at_once()) mark(kWords, address, mask, bytes);
  keep(a, address, mask, bytes);
  touch(Touch::write, by, address, mask, bytes);
}

void OrderGuard::Worker::update(Allocation& a, uint8_t operation, const uint64_t* address,
                                uint32_t mask, unsigned bytes, const By& by) {
  if (at_once() && operation == 0) throw OrderMatters{};
  if ((used_[a.index] & (kUpdate | kClash)) != kUpdate) note(a, kUpdate);
  if ((used_[a.index] & kByWord) != 0) {
    if (at_once()) mark(kWords, address, mask, bytes);
    touch(Touch::write, by, address, mask, bytes);
  } else {
    // Updates that only concern their own block are told from others word by word.
    if (touches_ && !by.strong) {
      guard_->want_words(a);
      throw OrderMatters{};
    }
    if (operation_[a.index] == 0) operation_[a.index] = operation;
    if (at_once() && operation_[a.index] != operation) throw OrderMatters{};
  }
  keep(a, address, mask, bytes);
}

void OrderGuard::Worker::write_row(Allocation& a, const WarpRow& row, unsigned bytes,
                                   const By& by) {
  if (bytes != 4 || !row.is_one_row() || touches_) {
    uint64_t address[kWarpSize];
    row.write_to(address);
    return write(a, address, kFullMask, bytes, by);
  }
  if ((used_[a.index] & (kWrite | kClash)) != kWrite) note(a, kWrite);
  const uint64_t first = row.first[0];
  if (at_once()) mark_row(kWords, first);
  if (!a.pristine)
    keep_lines((first - kGlobalBase) / kLine, (first + 4 * (kWarpSize - 1) - kGlobalBase) / kLine);
}

// Of 32 words one after the other: they are eight bytes of the map.
void OrderGuard::Worker::mark_row(uint8_t map, uint64_t address) {
  if (stale_) forget_words();
  uint8_t* const words = map == kWords ? written_ : read_;
  const uint64_t first = (address - kGlobalBase) / 4;
  uint64_t span;
  std::memcpy(&span, words + first / 8, sizeof span);
  span |= uint64_t{0xffffffff} << (first % 8);
  std::memcpy(words + first / 8, &span, sizeof span);
  touched_[first / 8 / kMapPage] |= map;
  touched_[(first + 31) / 8 / kMapPage] |= map;
}

void OrderGuard::Worker::mark(uint8_t map, const uint64_t* address, uint32_t mask, unsigned bytes) {
  if (stale_) forget_words();
  uint8_t* const words = map == kWords ? written_ : read_;
  if (bytes == 4 && mask == kFullMask && contiguous(address, 4)) return mark_row(map, address[0]);
  const unsigned count = bytes < 4 ? 1 : bytes / 4;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t first = (address[__builtin_ctz(rest)] - kGlobalBase) / 4;
    for (uint64_t w = first; w < first + count; ++w)
      words[w / 8] = static_cast<uint8_t>(words[w / 8] | 1u << (w % 8));
    touched_[first / 8 / kMapPage] |= map;
  }
}

void OrderGuard::Worker::keep(const Allocation& a, const uint64_t* address, uint32_t mask,
                              unsigned bytes) {
  // Of an allocation that nobody has written, the poison is all that needs to come back.
  if (a.pristine) return;
  // Lanes in their order leave out no line between the first one's and the last one's.
  if (mask == kFullMask && contiguous(address, bytes))
    return keep_lines((address[0] - kGlobalBase) / kLine,
                      (address[kWarpSize - 1] - kGlobalBase) / kLine);
  uint64_t before = ~uint64_t{0};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t line = (address[__builtin_ctz(rest)] - kGlobalBase) / kLine;
    if (line == before) continue;
    before = line;  // an access never crosses a multiple of its size, hence no line
    keep_lines(line, line);
  }
}

void OrderGuard::Worker::keep_lines(uint64_t first, uint64_t last) {
  for (uint64_t line = first; line <= last; ++line)
    if (guard_->line_state_[line].load(std::memory_order_acquire) != guard_->round_)
      keep_line(line);
}

// Whoever comes first keeps it, and the others wait: nobody writes to a line before it is kept.
void OrderGuard::Worker::keep_line(uint64_t line) {
  if (kept_lines_ == kept_.size() * kKeptAtOnce) kept_.push_back(Store::of_process().take());
  std::atomic<uint8_t>& state = guard_->line_state_[line];
  const uint8_t round = guard_->round_;
  uint8_t before = state.load(std::memory_order_acquire);
  if (before == round) return;
  if (before == kBeingKept ||
      !state.compare_exchange_strong(before, kBeingKept, std::memory_order_acquire)) {
    while (state.load(std::memory_order_acquire) != round) std::this_thread::yield();
    return;
  }
  if (kept_lines_ % kKeptAtOnce == 0)
    guard_->kept_bytes_.fetch_add(kKeptAtOnce * sizeof(Kept), std::memory_order_relaxed);
  Kept& kept = kept_[kept_lines_ / kKeptAtOnce][kept_lines_ % kKeptAtOnce];
  ++kept_lines_;
  const Memory& memory = guard_->memory_;
  kept.line = line;
  std::memcpy(kept.data, memory.host(kGlobalBase + line * kLine), kLine);
  std::memcpy(kept.written, memory.written_bits() + line * kLine / 8, kLine / 8);
  state.store(round, std::memory_order_release);
  if (!guard_->find_races_ &&
      guard_->kept_bytes_.load(std::memory_order_relaxed) > 2 * guard_->limit_)
    throw OrderMatters{};
}

void OrderGuard::want_words(const Allocation& a) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (by_word_[a.index] != 0) return;
  ++wanted_;
  if (mode_ == Mode::at_once) {
    by_word_[a.index] = 1;
  } else {
    std::fill(by_word_.begin(), by_word_.end(), 1);  // one more try is enough
  }
}

// ---------------------------------------------------------------------------------------------
// Between rounds

bool OrderGuard::validate() {
  for (const auto& w : workers_)
    if (w->stale_) w->forget_words();
  bool each_alone = true;
  for (const auto& a : memory_.allocations()) {
    const uint32_t i = a->index;
    uint8_t used = 0, operation = 0;
    for (const auto& w : workers_) {
      used |= w->used_[i];
      if (w->operation_[i] == 0) continue;
      if (operation != 0 && operation != w->operation_[i]) return false;
      operation = w->operation_[i];
    }
    if ((used & Worker::kByWord) != 0 || (used & (used - 1)) == 0) continue;
    want_words(*a);
    each_alone = false;
  }
  return each_alone && words_disjoint();
}

// No word that one wrote was touched by another.
bool OrderGuard::words_disjoint() const {
  const uint64_t pages = map_bytes_ / kMapPage;
  std::vector<uint16_t> who(pages);
  for (const auto& w : workers_)
    for (uint64_t page = 0; page < pages; ++page)
      who[page] = static_cast<uint16_t>(who[page] + (w->touched_[page] != 0));
  for (uint64_t page = 0; page < pages; ++page) {
    if (who[page] < 2) continue;
    uint64_t written[kMapPage / 8] = {}, read[kMapPage / 8] = {};
    for (const auto& w : workers_) {
      if (w->touched_[page] == 0) continue;
      uint64_t clash = 0;
      for (uint64_t i = 0; i < kMapPage / 8; ++i) {
        uint64_t own_written, own_read;
        std::memcpy(&own_written, w->written_ + page * kMapPage + i * 8, 8);
        std::memcpy(&own_read, w->read_ + page * kMapPage + i * 8, 8);
        clash |= (own_written & (written[i] | read[i])) | (own_read & written[i]);
        written[i] |= own_written;
        read[i] |= own_read;
      }
      if (clash != 0) return false;
    }
  }
  return true;
}

void OrderGuard::commit() {
  for (const auto& a : memory_.allocations())
    for (const auto& w : workers_)
      if ((w->used_[a->index] & (Worker::kWrite | Worker::kUpdate)) != 0) a->pristine = false;
  next_round();
}

bool OrderGuard::rollback() {
  for (const auto& a : memory_.allocations()) {
    const bool changed = std::any_of(workers_.begin(), workers_.end(), [&](const auto& w) {
      return (w->used_[a->index] & (Worker::kWrite | Worker::kUpdate)) != 0;
    });
    if (changed && a->pristine) memory_.poison(*a);
  }
  for (const auto& w : workers_)
    for (size_t i = 0; i < w->kept_lines_; ++i) {
      const Worker::Kept& kept = w->kept_[i / kKeptAtOnce][i % kKeptAtOnce];
      std::memcpy(memory_.host(kGlobalBase + kept.line * kLine), kept.data, kLine);
      std::memcpy(memory_.written_bits() + kept.line * kLine / 8, kept.written, kLine / 8);
    }
  next_round();
  return std::exchange(wanted_, 0) != 0;
}

void OrderGuard::Worker::forget_words() {
  stale_ = false;
  for (const uint8_t page : touched_) resident_ += (page & 1u) + (page >> 1);
  if (resident_ > kHeldPages) {
    // The pages go back to the system, and come again as zeros.
    madvise(written_, guard_->map_bytes_, MADV_DONTNEED);
    madvise(read_, guard_->map_bytes_, MADV_DONTNEED);
    resident_ = 0;
  } else {
    for (size_t page = 0; page < touched_.size(); ++page) {
      if ((touched_[page] & kWords) != 0) std::memset(written_ + page * kMapPage, 0, kMapPage);
      if ((touched_[page] & kReadWords) != 0) std::memset(read_ + page * kMapPage, 0, kMapPage);
    }
  }
  std::fill(touched_.begin(), touched_.end(), 0);
}

std::unique_ptr<TouchMap> OrderGuard::take_suspects() {
  return has_suspects() ? std::move(workers_.front()->touches_) : nullptr;
}

void OrderGuard::next_round() {
  by_word_count_ = static_cast<size_t>(std::count(by_word_.begin(), by_word_.end(), 1));
  for (const auto& w : workers_) {
    w->kept_lines_ = 0;
    if (w->touches_) w->touches_->clear();
    w->stale_ = true;
    std::fill(w->operation_.begin(), w->operation_.end(), 0);
    for (size_t i = 0; i < by_word_.size(); ++i)
      w->used_[i] = by_word_[i] != 0 ? Worker::kByWord : uint8_t{0};
  }
  kept_bytes_ = 0;
  if (round_ == kLastRound) {
    madvise(static_cast<void*>(line_state_), lines_, MADV_DONTNEED);
    round_ = 0;
  }
  ++round_;
}

}  // namespace lab32::sim
