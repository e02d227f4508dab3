#include "runtime/cublas/handle.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/graph_work.h"
#include "runtime/cudart/launch.h"
#include "runtime/record/recording.h"

namespace lab32::cublas {
namespace {

std::set<cublasHandle_t>& live_handles() {
  static auto* all = new std::set<cublasHandle_t>;
  return *all;
}

void warn_event_times_lower_bound(Runtime& r, const char* name) {
  static bool said = false;
  if (!r.streams.timed() || std::exchange(said, true)) return;
  cudart::print_message(
      fmt::format("{} runs on the host and is not simulated: events around such calls measure a "
                  "lower bound, computed from their data and operations",
                  name));
}

// Executes the call's work at once. `lab32 check` reports the findings when the program has ended;
// in all other tools, a fault is printed immediately.
void execute_now(Runtime& r, cudaStream_t stream, const char* name, const std::string& arguments,
                 const Work& work) {
  if (r.gpu().fault) return;  // after a fault, a device executes nothing more
  record::RecordedLibraryCall record;
  record.name = name;
  record.arguments = arguments;
  record.launches = cudart::launches_recorded();
  record.stream = r.streams.is_default(stream) ? 7 : r.streams.id(stream) + 10;
  record.device = r.gpu().number;
  CheckedOperandAccess access(r, record);
  try {
    work(r, access);
    access.canonicalise_result_nans();
    r.gpu().timeline.advance(access.roofline_seconds());
    warn_event_times_lower_bound(r, name);
  } catch (const CublasOperandFault& fault) {
    r.gpu().fault = fault.error;
    if (r.tool == cudart::Tool::check)
      record.findings.push_back({record::RecordedLibraryCall::Finding::Kind::memory, fault.text});
    else
      cudart::print_message(fmt::format("{}: {}", name, fault.text));
  }
  if (const std::string path = environment_value(variables::kRecord); !path.empty())
    record::append_line(
        path, cudart::with_allocations_named_by_variable(record::to_json_record_line(record)));
}

// The status that an H100 returns for each error of the runtime (measured).
cublasStatus_t status_of_error(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

cublasStatus_t call(const char* name, const std::function<cublasStatus_t(Runtime&)>& body) {
  const std::lock_guard<std::recursive_mutex> lock(cudart::runtime_lock());
  try {
    Runtime& r = cudart::runtime();
    cudart::LaunchMemo::forget_digests();
    r.contexts.ensure_current_context();
    const cudart::DeviceScope on(r, cudart::Contexts::current_device());
    return body(r);
  } catch (const cudart::NotLoaded&) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  } catch (const Error& e) {
    cudart::report_unsupported_and_continue(fmt::format("{}: {}", name, e.what()));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  } catch (const std::exception& e) {
    cudart::report_unsupported_and_continue(fmt::format("{}: {}", name, e.what()));
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
}

cublasStatus_t with_handle(const char* name, cublasHandle_t handle,
                           const std::function<cublasStatus_t(Runtime&)>& body) {
  return call(name, [&](Runtime& r) {
    if (live_handles().count(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (handle->device != r.gpu().number)
      throw Error(fmt::format("its handle belongs to device {}, but the current device is {}",
                              handle->device, r.gpu().number));
    return body(r);
  });
}

cublasStatus_t run_or_capture(Runtime& r, cublasHandle_t handle, const char* name,
                              const std::string& arguments, const Work& work) {
  if (r.sticky) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!r.streams.knows(handle->stream)) throw Error("the stream of its handle was destroyed");
  const auto now = [=, stream = handle->stream](Runtime& on) {
    // A graph may be launched after the stream that it was captured in was destroyed.
    execute_now(on, on.streams.knows(stream) ? stream : nullptr, name, arguments, work);
    return cudaSuccess;
  };
  if (!r.captures.captures(handle->stream)) return status_of_error(now(r));
  return status_of_error(
      r.captures.add(handle->stream, cudaGraphNodeTypeKernel, cudart::work_on_current_device(now)));
}

cublasStatus_t run_uncaptured_and_wait(Runtime& r, cublasHandle_t handle, const char* name,
                                       const std::string& arguments, const Work& work) {
  if (r.sticky) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (r.captures.captures(handle->stream)) {
    r.captures.invalidate(handle->stream);
    cudart::store_last_error(cudaErrorStreamCaptureInvalidated);
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
  const cublasStatus_t status = run_or_capture(r, handle, name, arguments, work);
  r.wait_for(r.gpu());
  return r.sticky ? CUBLAS_STATUS_MAPPING_ERROR : status;
}

cublasStatus_t report_illegal_parameter(const char* routine, int parameter) {
  std::printf(" ** On entry to %-6s parameter number %d had an illegal value\n", routine,
              parameter);
  return CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace lab32::cublas

using namespace lab32::cublas;

// ---- handles and their settings ----------------------------------------------------------------

cublasStatus_t cublasCreate_v2(cublasHandle_t* out) {
  return call("cublasCreate", [&](Runtime& r) {
    if (!out) return CUBLAS_STATUS_INVALID_VALUE;
    if (r.sticky) return CUBLAS_STATUS_NOT_INITIALIZED;
    auto* made = new cublasContext;
    made->device = r.gpu().number;
    live_handles().insert(made);
    *out = made;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return call("cublasDestroy", [&](Runtime& r) {
    if (live_handles().erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    r.wait_for(r.gpu());
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return with_handle("cublasSetStream", handle, [&](Runtime& r) {
    if (!r.streams.knows(stream)) throw lab32::Error("the stream does not exist");
    if (!r.streams.is_on_current_device(stream))
      throw lab32::Error("the stream and the handle belong to different devices");
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* out) {
  return with_handle("cublasGetStream", handle, [&](Runtime&) {
    if (!out) return CUBLAS_STATUS_INVALID_VALUE;
    *out = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

#define LAB32_SETTING(get, set, called_get, called_set, Type, member, is_valid) \
  cublasStatus_t get(cublasHandle_t handle, Type* out) {                        \
    return with_handle(called_get, handle, [&](Runtime&) {                      \
      if (!out) return CUBLAS_STATUS_INVALID_VALUE;                             \
      *out = handle->member;                                                    \
      return CUBLAS_STATUS_SUCCESS;                                             \
    });                                                                         \
  }                                                                             \
  cublasStatus_t set(cublasHandle_t handle, Type value) {                       \
    return with_handle(called_set, handle, [&]([[maybe_unused]] Runtime& r) {   \
      if (!(is_valid)) return CUBLAS_STATUS_INVALID_VALUE;                      \
      handle->member = value;                                                   \
      return CUBLAS_STATUS_SUCCESS;                                             \
    });                                                                         \
  }                                                                             \
  static_assert(true)

// Each setting accepts the values that an H100 accepts.
LAB32_SETTING(cublasGetPointerMode_v2, cublasSetPointerMode_v2, "cublasGetPointerMode",
              "cublasSetPointerMode", cublasPointerMode_t, pointers,
              value == CUBLAS_POINTER_MODE_HOST || value == CUBLAS_POINTER_MODE_DEVICE);
LAB32_SETTING(cublasGetMathMode, cublasSetMathMode, "cublasGetMathMode", "cublasSetMathMode",
              cublasMath_t, math, (static_cast<unsigned>(value) & ~31u) == 0);
LAB32_SETTING(cublasGetAtomicsMode, cublasSetAtomicsMode, "cublasGetAtomicsMode",
              "cublasSetAtomicsMode", cublasAtomicsMode_t, atomics,
              value == CUBLAS_ATOMICS_NOT_ALLOWED || value == CUBLAS_ATOMICS_ALLOWED);
LAB32_SETTING(cublasGetSmCountTarget, cublasSetSmCountTarget, "cublasGetSmCountTarget",
              "cublasSetSmCountTarget", int, multiprocessors,
              value >= 0 && value <= static_cast<int>(r.profile.multiprocessors));

// The simulated cuBLAS needs no workspace on the device.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return with_handle("cublasSetWorkspace", handle, [](Runtime&) { return CUBLAS_STATUS_SUCCESS; });
}

// Properties of the library, which need no handle. cuBLASLt exports them under its own names, too.

namespace {

// The versions in CUDA 13.0.
constexpr int kMajor = 13, kMinor = 1, kPatch = 0, kRuntime = 13000;

struct CublasStatusText {
  cublasStatus_t status;
  const char *name, *text;
};

// Names and texts from an H100's library of CUDA 13.0.
constexpr CublasStatusText kStatuses[] = {
#define STATUS(name, text) \
  { name, #name, text }
    STATUS(CUBLAS_STATUS_SUCCESS, "success"),
    STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"),
    STATUS(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed"),
    STATUS(CUBLAS_STATUS_INVALID_VALUE,
           "an unsupported value or parameter was passed to the function"),
    STATUS(CUBLAS_STATUS_ARCH_MISMATCH,
           "the function requires an architectural feature absent from the device"),
    STATUS(CUBLAS_STATUS_MAPPING_ERROR, "an access to GPU memory space failed"),
    STATUS(CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch on the GPU"),
    STATUS(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed"),
    STATUS(CUBLAS_STATUS_NOT_SUPPORTED, "the requested functionality is not supported"),
    STATUS(CUBLAS_STATUS_LICENSE_ERROR, "the license check failed"),
#undef STATUS
};

CublasStatusText find_status_text(cublasStatus_t status) {
  for (const CublasStatusText& known : kStatuses)
    if (known.status == status) return known;
  return {status, "unrecognized status", "unrecognized status"};
}

cublasStatus_t store_version_property(libraryPropertyType which, int* out) {
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
  return store_version_property(which, out);
}
size_t cublasGetCudartVersion() { return kRuntime; }
const char* cublasGetStatusName(cublasStatus_t status) { return find_status_text(status).name; }
const char* cublasGetStatusString(cublasStatus_t status) { return find_status_text(status).text; }

// The simulated library writes no log.
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* out) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  *out = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

// cuBLASLt: programs get a handle and the library's version. Everything else is refused. cuBLASLt's
// header is not in every toolkit, so its types are declared here.
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
  return store_version_property(which, out);
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return find_status_text(status).name; }
const char* cublasLtGetStatusString(cublasStatus_t status) { return find_status_text(status).text; }
}
#pragma GCC visibility pop

namespace {

constexpr int kStatusNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED

// The name in the program's source: "cublasSsyrk" for cublasSsyrk_v2 and cublasSsyrk_v2_64.
std::string unversioned_api_name(const char* symbol) {
  std::string name = symbol;
  for (const char* ending : {"_64", "_v2"})
    if (const size_t n = std::strlen(ending);
        name.size() > n && name.compare(name.size() - n, n, ending) == 0)
      name.resize(name.size() - n);
  return name;
}

}  // namespace

// Other C++ names for the exported symbols, because no header declares all of them. The refusing
// functions ignore their arguments.
#define WORKS(symbol) extern "C" int work_##symbol() asm(#symbol);
#define REFUSES(symbol)                                                 \
  extern "C" int refuse_##symbol() asm(#symbol);                        \
  int refuse_##symbol() {                                               \
    lab32::cudart::report_unsupported_and_continue(                     \
        lab32::cublas::refusal_message(unversioned_api_name(#symbol))); \
    return kStatusNotSupported;                                         \
  }
#include "runtime/cublas/api.def"
#include "runtime/cublas/lt_api.def"
#undef WORKS
#undef REFUSES

namespace lab32::cublas {
namespace {

struct CublasSymbol {
  const char* symbol;
  bool is_simulated;
  void* address;
};

const CublasSymbol kSymbols[] = {
#define WORKS(symbol) {#symbol, true, reinterpret_cast<void*>(work_##symbol)},
#define REFUSES(symbol) {#symbol, false, reinterpret_cast<void*>(refuse_##symbol)},
#include "runtime/cublas/api.def"
#include "runtime/cublas/lt_api.def"
#undef WORKS
#undef REFUSES
};

}  // namespace

std::optional<std::string> cublas_api_name_if_refused(const std::string& symbol) {
  for (const CublasSymbol& s : kSymbols)
    if (!s.is_simulated && symbol == s.symbol) return unversioned_api_name(s.symbol);
  return std::nullopt;
}

std::string refusal_message(const std::string& name) {
  const bool light = name.rfind("cublasLt", 0) == 0;
  return fmt::format(
      "{} is not supported: {}", name,
      light ? "lab32's cuBLASLt has only handles; use cublasSgemm or cublasGemmEx for products"
            : "lab32's cuBLAS has products (gemm, batches, Ex), geam, dgmm, gemv, ger and the "
              "functions of vectors (grader/runtime/README.md)");
}

}  // namespace lab32::cublas

// For libcublas.so.13 and libcublasLt.so.13: the address of the simulated function of that name.
extern "C" __attribute__((visibility("default"))) void* lab32_cublas_symbol(const char* symbol) {
  for (const lab32::cublas::CublasSymbol& s : lab32::cublas::kSymbols)
    if (std::strcmp(s.symbol, symbol) == 0) return s.address;
  return nullptr;
}
