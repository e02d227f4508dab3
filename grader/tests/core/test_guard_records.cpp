// The records of a SerialEquivalenceRollback: sets of words, old contents of lines, and which lines
// were saved; and that the next launch gets empty records.
#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "simulator/core/memory/guard_records.h"
#include "simulator/core/memory/order_guard.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/trap.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using sim::OrderGuardRecords;
using sim::SavedMemoryLineSet;
using sim::UndoLog;
using sim::WordBitmap;

namespace {

std::set<uint64_t> words_in(const WordBitmap& map) {
  std::set<uint64_t> all;
  for (const uint32_t number : map.pages()) {
    const WordBitmap::BitmapPage* const page = map.page(number);
    REQUIRE(page != nullptr);
    for (uint64_t i = 0; i < WordBitmap::kWordsOfPage; ++i)
      if ((page->bits[i / 64] >> (i % 64) & 1) != 0)
        all.insert(number * WordBitmap::kWordsOfPage + i);
  }
  return all;
}

}  // namespace

TEST_CASE("core: word map: add_row() adds the 32 words from any first word on") {
  WordBitmap map;
  map.reset(8 * WordBitmap::kWordsOfPage);
  std::set<uint64_t> want;
  const uint64_t end = 2 * WordBitmap::kWordsOfPage;
  for (const uint64_t first : {uint64_t{0}, uint64_t{96}, uint64_t{161}, uint64_t{224},
                               uint64_t{319}, end - 32, 2 * end - 31, 3 * end - 1}) {
    map.add_32_words(first);
    for (uint64_t word = first; word < first + 32; ++word) want.insert(word);
  }
  map.add(5000);
  want.insert(5000);
  CHECK(words_in(map) == want);
  CHECK(map.page(7) == nullptr);
  // Its pages are reused and empty, also after a reset to fewer or more words.
  map.clear();
  CHECK(map.pages().empty());
  CHECK(map.page(0) == nullptr);
  map.add(7 * WordBitmap::kWordsOfPage);
  CHECK(words_in(map) == std::set<uint64_t>{7 * WordBitmap::kWordsOfPage});
  map.clear_and_shrink(WordBitmap::kPageBytes);
  CHECK(map.pages().empty());
  map.reset(64 * WordBitmap::kWordsOfPage);
  map.add(1);
  map.add(63 * WordBitmap::kWordsOfPage + 1);
  CHECK(words_in(map) == std::set<uint64_t>{1, 63 * WordBitmap::kWordsOfPage + 1});
}

TEST_CASE("core: undo log: it restores data and written bits") {
  sim::Memory memory(uint64_t{1} << 24);
  sim::Allocation* a = memory.allocate(64 << 10, "a");
  const std::vector<uint8_t> half(32 << 10, 1);
  memory.upload(a->begin, half.data(), half.size());
  const uint64_t first = (a->begin - sim::kGlobalBase) / UndoLog::kLine;
  const uint64_t lines = (64 << 10) / UndoLog::kLine;
  UndoLog log;
  size_t taken = 0;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t line = first; line < first + lines; ++line) {
      taken += log.make_room();
      log.add(line, memory, line < first + 4);
    }
    std::memset(memory.host(a->begin), 7, 64 << 10);
    memory.mark_span_written(a->begin, a->end);
    log.put_back(memory);
    log.clear();
    CHECK(memory.first_unwritten(a->begin, a->end) == a->begin + (32 << 10));
    CHECK(*memory.host(a->begin + (32 << 10) - 1) == std::byte{1});
    CHECK(*memory.host(a->begin + (32 << 10)) == std::byte{0xff});
  }
  // Both rounds, and not much more than the lines themselves.
  CHECK(taken >= 2 * (64 << 10));
  CHECK(taken < 3 * (64 << 10));
}

TEST_CASE("core: undo log: a long log frees its memory when it is trimmed") {
  constexpr uint64_t kBytes = 8 << 20, kWord = sizeof(uint64_t);
  sim::Memory memory(uint64_t{1} << 25);
  sim::Allocation* a = memory.allocate(kBytes, "a");
  std::vector<uint64_t> data(kBytes / kWord);
  for (size_t i = 0; i < data.size(); ++i) data[i] = i * 0x9e3779b97f4a7c15;
  memory.upload(a->begin, data.data(), kBytes);
  const uint64_t first = (a->begin - sim::kGlobalBase) / UndoLog::kLine;
  UndoLog log;
  for (const uint64_t lines :
       {uint64_t{1}, uint64_t{600}, kBytes / UndoLog::kLine, uint64_t{2000}}) {
    CAPTURE(lines);
    for (uint64_t line = first; line < first + lines; ++line) {
      log.make_room();
      log.add(line, memory, true);
    }
    std::memset(memory.host(a->begin), 7, lines * UndoLog::kLine);
    log.put_back(memory);
    CHECK(std::memcmp(memory.host(a->begin), data.data(), kBytes) == 0);
    log.clear_and_shrink(lines % 2 == 0 ? 4 << 20 : 0);
  }
}

