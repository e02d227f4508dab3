// Large allocations, whose pages come when they are touched.
#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "simulator/core/memory/memory.h"

using namespace lab32;

namespace {

constexpr uint64_t kMany = uint64_t{2} << 30;

uint64_t resident_bytes() {
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

TEST_CASE("core: poison pages: two GB take no memory, and hold poison wherever one looks") {
  sim::Memory memory(4 * kMany);
  const uint64_t before = resident_bytes();
  const sim::Allocation& a = *memory.allocate(kMany + 5000, "a");
  CHECK(memory.bytes_on_demand() == kMany + 5000);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{4097}, kMany / 3, kMany, kMany + 4999}) {
    CHECK(at(memory, a.begin + offset) == std::byte{0xff});
    CHECK_FALSE(memory.written(a.begin + offset, 1));
  }
  // The file that is mapped, and what was touched.
  CHECK(resident_bytes() - before < kMany / 16);
  memory.release(a.begin);
  CHECK(memory.bytes_on_demand() == 0);
}

TEST_CASE("core: poison pages: what is written stays, what is not is poison still") {
  constexpr uint64_t kPiece = sim::PoisonPages::kPiece;
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
  memory.host(a.begin + 7 * kPiece)[0] = std::byte{9};  // a kernel's
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
  CHECK_FALSE(memory.written(a.begin + 100, 1));
  memory.release(a.begin);
  CHECK_THROWS(at(memory, a.begin));
  memory.revive(a.begin);
  CHECK(at(memory, a.begin + 100) == std::byte{0xff});
  CHECK(memory.bytes_on_demand() == 2 * kMany);
}
