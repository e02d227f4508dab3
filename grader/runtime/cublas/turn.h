// One call's work on device memory, when its turn in the stream has come: what it reads and writes
// is looked at first, then it is worked out on the host.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/cublas/values.h"
#include "runtime/cudart/runtime.h"
#include "runtime/record/recording.h"

namespace lab32::cublas {

using cudart::Runtime;

// Columns of `rows` elements, `leading` elements from one to the next.
struct Extent {
  int64_t rows = 0, columns = 0, leading = 0;
};
// n elements, `step` from one to the next; a negative step runs backwards over the same ones.
inline Extent vector_of(int64_t n, int64_t step) { return {1, n, step < 0 ? -step : step}; }

// Whether two matrices of elements of that size have one in common. Where that is not easily told
// (other leading dimensions, in each other's gaps), it is not said.
bool have_common(const void* a, const Extent& of_a, const void* b, const Extent& of_b,
                 uint64_t element);

// It is not there, or not whole: what a kernel of the library's would fault at.
struct Fault {
  cudaError_t error;
  std::string text;
};

class Turn {
 public:
  Turn(Runtime& runtime, record::LibraryCall& record) : runtime_(runtime), record_(record) {}

  // The host's addresses of what lies on the device. All are asked for before the first is
  // written. Throws Fault. What nobody has written is a finding where it is read.
  template <class T>
  const T* read(const char* name, const void* at, const Extent& extent) {
    return static_cast<const T*>(look(name, at, extent, sizeof(T), true, false));
  }
  template <class T>
  T* write(const char* name, void* at, const Extent& extent) {
    return update<T>(name, at, extent, false);
  }
  template <class T>
  T* update(const char* name, void* at, const Extent& extent, bool reads = true) {
    T* const found = static_cast<T*>(look(name, at, extent, sizeof(T), reads, true));
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>)
      made_.push_back([found, extent] {
        for (int64_t j = 0; j < extent.columns; ++j)
          for (int64_t i = 0; i < extent.rows; ++i) {
            T& x = found[j * extent.leading + i];
            x = canonical(x);
          }
      });
    return found;
  }

  // Bits that are moved stay as they are; those of results become the GPU's.
  void moves_bits() { made_.clear(); }
  void finish() const {
    for (const auto& f : made_) f();
  }

  // Additions and multiplications of single or double precision, for the least time it can take.
  void works(double operations) { operations_ += operations; }
  double least_seconds() const;

 private:
  void* look(const char* name, const void* at, const Extent& extent, uint64_t element, bool reads,
             bool writes);
  std::string described(const char* name, const Extent& extent, uint64_t element) const;

  Runtime& runtime_;
  record::LibraryCall& record_;
  std::vector<std::function<void()>> made_;
  double operations_ = 0, bytes_ = 0;
};

}  // namespace lab32::cublas
