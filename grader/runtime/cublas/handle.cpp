#include "runtime/cublas/handle.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/error.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/graph_work.h"
#include "runtime/cudart/launch.h"
#include "runtime/cudart/say.h"
#include "runtime/record/recording.h"

namespace lab32::cublas {
namespace {

std::set<cublasHandle_t>& handles() {
  static auto* all = new std::set<cublasHandle_t>;
  return *all;
}

void say_that_times_are_least(Runtime& r, const char* name) {
  static bool said = false;
  if (!r.streams.timed() || std::exchange(said, true)) return;
  cudart::say(
      fmt::format("{}: a library call, not simulated: events around it and its like see the least "
                  "time that its data and operations take",
                  name));
}

// Its findings are for `lab32 check`, which shows them when the program has ended; elsewhere a
// fault is said at once.
void do_now(Runtime& r, cudaStream_t stream, const char* name, const std::string& arguments,
            const Work& work) {
  if (r.gpu().fault) return;  // the device does nothing more
  record::LibraryCall record;
  record.name = name;
  record.arguments = arguments;
  record.launches = cudart::launches_recorded();
  record.stream = r.streams.is_default(stream) ? 7 : r.streams.id(stream) + 10;
  record.device = r.gpu().number;
  Turn turn(r, record);
  try {
    work(r, turn);
    turn.finish();
    r.gpu().timeline.advance(turn.least_seconds());
    say_that_times_are_least(r, name);
  } catch (const Fault& fault) {
    r.gpu().fault = fault.error;
    if (r.tool == cudart::Tool::check)
      record.findings.push_back({record::LibraryCall::Finding::Kind::memory, fault.text});
    else
      cudart::say(fmt::format("{}: {}", name, fault.text));
  }
  if (const char* path = std::getenv("LAB32_RECORD"); path && *path)
    record::append_line(path, record::to_line(record));
}

// H100, measured: what is reported of each error of the runtime's.
cublasStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

cublasStatus_t call(const char* name, const std::function<cublasStatus_t(Runtime&)>& body) {
  const std::lock_guard<std::recursive_mutex> lock(cudart::runtime_lock());
  try {
    Runtime& r = cudart::runtime();
    cudart::Repeats::forget_look();
    r.contexts.use_primary();
    const cudart::OnDevice on(r, cudart::Contexts::current_device());
    return body(r);
  } catch (const cudart::NotLoaded&) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  } catch (const Error& e) {
    cudart::refuse(fmt::format("{}: {}", name, e.what()));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  } catch (const std::exception& e) {
    cudart::refuse(fmt::format("{}: {}", name, e.what()));
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
}

cublasStatus_t with_handle(const char* name, cublasHandle_t handle,
                           const std::function<cublasStatus_t(Runtime&)>& body) {
  return call(name, [&](Runtime& r) {
    if (handles().count(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (handle->device != r.gpu().number)
      throw Error(fmt::format("its handle is of device {}, and the current one is device {}",
                              handle->device, r.gpu().number));
    return body(r);
  });
}

cublasStatus_t submit(Runtime& r, cublasHandle_t handle, const char* name,
                      const std::string& arguments, const Work& work) {
  if (r.sticky) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!r.streams.knows(handle->stream)) throw Error("the stream of its handle was destroyed");
  const auto now = [=, stream = handle->stream](Runtime& on) {
    // A graph may be launched after its stream is gone.
    do_now(on, on.streams.knows(stream) ? stream : nullptr, name, arguments, work);
    return cudaSuccess;
  };
  if (!r.captures.captures(handle->stream)) return status_of(now(r));
  return status_of(
      r.captures.add(handle->stream, cudaGraphNodeTypeKernel, cudart::on_this_device(now)));
}

cublasStatus_t submit_and_wait(Runtime& r, cublasHandle_t handle, const char* name,
                               const std::string& arguments, const Work& work) {
  if (r.sticky) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (r.captures.captures(handle->stream)) {
    r.captures.invalidate(handle->stream);
    cudart::remember(cudaErrorStreamCaptureInvalidated);
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
  const cublasStatus_t status = submit(r, handle, name, arguments, work);
  r.wait_for(r.gpu());
  return r.sticky ? CUBLAS_STATUS_MAPPING_ERROR : status;
}

cublasStatus_t illegal(const char* routine, int parameter) {
  std::printf(" ** On entry to %-6s parameter number %d had an illegal value\n", routine,
              parameter);
  return CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace lab32::cublas

using namespace lab32::cublas;

// ---- handles, and what is set of them
// ------------------------------------------------------------

cublasStatus_t cublasCreate_v2(cublasHandle_t* out) {
  return call("cublasCreate", [&](Runtime& r) {
    if (!out) return CUBLAS_STATUS_INVALID_VALUE;
    if (r.sticky) return CUBLAS_STATUS_NOT_INITIALIZED;
    auto* made = new cublasContext;
    made->device = r.gpu().number;
    handles().insert(made);
    *out = made;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return call("cublasDestroy", [&](Runtime& r) {
    if (handles().erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    r.wait_for(r.gpu());
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return with_handle("cublasSetStream", handle, [&](Runtime& r) {
    if (!r.streams.knows(stream)) throw lab32::Error("there is no such stream");
    if (!r.streams.is_here(stream))
      throw lab32::Error("the stream is of another device than the handle");
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

// Which values are taken is as on an H100.
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

// Nothing here needs room on the device.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return with_handle("cublasSetWorkspace", handle, [](Runtime&) { return CUBLAS_STATUS_SUCCESS; });
}
