// A hash of texts and a generator of random inputs, both with the same results on every machine and
// with every standard library.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lab32 {

// FNV-1a, the grader's hash of texts. It is the same on every machine and in every run, so it may
// name files and streams of random numbers. It is not secure against an adversary, and it takes a
// byte at a time: device memory has a faster hash (simulator/core/memory/digest.cpp).
constexpr uint64_t kHashBasis = 0xcbf29ce484222325u;

// A different basis gives an independent hash.
constexpr uint64_t hash_of(std::string_view bytes, uint64_t basis = kHashBasis) {
  uint64_t hash = basis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Random inputs that are the same on every machine; the distributions of <random> differ between
// standard libraries.
//
// The generator is SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, and every seed is a good
// one. Its functions are always inlined: inputs have millions of elements, and a call for each
// would cost a fifth of the time of checking a sum.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  [[gnu::always_inline]] uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in 0 .. bound - 1, from the high half of a product; its bias of bound / 2^32 does not
  // matter here.
  [[gnu::always_inline]] uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>((bits() >> 32) * uint64_t{bound} >> 32);
  }

  // A random number, uniform in [-1, 1) in steps of 2^-23, which a float represents exactly.
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

// The seed of a test's own random stream, derived from the test's name, so that its inputs do not
// depend on which other tests ran.
inline uint64_t seed_of_stream(uint64_t seed, std::string_view name) {
  return Random(seed ^ hash_of(name)).bits();
}

}  // namespace lab32
