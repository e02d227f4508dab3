// Host memory: align_up() rounds sizes up, UninitialisedArray is an array without initialisation,
// and make_malloc_keep_freed_memory() tunes malloc for the simulator.
#pragma once

#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace lab32 {

// The smallest multiple of `unit` that is at least `value`. `unit` must not be 0.
template <class T>
constexpr T align_up(T value, std::common_type_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

// An array whose items are uninitialised, so that allocating a large one does not touch its memory.
// It is aligned to a cache line of the host.
template <class T>
class UninitialisedArray {
  static_assert(std::is_trivial_v<T>);

 public:
  // Throws std::bad_alloc.
  explicit UninitialisedArray(uint64_t count)
      : bytes_(align_up(count * sizeof(T), kCacheLine)),
        items_(static_cast<T*>(std::aligned_alloc(kCacheLine, bytes_))) {
    if (items_ == nullptr && bytes_ > 0) throw std::bad_alloc();
  }
  UninitialisedArray(const UninitialisedArray& other)
      : UninitialisedArray(other.bytes_ / sizeof(T)) {
    if (bytes_ > 0) std::memcpy(items_, other.items_, bytes_);
  }
  UninitialisedArray(UninitialisedArray&& other) noexcept
      : bytes_(std::exchange(other.bytes_, 0)), items_(std::exchange(other.items_, nullptr)) {}
  UninitialisedArray& operator=(UninitialisedArray other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(items_, other.items_);
    return *this;
  }
  ~UninitialisedArray() { std::free(items_); }

  T* data() { return items_; }
  const T* data() const { return items_; }
  T& operator[](uint64_t i) { return items_[i]; }

 private:
  static constexpr uint64_t kCacheLine = 64;
  uint64_t bytes_;
  T* items_;
};

// Called at the start of main(): makes malloc keep freed memory. A launch allocates and frees
// arrays of tens of MB, and the system would clear each of their pages again (a tenth of the time
// of a grading).
inline void make_malloc_keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
}

}  // namespace lab32
