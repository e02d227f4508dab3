#include "simulator/core/memory/race_filter.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/core/memory/access.h"
#include "simulator/core/memory/memory.h"

namespace lab32::sim {
namespace {

// The fields of a record, from the lowest bit: whether the word was written; whether it was written
// in the record's epoch; the thread (11 bits), the epoch (19 bits) and the block + 1 (32 bits). 0:
// the word was not accessed.
constexpr uint64_t kWritten = 1, kWrittenNow = 2;
constexpr int kThreadAt = 2, kEpochAt = 13, kBlockAt = 32;
constexpr uint64_t kThreadMask = uint64_t{0x7ff} << kThreadAt;
constexpr uint64_t kSeveralThreads = kThreadMask;
constexpr uint64_t kEpochMask = uint64_t{0x7ffff} << kEpochAt;
constexpr uint32_t kLastEpoch = 0x7ffff;  // later epochs count as this one
// Special values in place of a block. This one: several blocks have accessed the word, and all of
// them only read it.
constexpr uint64_t kSeveralBlocks = uint64_t{0xffffffff} << kBlockAt;
// The word was accessed only by atomics, all of one size. The lower bits contain this size.
constexpr uint64_t kStrong = uint64_t{0xfffffffe} << kBlockAt;
constexpr uint64_t kNarrow = uint64_t{0xfffffffd} << kBlockAt;  // its bytes have records
constexpr uint64_t kSuspect = uint64_t{0xfffffffc} << kBlockAt;
// Later blocks count as this one, and their words are always suspect.
constexpr uint64_t kLastBlock = 0xfffffffa;

uint64_t* reserve_race_records(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw Error("out of host memory for the records of the race check");
  return static_cast<uint64_t*>(p);
}

constexpr uint32_t kAllLanes = 0xffffffff;
constexpr uint64_t kRecordsOfPage = SparseRecordArray::kPage;

uint64_t words_in(uint64_t bytes) { return bytes / 4 + 8; }
uint64_t suspect_bytes(uint64_t bytes) { return (words_in(bytes) / 64 + 1) * 8; }

enum class Outcome : uint8_t { clear, suspect };

// The rule of the filter: updates a record for one access. `fresh` packs block, epoch and thread of
// the access. For a strong access it is kStrong and the size of the access, because atomics of
// different sizes may race.
inline Outcome update_race_record(uint64_t& cell, RaceAccess how, uint64_t fresh) {
  const uint64_t c = cell;
  if (how == RaceAccess::strong) {
    if (c == fresh) return Outcome::clear;
    if (c != 0) return Outcome::suspect;
    cell = fresh;
    return Outcome::clear;
  }
  const uint64_t mine = how == RaceAccess::write ? fresh | kWritten | kWrittenNow : fresh;
  if (c == 0) {
    cell = mine;
    return Outcome::clear;
  }
  if (c == kSeveralBlocks && how == RaceAccess::read) return Outcome::clear;
  if (((c ^ fresh) >> kBlockAt) != 0 || fresh >> kBlockAt > kLastBlock) {
    if (how != RaceAccess::read || c >= kSuspect || (c & kWritten) != 0) return Outcome::suspect;
    cell = kSeveralBlocks;
    return Outcome::clear;
  }
  if (((c ^ fresh) & kEpochMask) != 0) {
    cell = mine | (c & kWritten);
    return Outcome::clear;
  }
  if (((c ^ fresh) & kThreadMask) == 0) {
    cell = c | mine;
    return Outcome::clear;
  }
  if (how != RaceAccess::read || (c & kWrittenNow) != 0) return Outcome::suspect;
  cell = c | kSeveralThreads;
  return Outcome::clear;
}

}  // namespace

PossibleRaceDetector::PossibleRaceDetector(uint64_t bytes)
    : bytes_(bytes),
      words_(words_in(bytes)),
      narrow_(words_in(bytes) * 4),
      suspects_(reserve_race_records(suspect_bytes(bytes))) {}

PossibleRaceDetector::~PossibleRaceDetector() { munmap(suspects_, suspect_bytes(bytes_)); }

void PossibleRaceDetector::clear() {
  words_.clear();
  narrow_.clear();
  if (any_suspect_) madvise(suspects_, suspect_bytes(bytes_), MADV_DONTNEED);
  any_suspect_ = false;
}

uint64_t PossibleRaceDetector::word_of(uint64_t address) { return (address - kGlobalBase) / 4; }

bool PossibleRaceDetector::make_suspect(uint64_t word) {
  words_[word] = kSuspect;
  suspects_[word / 64] |= uint64_t{1} << (word % 64);
  any_suspect_ = true;
  return true;
}

// Records an access to the bytes first .. first + count - 1 of a word.
bool PossibleRaceDetector::record_access_to_bytes(uint64_t word, RaceAccess how, uint64_t fresh,
                                                  uint32_t first, uint32_t count) {
  uint64_t* const bytes = narrow_.at(word * 4);
  if (words_[word] != kNarrow) {
    narrow_.ensure_page(word * 4 / kRecordsOfPage);
    // Splits the record of the word into records of its four bytes.
    std::fill(bytes, bytes + 4, words_[word]);
    words_[word] = kNarrow;
  }
  for (uint32_t i = first; i < first + count; ++i)
    if (update_race_record(bytes[i], how, fresh) == Outcome::suspect) return make_suspect(word);
  return false;
}

bool PossibleRaceDetector::record_access_to_word(uint64_t word, RaceAccess how, uint64_t fresh) {
  uint64_t& cell = words_[word];
  if (cell == kSuspect) return false;
  if (cell == kNarrow) return record_access_to_bytes(word, how, fresh, 0, 4);
  return update_race_record(cell, how, fresh) == Outcome::suspect && make_suspect(word);
}

// The common case of a full warp that accesses contiguous words. True if in this epoch each word
// was accessed by no thread or only by the same lane.
bool PossibleRaceDetector::try_record_contiguous_words(RaceAccess how, uint64_t base,
                                                       uint64_t first) {
  constexpr uint64_t kLane = uint64_t{1} << kThreadAt, kBoth = kWritten | kWrittenNow;
  const uint64_t written = how == RaceAccess::write ? kBoth : 0;
  uint64_t* const cells = words_.at(first);
  uint64_t all = 0, others = 0;
  for (uint64_t l = 0; l < 32; ++l) {
    all |= cells[l];
    others |= (cells[l] ^ (base + l * kLane)) & ~kBoth;
  }
  if (all != 0 && others != 0) return false;
  for (uint64_t l = 0; l < 32; ++l) cells[l] |= (base + l * kLane) | written;
  return true;
}

bool PossibleRaceDetector::record_access(RaceAccess how, const WarpEpoch& who,
                                         const uint64_t* address, uint32_t mask, unsigned bytes) {
  const uint64_t block = std::min(who.block, kLastBlock) + 1;
  const uint64_t base = block << kBlockAt | uint64_t{std::min(who.epoch, kLastEpoch)} << kEpochAt |
                        uint64_t{who.warp} * 32 << kThreadAt;
  if (mask == kAllLanes && bytes == 4 && how != RaceAccess::strong && who.block < kLastBlock &&
      are_contiguous(address, 4)) {
    const uint64_t first = word_of(address[0]);
    words_.ensure_page(first / kRecordsOfPage);
    words_.ensure_page((first + 31) / kRecordsOfPage);
    if (try_record_contiguous_words(how, base, first)) return false;
  }
  uint64_t page = ~uint64_t{0};
  bool found = false;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t fresh =
        how == RaceAccess::strong ? kStrong | bytes : base + (uint64_t{lane} << kThreadAt);
    const uint64_t at = address[lane];
    const uint64_t first = word_of(at);
    if (first / kRecordsOfPage != page) words_.ensure_page(page = first / kRecordsOfPage);
    if (bytes < 4) {
      if (words_[first] != kSuspect)
        found |= record_access_to_bytes(first, how, fresh, static_cast<uint32_t>(at % 4), bytes);
      continue;
    }
    for (uint64_t word = first; word < first + bytes / 4; ++word)
      found |= record_access_to_word(word, how, fresh);
  }
  return found;
}

}  // namespace lab32::sim
