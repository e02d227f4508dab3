// Host memory that is reused: how much the pool keeps, and that old contents never become visible.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "simulator/core/memory/host_pages.h"
#include "simulator/core/memory/memory.h"

using namespace lab32;
using sim::PagePool;
using sim::SparseRecordArray;

TEST_CASE("core: page pool: a piece moves with its contents and leaves zeros") {
  // Empties the pool of pieces from other tests.
  const PagePool::ReservedRange others(PagePool::kKept, "a test");
  for (uint64_t at = 0; PagePool::process_wide().map_dirty_piece_from_pool(others.begin() + at);)
    at += PagePool::kPiece;
  const PagePool::ReservedRange range(4 * PagePool::kPiece, "a test");
  std::byte* const first = range.begin();
  std::byte* const second = first + 2 * PagePool::kPiece;
  CHECK(reinterpret_cast<uint64_t>(first) % PagePool::kPiece == 0);
  std::memset(first, 0x5a, PagePool::kPiece);
  PagePool::process_wide().move_piece_into_pool(first);
  CHECK(first[0] == std::byte{0});
  REQUIRE(
      PagePool::process_wide().map_dirty_piece_from_pool(second));  // the piece that was given last
  CHECK(second[0] == std::byte{0x5a});
  CHECK(second[PagePool::kPiece - 1] == std::byte{0x5a});
  PagePool::process_wide().move_piece_into_pool(second);
}

TEST_CASE("core: page pool: pieces beyond its capacity return to the system") {
  constexpr uint64_t kMany = 160;
  const PagePool::ReservedRange range(kMany * PagePool::kPiece, "a test");
  for (uint64_t i = 0; i < kMany; ++i) {
    range.begin()[i * PagePool::kPiece] = std::byte{1};
    PagePool::process_wide().move_piece_into_pool(range.begin() + i * PagePool::kPiece);
  }
  uint64_t kept = 0;
  while (kept < kMany && PagePool::process_wide().map_dirty_piece_from_pool(
                             range.begin() + kept * PagePool::kPiece))
    ++kept;
  CHECK(kept == 128);
  for (uint64_t i = kept; i < kMany; ++i)
    CHECK(range.begin()[i * PagePool::kPiece] == std::byte{0});
}

TEST_CASE("core: page pool: a new page of records is zero, whatever the piece held") {
  for (int round = 0; round < 3; ++round) {
    SparseRecordArray records(3 << 20);
    for (const uint64_t record : {uint64_t{0}, uint64_t{511}, uint64_t{512}, uint64_t{2'900'000}}) {
      records.ensure_page(record / SparseRecordArray::kPage);
      CHECK(records[record] == 0);
      records[record] = ~record;
      records.ensure_page(record / SparseRecordArray::kPage);
      CHECK(records[record] == ~record);
    }
    records.clear();
    records.ensure_page(0);
    CHECK(records[511] == 0);
    records[511] = 1;
  }
}

TEST_CASE("core: page pool: an array begins as poison at a new address") {
  sim::Memory memory(1 << 30);
  uint64_t last = 0;
  for (int round = 0; round < 4; ++round) {
    const uint64_t bytes = 5 * PagePool::kPiece + 1000;
    const uint64_t at = memory.allocate(bytes, "a")->begin;
    CHECK(at > last);
    last = at;
    for (const uint64_t i : {uint64_t{0}, PagePool::kPiece, bytes - 1}) {
      CHECK(*memory.host(at + i) == std::byte{0xff});
      CHECK_FALSE(memory.is_written(at + i, 1));
    }
    memory.fill(at, 7, bytes);
    const uint64_t neighbour = memory.allocate(100, "b")->begin;
    memory.fill(neighbour, 3, 100);
    memory.release(at);
    CHECK(*memory.host(neighbour) == std::byte{3});
    CHECK(*memory.host(at) == std::byte{0});
  }
}

