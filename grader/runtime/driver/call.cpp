#include "runtime/driver/call.h"

#include <fmt/core.h>

#include <cstring>

#include "base/error.h"

namespace lab32::driver {

CUresult driver_result_of(cudaError_t error) {
  const int number = error;
  // Ranges of errors that only the runtime has: configurations, pitches, symbols, directions of
  // copies.
  constexpr int kRuntimes[][2] = {{9, 33}, {35, 45}, {47, 99}, {103, 199}};
  for (const auto& range : kRuntimes)
    if (number >= range[0] && number <= range[1]) return CUDA_ERROR_INVALID_VALUE;
  return static_cast<CUresult>(number);
}

const char* driver_error_name(cudaError_t error) {
  const char* name = nullptr;
  cuGetErrorName(driver_result_of(error), &name);
  return name ? name : cudart::error_name(error);
}

CUresult error_of_unmet_need(Needs needs) {
  if (needs == Needs::nothing) return CUDA_SUCCESS;
  const std::lock_guard<std::recursive_mutex> lock(cudart::runtime_lock());
  if (!cudart::Contexts::is_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::init) return CUDA_SUCCESS;
  cudart::Contexts::Context context = cudart::Contexts::current();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return cudart::runtime().contexts.knows(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult call(const char* name, Needs needs, Waits waits,
              const std::function<CUresult(Runtime&)>& body) {
  // A function that needs no context does not report an earlier fault.
  if (needs != Needs::context && waits == Waits::no) waits = Waits::regardless;
  return forward_to_runtime(name, needs, [&] {
    return cudart::call(name, waits, [&](Runtime& r) { return error(body(r)); });
  });
}

}  // namespace lab32::driver

// The table of the driver's functions, and the functions that exist only to be refused.
// libcuda.so.1, cuGetProcAddress, and the runtime's functions that return driver entry points use
// it.

// The functions get other C++ names, because the toolkit's header declares them with their
// parameters, which a refusing function ignores.
#define WORKS(symbol, name, version)
#define REFUSES(symbol, name, version)                                                     \
  extern "C" CUresult refuse_##symbol() asm(#symbol);                                      \
  CUresult refuse_##symbol() {                                                             \
    lab32::cudart::report_unsupported_and_continue(lab32::driver::refusal_message(#name)); \
    return CUDA_ERROR_NOT_SUPPORTED;                                                       \
  }
#include "runtime/driver/api.def"
#undef WORKS
#undef REFUSES

namespace lab32::driver {
namespace {

enum class Form : uint8_t { legacy, per_thread };

struct DriverSymbol {
  const char *symbol, *name;
  int version;  // the CUDA version that introduced the function, such as 3020
  bool is_simulated;
  void* address;

  // As in cuMemcpyHtoD_v2_ptds and cuLaunchKernel_ptsz.
  bool is_per_thread_stream_variant() const {
    const size_t length = std::strlen(symbol);
    return length > 5 && (!std::strcmp(symbol + length - 5, "_ptds") ||
                          !std::strcmp(symbol + length - 5, "_ptsz"));
  }
};

const DriverSymbol kSymbols[] = {
#define WORKS(symbol, name, version) \
  {#symbol, #name, version, true, reinterpret_cast<void*>(symbol)},
#define REFUSES(symbol, name, version) \
  {#symbol, #name, version, false, reinterpret_cast<void*>(refuse_##symbol)},
#include "runtime/driver/api.def"
#undef WORKS
#undef REFUSES
};

// The newest function of that name that CUDA `version` has. If `form` asks for it, the variant for
// the per-thread stream, if there is one.
const DriverSymbol* find_symbol(const char* name, int version, Form form) {
  const DriverSymbol* best = nullptr;
  for (const DriverSymbol& s : kSymbols) {
    if (std::strcmp(s.name, name) != 0 || s.version > version) continue;
    if (s.is_per_thread_stream_variant() && form == Form::legacy) continue;
    const bool better = !best || s.version > best->version ||
                        (s.version == best->version && s.is_per_thread_stream_variant());
    if (better) best = &s;
  }
  return best;
}

CUresult store_entry_point(const char* name, void** out, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult* status) {
  if (!name || !out) return CUDA_ERROR_INVALID_VALUE;
  const Form form =
      flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? Form::per_thread : Form::legacy;
  const DriverSymbol* found = find_symbol(name, version, form);
  *out = found ? found->address : nullptr;
  if (status)
    *status = found                                   ? CU_GET_PROC_ADDRESS_SUCCESS
              : find_symbol(name, CUDA_VERSION, form) ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;  // a driver of CUDA 13 returns success even for an unknown name
}

cudaError_t store_entry_point(const char* name, void** out, unsigned version,
                              unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return cudart::call("cudaGetDriverEntryPoint", Waits::no, [&](Runtime&) {
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult e = store_entry_point(name, out, static_cast<int>(version), flags, &result);
    if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
    if (e == CUDA_SUCCESS && !*out && !status) return cudaErrorSymbolNotFound;
    return static_cast<cudaError_t>(e);
  });
}

}  // namespace

std::optional<std::string> api_name_if_refused(const std::string& symbol) {
  for (const DriverSymbol& s : kSymbols)
    if (!s.is_simulated && symbol == s.symbol) return s.name;
  return std::nullopt;
}

std::string refusal_message(const std::string& name) {
  return fmt::format("{} is not supported by the simulated driver", name);
}

}  // namespace lab32::driver

using namespace lab32::driver;

CUresult cuGetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return store_entry_point(name, out, version, flags, status);
}
CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  const CUresult result = store_entry_point(name, out, version, flags, nullptr);
  return result == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : result;
}

// NVIDIA's tools and static runtime ask for undocumented tables of functions. Without this one, a
// statically linked runtime does not start.
constexpr unsigned char kStaticRuntime[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                            0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
CUresult cuGetExportTable(const void** out, const CUuuid* id) {
  return lab32::driver::call("cuGetExportTable", Needs::nothing, Waits::no, [&](Runtime&) {
    if (!out || !id) return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    if (std::memcmp(id->bytes, kStaticRuntime, sizeof kStaticRuntime) == 0)
      throw lab32::Error(
          "the program or one of its libraries contains NVIDIA's CUDA runtime (usually linked "
          "statically), which needs undocumented functions of the driver: build with nvcc -cudart "
          "shared to use lab32's runtime");
    return CUDA_ERROR_NOT_FOUND;
  });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return store_entry_point(name, out, version, flags, status);
}
LAB32_PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
cudaError_t cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return store_entry_point(name, out, CUDART_VERSION, flags, status);
}
LAB32_PER_THREAD(cudaGetDriverEntryPoint, _ptsz);

// Returns the address of the driver function of that name; libcuda.so.1 forwards to it.
extern "C" __attribute__((visibility("default"))) void* lab32_driver_symbol(const char* symbol) {
  for (const DriverSymbol& s : kSymbols)
    if (std::strcmp(s.symbol, symbol) == 0) return s.address;
  return nullptr;
}
