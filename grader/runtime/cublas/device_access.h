// The accesses of one cuBLAS call to device memory. When the stream reaches the call, the call asks
// for the host address of each operand. Each request checks that the operand is in allocated and
// initialised memory. Then the host computes the result in place.
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

// A matrix: columns of `rows` elements; `leading` elements from the start of a column to that of
// the next.
struct MatrixExtent {
  int64_t rows = 0, columns = 0, leading = 0;
};
// A vector as a matrix of one row: n elements, `step` elements apart. A negative step covers the
// same elements backwards.
inline MatrixExtent vector_of(int64_t n, int64_t step) { return {1, n, step < 0 ? -step : step}; }

// Whether two matrices with elements of that size overlap. Returns false in cases that are hard to
// decide: different leading dimensions, or one matrix in the gaps of the other.
bool operands_overlap(const void* a, const MatrixExtent& of_a, const void* b,
                      const MatrixExtent& of_b, uint64_t element);

// An operand is not in allocated memory, or only partly; cuBLAS' kernel would fault on a GPU.
struct CublasOperandFault {
  cudaError_t error;
  std::string text;
};

class CheckedOperandAccess {
 public:
  CheckedOperandAccess(Runtime& runtime, record::RecordedLibraryCall& record)
      : runtime_(runtime), record_(record) {}

  // The host address of an operand in device memory. Call these functions for all operands before
  // the first write. Throws CublasOperandFault. A read of uninitialised memory is recorded as a
  // finding.
  template <class T>
  const T* pointer_to_read(const char* name, const void* at, const MatrixExtent& extent) {
    return static_cast<const T*>(
        checked_device_operand_pointer(name, at, extent, sizeof(T), true, false));
  }
  template <class T>
  T* pointer_to_write(const char* name, void* at, const MatrixExtent& extent) {
    return pointer_to_update<T>(name, at, extent, false);
  }
  template <class T>
  T* pointer_to_update(const char* name, void* at, const MatrixExtent& extent, bool reads = true) {
    T* const found =
        static_cast<T*>(checked_device_operand_pointer(name, at, extent, sizeof(T), reads, true));
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>)
      canonicalise_.push_back([found, extent] {
        for (int64_t j = 0; j < extent.columns; ++j)
          for (int64_t i = 0; i < extent.rows; ++i) {
            T& x = found[j * extent.leading + i];
            x = with_canonical_nan(x);
          }
      });
    return found;
  }

  // For cuBLAS functions that only move elements (copy, swap), after the pointers were requested:
  // NaNs in the results keep their bits. In others they get the bits that the GPU computes.
  void keep_bits() { canonicalise_.clear(); }
  void canonicalise_result_nans() const {
    for (const auto& f : canonicalise_) f();
  }

  // Adds single or double precision operations to the sum from which roofline_seconds() computes
  // a lower bound of the call's time.
  void count_operations(double operations) { operations_ += operations; }
  double roofline_seconds() const;

 private:
  void* checked_device_operand_pointer(const char* name, const void* at, const MatrixExtent& extent,
                                       uint64_t element, bool reads, bool writes);
  std::string operand_text(const char* name, const MatrixExtent& extent, uint64_t element) const;

  Runtime& runtime_;
  record::RecordedLibraryCall& record_;
  std::vector<std::function<void()>> canonicalise_;
  double operations_ = 0, bytes_ = 0;
};

}  // namespace lab32::cublas
