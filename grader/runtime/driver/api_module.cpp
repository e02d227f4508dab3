// The driver's functions of modules, libraries and the linker, and the runtime's library functions,
// which use them.

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "base/files.h"
#include "runtime/driver/call.h"
#include "runtime/driver/modules.h"

using namespace lab32::driver;

namespace {

// Calls a function that reads an image. Errors in the image go to the program's log buffer.
CUresult call_that_reads_image(const char* name, Needs needs, JitLogBuffers options,
                               const std::function<CUresult(Runtime&)>& body) {
  return call(name, needs, Waits::no, [&](Runtime& r) {
    try {
      const CUresult result = body(r);
      options.put_info("");
      options.put_errors("");
      return result;
    } catch (const BadImage& bad) {
      options.put_info("");
      options.put_errors(bad.log);
      return bad.error;
    }
  });
}

CUresult load_module_or_library(const char* name, CUmodule* out, const void* image,
                                const JitLogBuffers& options, const char* path = "") {
  return call_that_reads_image(name, Needs::context, options, [&](Runtime& r) {
    if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
    *out = modules().load(r, image, path);
    return CUDA_SUCCESS;
  });
}

CUresult load_module_or_library(const char* name, CUlibrary* out, const void* image,
                                const JitLogBuffers& options, const char* path = "") {
  return call_that_reads_image(name, Needs::init, options, [&](Runtime& r) {
    if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
    *out = modules().load_library(r, image, path);
    return CUDA_SUCCESS;
  });
}

CUresult with_module(const char* name, CUmodule module,
                     const std::function<CUresult(Runtime&, CUmod_st&)>& body) {
  return call(name, [&](Runtime& r) {
    const bool known = modules().knows(module) || (module && modules().knows(module->library));
    if (!known) return CUDA_ERROR_INVALID_HANDLE;
    // A module is on the device of its context, whichever context is current.
    const lab32::cudart::DeviceScope on(r,
                                        module->context ? module->context->device : r.gpu().number);
    return body(r, *module);
  });
}

CUresult with_library(const char* name, CUlibrary library,
                      const std::function<CUresult(Runtime&, CUmod_st&)>& body) {
  return call(name, Needs::init, Waits::no, [&](Runtime& r) {
    return modules().knows(library) ? body(r, library->module) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult find_kernel_of_module(Runtime& r, const CUmod_st& module, const char* name,
                               KernelEntry** out) {
  if (!out || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
  *out = find_kernel(r, module, name);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult find_variable(const CUmod_st& module, const char* name, CUdeviceptr* address,
                       size_t* bytes) {
  if (!name || !*name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  const auto kernels = module.binary->here()->kernel_symbols();
  if (std::find(kernels.begin(), kernels.end(), name) != kernels.end())
    return CUDA_ERROR_INVALID_VALUE;
  const auto where = module.binary->here()->symbol(name);
  if (!where) return CUDA_ERROR_NOT_FOUND;
  if (address) *address = where->address;
  if (bytes) *bytes = where->bytes;
  return CUDA_SUCCESS;
}

// Stores the handles of as many kernels as there is room for.
void list_kernels(Runtime& r, const CUmod_st& module, void** out, unsigned room) {
  for (const std::string& symbol : module.binary->here()->kernel_symbols())
    if (room-- > 0)
      *out++ = find_kernel(r, module, symbol.c_str());
    else
      return;
}

unsigned kernel_count_of(const CUmod_st& module) {
  return static_cast<unsigned>(module.binary->here()->kernel_symbols().size());
}

std::set<CUlinkState>& live_links() {
  static auto* all = new std::set<CUlinkState>;
  return *all;
}

CUresult with_link(const char* name, CUlinkState state,
                   const std::function<CUresult(Runtime&)>& body) {
  if (const CUresult e = error_of_unmet_need(Needs::context)) return e;
  if (!live_links().count(state)) return CUDA_ERROR_INVALID_HANDLE;
  return call_that_reads_image(name, Needs::context, state->options, body);
}

CUresult add_link_data(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                       const char* called) {
  return with_link("cuLinkAddData", state, [&](Runtime& r) {
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    add_link_input(*state, type, {static_cast<const char*>(data), bytes}, called ? called : "?",
                   r.gpu().device->arch());
    return CUDA_SUCCESS;
  });
}

CUresult add_link_file(CUlinkState state, CUjitInputType type, const char* path) {
  return with_link("cuLinkAddFile", state, [&](Runtime& r) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    const auto data = lab32::read_file(path);
    if (!data) return CUDA_ERROR_FILE_NOT_FOUND;
    add_link_input(*state, type, *data, path, r.gpu().device->arch());
    return CUDA_SUCCESS;
  });
}

CUresult create_link(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return call("cuLinkCreate", [&](Runtime&) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = new CUlinkState_st{JitLogBuffers(count, options, values), {}, {}};
    live_links().insert(*out);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuModuleLoad(CUmodule* out, const char* path) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  const auto image = lab32::read_file(path);
  if (!image) {
    const CUresult e = error_of_unmet_need(Needs::context);
    return e ? e : CUDA_ERROR_FILE_NOT_FOUND;
  }
  return load_module_or_library("cuModuleLoad", out, image->c_str(), {0, nullptr, nullptr}, path);
}

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return load_module_or_library("cuModuleLoadData", out, image, {0, nullptr, nullptr});
}

CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned count, CUjit_option* options,
                            void** values) {
  return load_module_or_library("cuModuleLoadDataEx", out, image, {count, options, values});
}

CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return load_module_or_library("cuModuleLoadFatBinary", out, image, {0, nullptr, nullptr});
}

CUresult cuModuleUnload(CUmodule module) {
  return call("cuModuleUnload", [&](Runtime& r) {
    if (!modules().knows(module)) return CUDA_ERROR_INVALID_HANDLE;
    modules().unload(r, module);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call("cuModuleGetLoadingMode", Needs::init, Waits::no, [&](Runtime&) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return with_module("cuModuleGetFunction", module, [&](Runtime& r, CUmod_st& own) {
    return find_kernel_of_module(r, own, name, reinterpret_cast<KernelEntry**>(out));
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return with_module("cuModuleGetFunctionCount", module, [&](Runtime&, CUmod_st& own) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = kernel_count_of(own);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned room, CUmodule module) {
  return with_module("cuModuleEnumerateFunctions", module, [&](Runtime& r, CUmod_st& own) {
    if (!functions) return CUDA_ERROR_INVALID_VALUE;
    list_kernels(r, own, reinterpret_cast<void**>(functions), room);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                              const char* name) {
  return with_module("cuModuleGetGlobal", module, [&](Runtime&, CUmod_st& own) {
    return find_variable(own, name, address, bytes);
  });
}

CUresult cuLibraryLoadData(CUlibrary* out, const void* image, CUjit_option* options, void** values,
                           unsigned count, CUlibraryOption*, void**, unsigned) {
  return load_module_or_library("cuLibraryLoadData", out, image, {count, options, values});
}

CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  const auto image = lab32::read_file(path);
  if (!image) return CUDA_ERROR_FILE_NOT_FOUND;
  return load_module_or_library("cuLibraryLoadFromFile", out, image->c_str(),
                                {count, options, values}, path);
}

CUresult cuLibraryUnload(CUlibrary library) {
  return with_library("cuLibraryUnload", library, [&](Runtime& r, CUmod_st&) {
    modules().unload(r, library);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return with_library("cuLibraryGetKernel", library, [&](Runtime& r, CUmod_st& own) {
    return find_kernel_of_module(r, own, name, reinterpret_cast<KernelEntry**>(out));
  });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return with_library("cuLibraryGetKernelCount", library, [&](Runtime&, CUmod_st& own) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = kernel_count_of(own);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned room, CUlibrary library) {
  return with_library("cuLibraryEnumerateKernels", library, [&](Runtime& r, CUmod_st& own) {
    if (!kernels) return CUDA_ERROR_INVALID_VALUE;
    list_kernels(r, own, reinterpret_cast<void**>(kernels), room);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  return with_library("cuLibraryGetModule", library, [&](Runtime&, CUmod_st& own) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = &own;
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name) {
  return with_library("cuLibraryGetGlobal", library, [&](Runtime&, CUmod_st& own) {
    return find_variable(own, name, address, bytes);
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                             const char* name) {
  return with_library("cuLibraryGetManaged", library, [&](Runtime& r, CUmod_st& own) {
    CUdeviceptr where = 0;
    if (const CUresult e = find_variable(own, name, &where, bytes)) return e;
    const auto* allocation = r.memory.find(where);
    if (!allocation || !allocation->shared_with_host) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = where;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return create_link(count, options, values, out);
}
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return create_link(count, options, values, out);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                          const char* name, unsigned, CUjit_option*, void**) {
  return add_link_data(state, type, data, bytes, name);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                       const char* name, unsigned, CUjit_option*, void**) {
  return add_link_data(state, type, data, bytes, name);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                          CUjit_option*, void**) {
  return add_link_file(state, type, path);
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                       CUjit_option*, void**) {
  return add_link_file(state, type, path);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return with_link("cuLinkComplete", state, [&](Runtime& r) {
    complete_link(*state, r.gpu().device->arch());
    if (image) *image = state->image.data();
    if (bytes) *bytes = state->image.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return call("cuLinkDestroy", Needs::init, Waits::no, [&](Runtime&) {
    if (live_links().erase(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete state;
    return CUDA_SUCCESS;
  });
}

// The runtime's functions for libraries that a program loads call the driver's functions.

namespace {

// Reports under the runtime function's name and stores the runtime's error. Options and handles are
// the same types in both APIs.
template <class Same>
cudaError_t call_under_runtime_name(const char* name, Same&& same) {
  return lab32::cudart::call(name, Waits::no,
                             [&](Runtime&) { return static_cast<cudaError_t>(same()); });
}

}  // namespace

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption*, void**,
                                unsigned) {
  return call_under_runtime_name("cudaLibraryLoadData", [&] {
    return cuLibraryLoadData(library, code, reinterpret_cast<CUjit_option*>(options), values, count,
                             nullptr, nullptr, 0);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption*, void**, unsigned) {
  return call_under_runtime_name("cudaLibraryLoadFromFile", [&] {
    return cuLibraryLoadFromFile(library, path, reinterpret_cast<CUjit_option*>(options), values,
                                 count, nullptr, nullptr, 0);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call_under_runtime_name("cudaLibraryUnload", [&] { return cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return call_under_runtime_name("cudaLibraryGetKernel",
                                 [&] { return cuLibraryGetKernel(kernel, library, name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return call_under_runtime_name("cudaLibraryGetKernelCount",
                                 [&] { return cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned room,
                                        cudaLibrary_t library) {
  return call_under_runtime_name("cudaLibraryEnumerateKernels",
                                 [&] { return cuLibraryEnumerateKernels(kernels, room, library); });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return call_under_runtime_name("cudaLibraryGetGlobal", [&] {
    return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return call_under_runtime_name("cudaLibraryGetManaged", [&] {
    return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, library, name);
  });
}