TEST_CASE("core: page pool: freed arrays leave no mappings, of which a process may have 65,530") {
  const auto ranges = [] {
    std::ifstream maps("/proc/self/maps");
    size_t lines = 0;
    for (std::string line; std::getline(maps, line);) ++lines;
    return lines;
  };
  sim::Memory memory(uint64_t{64} << 30);
  const auto use = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const uint64_t a = memory.allocate(3 * PagePool::kPiece, "a")->begin;
      const uint64_t b = memory.allocate(5 * PagePool::kPiece + 100, "b")->begin;
      memory.allocate(100, "small");
      memory.release(a);
      memory.release(b);
    }
  };
  use(20);
  const size_t before = ranges();
  use(200);
  CHECK(ranges() < before + 100);
}

// ---------------------------------------------------------------------------------------------
// Large allocations, whose pages are provided on first access.

using namespace lab32;

namespace {

constexpr uint64_t kMany = uint64_t{2} << 30;

uint64_t process_resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  uint64_t whole = 0, resident = 0;
  pages >> whole >> resident;
  return resident * 4096;
}

std::byte at(const sim::Memory& memory, uint64_t address) {
  std::byte byte{};
  memory.download(&byte, address, 1);
  return byte;
}

}  // namespace

TEST_CASE("core: poison pages: two GB take no memory and hold poison everywhere") {
  sim::Memory memory(4 * kMany);
  const uint64_t before = process_resident_bytes();
  const sim::Allocation& a = *memory.allocate(kMany + 5000, "a");
  CHECK(memory.bytes_on_demand() == kMany + 5000);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{4097}, kMany / 3, kMany, kMany + 4999}) {
    CHECK(at(memory, a.begin + offset) == std::byte{0xff});
    CHECK_FALSE(memory.is_written(a.begin + offset, 1));
  }
  // The mapped file and the accessed pages.
  CHECK(process_resident_bytes() - before < kMany / 16);
  memory.release(a.begin);
  CHECK(memory.bytes_on_demand() == 0);
}

TEST_CASE("core: poison pages: written bytes stay, and all others are still poison") {
  constexpr uint64_t kPiece = sim::LazilyPoisonedPages::kPiece;
  sim::Memory memory(4 * kMany);
  const sim::Allocation& a = *memory.allocate(kMany, "a");
  const sim::Allocation& b = *memory.allocate(kMany, "b");
  const std::vector<std::byte> ones(3 * kPiece, std::byte{1});
  const auto piece = [&](const sim::Allocation& of, uint64_t offset, std::byte inside) {
    CHECK(at(memory, of.begin + offset - 1) == std::byte{0xff});
    for (const uint64_t i : {uint64_t{0}, kPiece, 2 * kPiece, 3 * kPiece - 1})
      CHECK(at(memory, of.begin + offset + i) == inside);
    CHECK(at(memory, of.begin + offset + 3 * kPiece) == std::byte{0xff});
  };
  memory.host(a.begin + 7 * kPiece)[0] = std::byte{9};  // as a kernel writes
  memory.upload(a.begin + 100, ones.data(), ones.size());
  piece(a, 100, std::byte{1});
  memory.fill(a.begin + 100, 2, 3 * kPiece);  // again
  piece(a, 100, std::byte{2});
  memory.fill(a.begin + 20 * kPiece, 3, 3 * kPiece);
  piece(a, 20 * kPiece, std::byte{3});
  memory.copy(b.begin + 5000, a.begin + 100, 3 * kPiece);
  piece(b, 5000, std::byte{2});
  memory.copy(a.begin + 100 + kPiece, a.begin + 100, 3 * kPiece);  // over itself
  CHECK(at(memory, a.begin + 100 + 4 * kPiece - 1) == std::byte{2});
  CHECK(at(memory, a.begin + 100 + 4 * kPiece) == std::byte{0xff});
  CHECK(at(memory, a.begin + 7 * kPiece) == std::byte{9});
  memory.poison(*memory.find(a.begin));
  for (const uint64_t i : {uint64_t{100}, 7 * kPiece, 21 * kPiece})
    CHECK(at(memory, a.begin + i) == std::byte{0xff});
  CHECK_FALSE(memory.is_written(a.begin + 100, 1));
  memory.release(a.begin);
  CHECK_THROWS(at(memory, a.begin));
  memory.undo_release(a.begin);
  CHECK(at(memory, a.begin + 100) == std::byte{0xff});
  CHECK(memory.bytes_on_demand() == 2 * kMany);
}
