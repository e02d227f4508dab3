// What the library says of itself, without a handle; also under cuBLASLt's names.

#include <cstddef>
#include <iterator>

#include "runtime/cublas/api.h"
#include "runtime/cublas/handle.h"

using namespace lab32::cublas;

namespace {

// That of CUDA 13.0.
constexpr int kMajor = 13, kMinor = 1, kPatch = 0, kRuntime = 13000;

const char* name_of(cublasStatus_t status) {
  switch (status) {
#define STATUS(name, text) \
  case name:               \
    return #name;
#include "runtime/cublas/statuses.def"
#undef STATUS
  }
  return "unrecognized status";
}

const char* text_of(cublasStatus_t status) {
  switch (status) {
#define STATUS(name, text) \
  case name:               \
    return text;
#include "runtime/cublas/statuses.def"
#undef STATUS
  }
  return "unrecognized status";
}

cublasStatus_t property(libraryPropertyType which, int* out) {
  const int values[] = {kMajor, kMinor, kPatch};
  const auto index = static_cast<size_t>(which);
  if (!out || index >= std::size(values)) return CUBLAS_STATUS_INVALID_VALUE;
  *out = values[index];
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* out) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  *out = kMajor * 10000 + kMinor * 100 + kPatch;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType which, int* out) {
  return property(which, out);
}
size_t cublasGetCudartVersion() { return kRuntime; }
const char* cublasGetStatusName(cublasStatus_t status) { return name_of(status); }
const char* cublasGetStatusString(cublasStatus_t status) { return text_of(status); }

// There is no log.
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* out) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  *out = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

// Of cuBLASLt programs have a handle, and what they ask before they use it. (Its header is not in
// every toolkit.)
struct cublasLtContext {};
cublasStatus_t cublasLtCreate(cublasLtContext** out) {
  return call("cublasLtCreate", [&](Runtime& r) {
    if (!out) return CUBLAS_STATUS_INVALID_VALUE;
    if (r.sticky) return CUBLAS_STATUS_NOT_INITIALIZED;
    *out = new cublasLtContext;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasLtDestroy(cublasLtContext* handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return kMajor * 10000 + kMinor * 100 + kPatch; }
size_t cublasLtGetCudartVersion() { return kRuntime; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType which, int* out) {
  return property(which, out);
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return name_of(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return text_of(status); }
}
#pragma GCC visibility pop
