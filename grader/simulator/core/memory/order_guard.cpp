#include "simulator/core/memory/order_guard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/memory.h"
#include "simulator/core/memory/access.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {
namespace {

constexpr uint64_t kLine = UndoLog::kLine;
// A round ends when its undo log reaches 1/64 of the device memory in use. At 1/32, which blocks
// with very many writes can reach before they end, the attempt is abandoned. The limit is at least
// kLeast for each host thread, because all threads wait at the end of a round.
constexpr uint64_t kShare = 64, kLeast = 4 << 20;

}  // namespace

SerialEquivalenceRollback::SerialEquivalenceRollback(Memory& memory, unsigned workers, Mode mode,
                                                     bool find_races)
    : memory_(memory), mode_(mode), find_races_(find_races), by_word_(memory.allocations().size()) {
  limit_ = std::max(kLeast * workers, memory.used() / kShare);
  const uint64_t bytes = align_up(memory.used() + 1, WordBitmap::kSpan);
  records_ = OrderGuardRecords::acquire_guard_records(bytes, workers);
  for (unsigned i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& w = *workers_.back();
    w.guard_ = this;
    w.records_ = records_->workers[i].get();
    w.operation_.resize(memory.allocations().size());
    w.size_.resize(memory.allocations().size());
    w.used_.resize(memory.allocations().size());
    if (find_races) w.suspect_detector_ = std::make_unique<PossibleRaceDetector>(bytes);
  }
  next_round();
  for (const auto& w : workers_) w->stale_ = false;
}

SerialEquivalenceRollback::~SerialEquivalenceRollback() {
  OrderGuardRecords::keep_for_reuse(std::move(records_));
}

// ---------------------------------------------------------------------------------------------
// While blocks run

void SerialEquivalenceRollback::Worker::note_use_or_throw_on_clash(Allocation& a, uint8_t use) {
  uint8_t& used = used_[a.index];
  used |= use;
  if ((used & kByWord) != 0 || (used & (used - 1)) == 0) return;
  used |= kClash;
  guard_->request_word_tracking(a);
  throw OrderMatters{};
}

void SerialEquivalenceRollback::Worker::pass_access_to_suspect_detector(RaceAccess how,
                                                                        const AccessingWarp& by,
                                                                        const uint64_t* address,
                                                                        uint32_t mask,
                                                                        unsigned bytes) {
  if (!suspect_detector_) return;
  if (suspect_detector_->record_access(by.strong ? RaceAccess::strong : how, by.who, address, mask,
                                       bytes) &&
      at_once())
    throw OrderMatters{};
}

void SerialEquivalenceRollback::Worker::record_read_slow_path(Allocation& a,
                                                              const uint64_t* address,
                                                              uint32_t mask, unsigned bytes,
                                                              const AccessingWarp& by) {
  if ((used_[a.index] & kByWord) == 0) return note_use_or_throw_on_clash(a, kRead);
  if (at_once()) mark_words(records_->read, address, mask, bytes);
  pass_access_to_suspect_detector(RaceAccess::read, by, address, mask, bytes);
}

void SerialEquivalenceRollback::Worker::record_write(Allocation& a, const uint64_t* address,
                                                     uint32_t mask, unsigned bytes,
                                                     const AccessingWarp& by) {
  if ((used_[a.index] & (kWrite | kClash)) != kWrite) note_use_or_throw_on_clash(a, kWrite);
  if (at_once()) mark_words(records_->written, address, mask, bytes);
  save_accessed_lines(a, address, mask, bytes);
  pass_access_to_suspect_detector(RaceAccess::write, by, address, mask, bytes);
}

void SerialEquivalenceRollback::Worker::record_update(Allocation& a, uint8_t operation,
                                                      const uint64_t* address, uint32_t mask,
                                                      unsigned bytes, const AccessingWarp& by) {
  if (at_once() && operation == 0) throw OrderMatters{};
  if ((used_[a.index] & (kUpdate | kClash)) != kUpdate) note_use_or_throw_on_clash(a, kUpdate);
  if ((used_[a.index] & kByWord) != 0) {
    if (at_once()) mark_words(records_->written, address, mask, bytes);
    pass_access_to_suspect_detector(RaceAccess::write, by, address, mask, bytes);
  } else {
    // An atomic that is not strong, or whose size differs from earlier ones, may race with other
    // updates. Only tracking by word tells whether such updates are those of one block.
    const uint8_t size = std::exchange(size_[a.index], static_cast<uint8_t>(bytes));
    if (suspect_detector_ && (!by.strong || (size != 0 && size != bytes))) {
      guard_->request_word_tracking(a);
      throw OrderMatters{};
    }
    if (operation_[a.index] == 0) operation_[a.index] = operation;
    if (at_once() && operation_[a.index] != operation) throw OrderMatters{};
  }
  save_accessed_lines(a, address, mask, bytes);
}

