// cuBLAS handles, and the wrapper around every cuBLAS function. call() takes the runtime's lock;
// with_handle() checks the handle, too; run_or_capture() executes a call's work, or adds it to the
// graph that captures the handle's stream.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/cublas/device_access.h"

struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessors = 0;  // cublasSetSmCountTarget; a hint without effect
};

namespace lab32::cublas {

// Calls `body` with the runtime locked. If `body` throws Error, its text goes to stderr as a
// refusal of the function `name`.
cublasStatus_t call(const char* name, const std::function<cublasStatus_t(Runtime&)>& body);

// As call(). CUBLAS_STATUS_NOT_INITIALIZED: the handle is null or was destroyed. Throws Error if
// the handle's device is not the current one.
cublasStatus_t with_handle(const char* name, cublasHandle_t handle,
                           const std::function<cublasStatus_t(Runtime&)>& body);

// The work of one call, which runs when the stream reaches it.
using Work = std::function<void(Runtime&, CheckedOperandAccess&)>;

// Executes the work now, or adds it to the graph while the handle's stream is captured. As on an
// H100, the next call that waits reports a fault.
cublasStatus_t run_or_capture(Runtime& runtime, cublasHandle_t handle, const char* name,
                              const std::string& arguments, const Work& work);

// Like run_or_capture(), for a call that returns its result to the host. It waits for the device
// and cannot be captured.
cublasStatus_t run_uncaptured_and_wait(Runtime& runtime, cublasHandle_t handle, const char* name,
                                       const std::string& arguments, const Work& work);

// Prints BLAS' message about a wrong argument on stdout and returns CUBLAS_STATUS_INVALID_VALUE.
// `parameter` is the argument's position, `routine` a name such as "SGEMM ".
cublasStatus_t report_illegal_parameter(const char* routine, int parameter);

// A scalar factor. A factor in host memory is read when the program makes the call, a factor in
// device memory when the work runs.
template <class T>
class ScalarFactor {
 public:
  ScalarFactor(cublasHandle_t handle, const char* name, const void* at) : name_(name) {
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
      at_ = at;
    else if (at)
      value_ = *static_cast<const T*>(at);
    known_ = at != nullptr;
  }
  bool is_null() const { return !known_; }
  // The value, if it is in host memory and thus known before the work runs.
  std::optional<T> value_if_known() const {
    return known_ && !at_ ? std::optional<T>(value_) : std::nullopt;
  }
  T get(CheckedOperandAccess& access) const {
    return at_ ? *access.pointer_to_read<T>(name_, at_, {1, 1, 1}) : value_;
  }

 private:
  const char* name_;
  const void* at_ = nullptr;
  T value_ = T();
  bool known_ = false;
};

// Symbols of cuBLAS and cuBLASLt. Some functions are simulated; the others exist only to refuse.

// The name in the program's source, such as "cublasSsyrk" for cublasSsyrk_v2; nullopt if the symbol
// is not refused.
std::optional<std::string> cublas_api_name_if_refused(const std::string& symbol);

// The message that a call of the refused function prints.
std::string refusal_message(const std::string& name);

}  // namespace lab32::cublas
