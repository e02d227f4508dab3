// Digests of device memory, by which the simulator recognises a launch that repeats an earlier one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "simulator/core/memory/memory.h"

using namespace lab32;

TEST_CASE(
    "core: digest: it is equal for any number of host threads and differs for any changed byte") {
  constexpr uint64_t kBytes = (9 << 20) + 12;  // three pieces, the last one short
  sim::Memory memory(uint64_t{1} << 30);
  const sim::Allocation& a = *memory.allocate(kBytes, "a");
  std::mt19937 random(1);
  std::vector<uint32_t> words(kBytes / 4);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  memory.upload(a.begin, words.data(), kBytes);
  const auto of = [&](unsigned threads) { return sim::digest(memory, a, threads).digest; };
  const uint64_t before = of(1);
  for (const unsigned threads : {0u, 2u, 3u, 16u}) CHECK(of(threads) == before);
  CHECK(sim::digest(memory, 4).front().digest == before);

  for (const uint64_t word :
       {uint64_t{0}, uint64_t{1} << 20, (uint64_t{1} << 20) - 1, kBytes / 4 - 1}) {
    CAPTURE(word);
    const uint32_t other = words[word] ^ 0x10000;
    memory.upload(a.begin + 4 * word, &other, 4);
    CHECK(of(1) != before);
    CHECK(of(3) == of(1));
    memory.upload(a.begin + 4 * word, &words[word], 4);
    CHECK(of(2) == before);
  }
  // Two exchanged pieces.
  std::vector<uint32_t> swapped = words;
  std::swap_ranges(swapped.begin(), swapped.begin() + (1 << 20), swapped.begin() + (1 << 20));
  memory.upload(a.begin, swapped.data(), kBytes);
  CHECK(of(2) != before);
}
