// A hash of texts, and random inputs, both the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lab32 {

// FNV-1a, the grader's one hash of texts: the same on every machine and in every run, so it may
// name files and streams of random numbers. Not against an adversary, and a byte at a time: all of
// device memory has a faster one (simulator/core/memory/digest.cpp).
constexpr uint64_t kHashBasis = 0xcbf29ce484222325u;

// Another basis gives another, independent hash.
constexpr uint64_t hash_of(std::string_view bytes, uint64_t basis = kHashBasis) {
  uint64_t hash = basis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Random inputs that are the same on every machine and with every standard library: <random>'s
// distributions are not.
//
// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, every seed is a good one.
// Inputs have millions of elements: a call for each would cost a fifth of checking a sum, and most
// of the grader is compiled so that nothing is inlined by itself.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  [[gnu::always_inline]] uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // 0 .. bound - 1. The high half of a product: a bias of bound / 2^32 does not matter here.
  [[gnu::always_inline]] uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>((bits() >> 32) * uint64_t{bound} >> 32);
  }

  // [-1, 1) in steps of 2^-23: exact in a float, and never 0 for a whole array by accident.
  [[gnu::always_inline]] float unit() { return static_cast<float>(bits() >> 40) * 0x1p-23f - 1.0f; }

  std::vector<float> floats(size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = unit();
    return values;
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[below(static_cast<uint32_t>(i))]);
  }

 private:
  uint64_t state_;
};

// Each test draws from a stream of its own, named by the test, so that its inputs do not
// depend on which other tests ran.
inline uint64_t stream_of(uint64_t seed, std::string_view name) {
  return Random(seed ^ hash_of(name)).bits();
}

}  // namespace lab32
