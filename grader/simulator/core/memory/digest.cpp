// Digests of allocations (memory.h).
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "simulator/core/memory/memory.h"

namespace lab32::sim {
namespace {

// The rounds of xxHash's XXH64, in eight lanes instead of four: two multiplications for each 8
// bytes, as fast as memory. A single multiplication is not enough, because two flipped sign bits
// would cancel.
constexpr uint64_t kPrime1 = 0x9e37'79b1'85eb'ca87, kPrime2 = 0xc2b2'ae3d'27d4'eb4f,
                   kPrime3 = 0x1656'67b1'9e37'79f9;

uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }
uint64_t round(uint64_t sum, uint64_t word) { return rotate(sum + word * kPrime2, 31) * kPrime1; }

uint64_t mix_bits(uint64_t x) {
  x = (x ^ x >> 33) * kPrime2;
  x = (x ^ x >> 29) * kPrime3;
  return x ^ x >> 32;
}

uint64_t hash_bytes(const void* from, uint64_t bytes, uint64_t seed) {
  constexpr uint64_t kLanes = 8, kStep = kLanes * sizeof(uint64_t);
  const auto* at = static_cast<const std::byte*>(from);
  uint64_t lane[kLanes];
  for (uint64_t i = 0; i < kLanes; ++i) lane[i] = seed + i * kPrime1;
  uint64_t left = bytes;
  for (; left >= kStep; left -= kStep, at += kStep) {
    uint64_t word[kLanes];
    std::memcpy(word, at, kStep);
    for (uint64_t i = 0; i < kLanes; ++i) lane[i] = round(lane[i], word[i]);
  }
  uint64_t rest[kLanes] = {};
  if (left > 0) std::memcpy(rest, at, left);
  uint64_t sum = seed ^ bytes * kPrime3;
  for (uint64_t i = 0; i < kLanes; ++i)
    sum = mix_bits(sum ^ round(lane[i], rest[i])) * kPrime1 + kPrime3;
  return mix_bits(sum);
}

// Hashes pieces in parallel and then their hashes, so the result does not depend on the number of
// host threads.
uint64_t hash_in_parallel(const std::byte* from, uint64_t bytes, uint64_t seed, unsigned threads) {
  constexpr uint64_t kPiece = 4 << 20;
  if (bytes <= kPiece) return hash_bytes(from, bytes, seed);
  std::vector<uint64_t> sums((bytes + kPiece - 1) / kPiece);
  std::atomic<uint64_t> next{0};
  const auto work = [&] {
    for (uint64_t i; (i = next.fetch_add(1)) < sums.size();)
      sums[i] = hash_bytes(from + i * kPiece, std::min(kPiece, bytes - i * kPiece), seed);
  };
  if (threads == 0) threads = std::thread::hardware_concurrency();
  std::vector<std::thread> others;
  for (uint64_t i = 1; i < std::min<uint64_t>(threads, sums.size()); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return hash_bytes(sums.data(), sums.size() * sizeof(uint64_t), seed);
}

bool is_digested(const Allocation& a) { return !a.freed && !a.scratch; }

}  // namespace

std::vector<AllocationDigest> digest(const Memory& memory, unsigned threads) {
  std::vector<AllocationDigest> all;
  for (const auto& a : memory.allocations())
    if (is_digested(*a)) all.push_back(digest(memory, *a, threads));
  return all;
}

AllocationDigest digest(const Memory& memory, const Allocation& a, unsigned threads) {
  const uint64_t bytes = a.end - a.begin;
  uint64_t sum = a.reached_by ? *a.reached_by : ~uint64_t{0};
  sum = hash_bytes(a.pieces.data(), a.pieces.size(), sum);
  sum = hash_in_parallel(memory.host(a.begin), bytes, sum, threads);
  const auto* const written =
      reinterpret_cast<const std::byte*>(memory.written_bits() + (a.begin - kGlobalBase) / 8);
  sum = hash_in_parallel(written, (bytes + 7) / 8, sum, threads);
  return {a.index, sum};
}

uint64_t bytes_to_digest(const Memory& memory) {
  uint64_t sum = 0;
  for (const auto& a : memory.allocations())
    if (is_digested(*a)) sum += (a->end - a->begin) * 9 / 8;
  return sum;
}

}  // namespace lab32::sim
