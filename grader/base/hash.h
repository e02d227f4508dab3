// FNV-1a, the grader's one hash of texts: the same on every machine and in every run, so it may
// name files and streams of random numbers. Not against an adversary, and a byte at a time: all of
// device memory has a faster one (simulator/core/memory/digest.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace lab32 {

constexpr uint64_t kHashBasis = 0xcbf29ce484222325u;

// Another basis gives another, independent hash.
constexpr uint64_t hash_of(std::string_view bytes, uint64_t basis = kHashBasis) {
  uint64_t hash = basis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace lab32
