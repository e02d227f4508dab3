// An array whose items hold nothing until they are written: a large one costs no pass over it. It
// begins where a line of the host's cache does.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/align.h"

namespace lab32 {

template <class T>
class RawArray {
  static_assert(std::is_trivial_v<T>);

 public:
  // Throws std::bad_alloc.
  explicit RawArray(uint64_t count)
      : bytes_(align_up(count * sizeof(T), kCacheLine)),
        items_(static_cast<T*>(std::aligned_alloc(kCacheLine, bytes_))) {
    if (items_ == nullptr && bytes_ > 0) throw std::bad_alloc();
  }
  RawArray(const RawArray& other) : RawArray(other.bytes_ / sizeof(T)) {
    if (bytes_ > 0) std::memcpy(items_, other.items_, bytes_);
  }
  RawArray(RawArray&& other) noexcept
      : bytes_(std::exchange(other.bytes_, 0)), items_(std::exchange(other.items_, nullptr)) {}
  RawArray& operator=(RawArray other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(items_, other.items_);
    return *this;
  }
  ~RawArray() { std::free(items_); }

  T* data() { return items_; }
  const T* data() const { return items_; }
  T& operator[](uint64_t i) { return items_[i]; }

 private:
  static constexpr uint64_t kCacheLine = 64;
  uint64_t bytes_;
  T* items_;
};

}  // namespace lab32
