// cuBLAS handles, and what every function is wrapped in.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/cublas/turn.h"

struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessors = 0;  // cublasSetSmCountTarget: a hint
};

namespace lab32::cublas {

// With the runtime to itself. An Error is a refusal: what it says goes to stderr under `name`.
cublasStatus_t call(const char* name, const std::function<cublasStatus_t(Runtime&)>& body);

// CUBLAS_STATUS_NOT_INITIALIZED: no handle, or a destroyed one. Throws Error when its device is not
// the current one.
cublasStatus_t with_handle(const char* name, cublasHandle_t handle,
                           const std::function<cublasStatus_t(Runtime&)>& body);

// What a call does when its turn has come.
using Work = std::function<void(Runtime&, Turn&)>;

// Does it now, or notes it where the handle's stream is captured. As on an H100 a fault is reported
// by the next call that waits.
cublasStatus_t submit(Runtime& runtime, cublasHandle_t handle, const char* name,
                      const std::string& arguments, const Work& work);

// The same for a call that hands its result to the host: it waits, and cannot be captured.
cublasStatus_t submit_and_wait(Runtime& runtime, cublasHandle_t handle, const char* name,
                               const std::string& arguments, const Work& work);

// Says what BLAS says on stdout of a wrong argument, by its place; CUBLAS_STATUS_INVALID_VALUE.
// `routine`: "SGEMM ".
cublasStatus_t illegal(const char* routine, int parameter);

// A factor: of the host, when the call is made; or on the device, when its turn has come.
template <class T>
class Scalar {
 public:
  Scalar(cublasHandle_t handle, const char* name, const void* at) : name_(name) {
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
      at_ = at;
    else if (at)
      value_ = *static_cast<const T*>(at);
    known_ = at != nullptr;
  }
  bool is_null() const { return !known_; }
  // What the call can tell before its turn.
  std::optional<T> early() const {
    return known_ && !at_ ? std::optional<T>(value_) : std::nullopt;
  }
  T get(Turn& turn) const { return at_ ? *turn.read<T>(name_, at_, {1, 1, 1}) : value_; }

 private:
  const char* name_;
  const void* at_ = nullptr;
  T value_ = T();
  bool known_ = false;
};

// Where the functions of cuBLAS and cuBLASLt are, and those that are only there to say that they
// are not.

// As a program calls it: "cublasSsyrk" for cublasSsyrk_v2, where that is refused.
std::optional<std::string> refused_symbol(const std::string& symbol);

// What is said when it is called.
std::string refusal_of(const std::string& name);

}  // namespace lab32::cublas