void SerialEquivalenceRollback::Worker::record_strided_read(Allocation& a,
                                                            const StridedHalfWarpPair& row,
                                                            unsigned bytes,
                                                            const AccessingWarp& by) {
  if (may_read(a)) return;
  if (bytes == 4 && row.is_one_sequence() && row.stride == 4 && !suspect_detector_ &&
      (used_[a.index] & kByWord) != 0) {
    if (at_once()) mark_row_of_words(records_->read, row.first[0]);
    return;
  }
  uint64_t address[kWarpSize];
  row.expand_to_addresses(address);
  record_read(a, address, kFullMask, bytes, by);
}

void SerialEquivalenceRollback::Worker::record_strided_write(Allocation& a,
                                                             const StridedHalfWarpPair& row,
                                                             unsigned bytes,
                                                             const AccessingWarp& by) {
  if (bytes != 4 || !row.is_one_sequence() || suspect_detector_) {
    uint64_t address[kWarpSize];
    row.expand_to_addresses(address);
    return record_write(a, address, kFullMask, bytes, by);
  }
  if ((used_[a.index] & (kWrite | kClash)) != kWrite) note_use_or_throw_on_clash(a, kWrite);
  const uint64_t first = row.first[0];
  if (at_once()) mark_row_of_words(records_->written, first);
  if (!a.pristine)
    save_lines(a, (first - kGlobalBase) / kLine,
               (first + 4 * (kWarpSize - 1) - kGlobalBase) / kLine);
}

// Marks 32 consecutive words.
void SerialEquivalenceRollback::Worker::mark_row_of_words(WordBitmap& map, uint64_t address) {
  if (stale_) forget_words();
  map.add_32_words((address - kGlobalBase) / 4);
}

void SerialEquivalenceRollback::Worker::mark_words(WordBitmap& map, const uint64_t* address,
                                                   uint32_t mask, unsigned bytes) {
  if (stale_) forget_words();
  if (bytes == 4 && mask == kFullMask && are_contiguous(address, 4))
    return mark_row_of_words(map, address[0]);
  const unsigned count = bytes < 4 ? 1 : bytes / 4;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t first = (address[__builtin_ctz(rest)] - kGlobalBase) / 4;
    for (uint64_t w = first; w < first + count; ++w) map.add(w);
  }
}

void SerialEquivalenceRollback::Worker::save_accessed_lines(const Allocation& a,
                                                            const uint64_t* address, uint32_t mask,
                                                            unsigned bytes) {
  // An allocation that was never written holds only poison, which rollback() restores without a
  // log.
  if (a.pristine) return;
  // Contiguous lanes cover every line from the first lane's to the last lane's.
  if (mask == kFullMask && are_contiguous(address, bytes))
    return save_lines(a, (address[0] - kGlobalBase) / kLine,
                      (address[kWarpSize - 1] - kGlobalBase) / kLine);
  uint64_t before = ~uint64_t{0};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t line = (address[__builtin_ctz(rest)] - kGlobalBase) / kLine;
    if (line == before) continue;
    before = line;  // an access never crosses a multiple of its size, hence no line
    save_lines(a, line, line);
  }
}

void SerialEquivalenceRollback::Worker::save_lines(const Allocation& a, uint64_t first,
                                                   uint64_t last) {
  for (uint64_t line = first; line <= last; ++line)
    if (!guard_->records_->lines.has_undo_copy(line)) save_line(a, line);
}

void SerialEquivalenceRollback::Worker::save_line(const Allocation& a, uint64_t line) {
  const size_t taken = records_->log.make_room();
  SavedMemoryLineSet& lines = guard_->records_->lines;
  if (!lines.claim_line(line)) return;
  // A line may span several allocations, and others may not be initialised.
  const uint64_t begin = kGlobalBase + line * kLine;
  records_->log.add(line, guard_->memory_,
                    a.initialised && begin >= a.begin && begin + kLine <= a.end);
  lines.done(line);
  if (taken == 0) return;
  const uint64_t all = guard_->saved_bytes_.fetch_add(taken, std::memory_order_relaxed) + taken;
  if (!guard_->find_races_ && all > 2 * guard_->limit_) throw OrderMatters{};
}