TEST_CASE("core: line rounds: one thread saves a line, and the others find it saved") {
  SavedMemoryLineSet lines;
  lines.resize(100);
  for (int round = 0; round < 600; ++round) {  // round numbers are reused
    lines.mark_all_lines_unsaved();
    REQUIRE(!lines.has_undo_copy(7));
    REQUIRE(!lines.has_undo_copy(8));
    REQUIRE(lines.claim_line(7));
    lines.done(7);
    REQUIRE(lines.has_undo_copy(7));
    REQUIRE(!lines.claim_line(7));
  }
  lines.resize(1 << 20);
  lines.mark_all_lines_unsaved();
  REQUIRE(lines.claim_line(8));
  bool claims = true;
  std::thread other([&] { claims = lines.claim_line(8); });  // waits until the line is saved
  lines.done(8);
  other.join();
  CHECK(!claims);
}

TEST_CASE("core: guard records: reused records are empty") {
  const uint64_t bytes = 16 << 20;
  {
    auto records = OrderGuardRecords::acquire_guard_records(bytes, 3);
    records->lines.mark_all_lines_unsaved();
    REQUIRE(records->lines.claim_line(11));
    records->lines.done(11);
    for (const auto& of : records->workers) of->read.add_32_words(1000);
    records->workers[2]->written.add(77);
    OrderGuardRecords::keep_for_reuse(std::move(records));
  }
  const auto records = OrderGuardRecords::acquire_guard_records(2 * bytes, 5);
  records->lines.mark_all_lines_unsaved();
  CHECK(!records->lines.has_undo_copy(11));
  REQUIRE(records->workers.size() >= 5);
  for (const auto& of : records->workers) {
    CHECK(of->read.pages().empty());
    CHECK(of->written.pages().empty());
  }
  for (unsigned i = 0; i < 5; ++i) records->workers[i]->written.add(2 * bytes / 4 - 1);
  // Two sets of records at once.
  const auto others = OrderGuardRecords::acquire_guard_records(bytes, 1);
  CHECK(others.get() != records.get());
}

TEST_CASE("core: order guard: rollback restores a line of several arrays and their written bits") {
  sim::Memory memory(uint64_t{1} << 24);
  sim::Allocation* full = memory.allocate_small(64, "full");
  sim::Allocation* part = memory.allocate_small(64, "part");
  REQUIRE((full->begin - sim::kGlobalBase) / UndoLog::kLine ==
          (part->begin - sim::kGlobalBase) / UndoLog::kLine);
  const std::vector<uint8_t> zeros(64, 0);
  memory.upload(full->begin, zeros.data(), 64);
  memory.upload(part->begin, zeros.data(), 4);
  REQUIRE(full->initialised);
  sim::SerialEquivalenceRollback guard(memory, 1, sim::SerialEquivalenceRollback::Mode::at_once,
                                       false);
  for (sim::Allocation* a : {full, part}) {
    uint64_t address[kWarpSize] = {a->begin + 32};
    guard.worker(0).record_write(*a, address, 1, 4, {});
    memory.mark_lanes_written(address, 1, 4);
  }
  CHECK(memory.is_written(part->begin + 32, 4));
  guard.rollback();
  CHECK(memory.is_written(full->begin + 32, 4));
  CHECK(!memory.is_written(part->begin + 32, 4));
  CHECK(memory.is_written(part->begin, 4));
}

TEST_CASE("core: order guard: a row that is read counts as 32 words that are read") {
  sim::Memory memory(uint64_t{1} << 24);
  sim::Allocation* a = memory.allocate(1 << 20, "a");
  const std::vector<uint8_t> zeros(1 << 20, 0);
  memory.upload(a->begin, zeros.data(), zeros.size());
  const auto row = [&](uint64_t word, uint64_t stride) {
    const uint64_t first = a->begin + 4 * word;
    return sim::StridedHalfWarpPair{{first, first + 16 * stride}, stride};
  };
  // The other thread reads next to the written words, or one of them.
  struct Case {
    uint64_t word, stride;
    unsigned bytes;
    bool clashes;
  };
  for (const Case& c : {Case{32, 4, 4, false}, Case{31, 4, 4, true}, Case{31, 0, 4, true},
                        Case{33, 0, 4, false}, Case{0, 8, 8, true}, Case{32, 8, 8, false}}) {
    CAPTURE(c.word);
    CAPTURE(c.stride);
    sim::SerialEquivalenceRollback guard(memory, 2, sim::SerialEquivalenceRollback::Mode::at_once,
                                         false);
    guard.track_by_word({a->index, 1000});  // the second index is not an allocation
    REQUIRE(guard.by_word());
    CHECK(guard.allocations_tracked_by_word() == std::vector<uint32_t>{a->index});
    guard.worker(0).record_strided_read(*a, row(0, 4), 4, {});
    guard.worker(0).record_strided_write(*a, row(0, 4), 4, {});
    guard.worker(1).record_strided_read(*a, row(c.word, c.stride), c.bytes, {});
    guard.worker(1).record_strided_read(*a, row(600, 4), 4, {});
    CHECK(guard.validate_round() == !c.clashes);
  }
}