void SerialEquivalenceRollback::request_word_tracking(const Allocation& a) {
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

bool SerialEquivalenceRollback::validate_round() {
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
    request_word_tracking(*a);
    each_alone = false;
  }
  return each_alone && are_words_disjoint();
}

namespace {

// The pages of the maps that several workers have marked.
std::vector<uint32_t> pages_marked_by_several_workers(const OrderGuardRecords& records,
                                                      size_t workers) {
  constexpr uint16_t kListed = 0xffff;
  std::vector<uint32_t> shared;
  std::vector<uint16_t> who(records.workers.front()->written.most_pages());
  for (size_t w = 0; w < workers; ++w) {
    const auto mine = static_cast<uint16_t>(w + 1);
    for (const WordBitmap* map : {&records.workers[w]->written, &records.workers[w]->read})
      for (const uint32_t page : map->pages()) {
        if (who[page] == 0) who[page] = mine;
        if (who[page] == mine || who[page] == kListed) continue;
        who[page] = kListed;
        shared.push_back(page);
      }
  }
  return shared;
}

}  // namespace

// Whether no worker accessed a word that another worker wrote.
bool SerialEquivalenceRollback::are_words_disjoint() const {
  static const WordBitmap::BitmapPage kNone{};
  for (const uint32_t page : pages_marked_by_several_workers(*records_, workers_.size())) {
    WordBitmap::BitmapPage written{}, read{};
    for (const auto& w : workers_) {
      const WordBitmap::BitmapPage *own_written = w->records_->written.page(page),
                                   *own_read = w->records_->read.page(page);
      if (own_written == nullptr && own_read == nullptr) continue;
      if (own_written == nullptr) own_written = &kNone;
      if (own_read == nullptr) own_read = &kNone;
      uint64_t clash = 0;
      for (size_t i = 0; i < std::size(written.bits); ++i) {
        clash |= (own_written->bits[i] & (written.bits[i] | read.bits[i])) |
                 (own_read->bits[i] & written.bits[i]);
        written.bits[i] |= own_written->bits[i];
        read.bits[i] |= own_read->bits[i];
      }
      if (clash != 0) return false;
    }
  }
  return true;
}

void SerialEquivalenceRollback::commit() {
  for (const auto& a : memory_.allocations())
    for (const auto& w : workers_)
      if ((w->used_[a->index] & (Worker::kWrite | Worker::kUpdate)) != 0) a->pristine = false;
  next_round();
}

bool SerialEquivalenceRollback::rollback() {
  for (const auto& a : memory_.allocations()) {
    const bool changed = std::any_of(workers_.begin(), workers_.end(), [&](const auto& w) {
      return (w->used_[a->index] & (Worker::kWrite | Worker::kUpdate)) != 0;
    });
    if (changed && a->pristine) memory_.poison(*a);
  }
  for (const auto& w : workers_) w->records_->log.put_back(memory_);
  next_round();
  return std::exchange(wanted_, 0) != 0;
}

void SerialEquivalenceRollback::Worker::forget_words() {
  stale_ = false;
  records_->written.clear();
  records_->read.clear();
}

std::vector<uint32_t> SerialEquivalenceRollback::allocations_tracked_by_word() const {
  std::vector<uint32_t> noted;
  for (uint32_t i = 0; i < by_word_.size(); ++i)
    if (by_word_[i] != 0) noted.push_back(i);
  return noted;
}

void SerialEquivalenceRollback::track_by_word(const std::vector<uint32_t>& allocations) {
  for (const uint32_t i : allocations)
    if (i < by_word_.size()) by_word_[i] = 1;
  next_round();
}

std::unique_ptr<PossibleRaceDetector> SerialEquivalenceRollback::take_suspect_words() {
  return has_suspect_words() ? std::move(workers_.front()->suspect_detector_) : nullptr;
}

void SerialEquivalenceRollback::next_round() {
  by_word_count_ = static_cast<size_t>(std::count(by_word_.begin(), by_word_.end(), 1));
  for (const auto& w : workers_) {
    w->records_->log.clear();
    if (w->suspect_detector_) w->suspect_detector_->clear();
    w->stale_ = true;
    std::fill(w->operation_.begin(), w->operation_.end(), 0);
    std::fill(w->size_.begin(), w->size_.end(), 0);
    for (size_t i = 0; i < by_word_.size(); ++i)
      w->used_[i] = by_word_[i] != 0 ? Worker::kByWord : uint8_t{0};
  }
  saved_bytes_ = 0;
  records_->lines.mark_all_lines_unsaved();
}

}  // namespace lab32::sim
