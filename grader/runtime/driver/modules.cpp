#include "runtime/driver/modules.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "runtime/cudart/early_warnings.h"

namespace lab32::driver {

Modules& modules() {
  static auto* all = new Modules;
  return *all;
}

cudart::Binary* Modules::load_binary(Runtime& r, const void* image, std::string name) {
  ++serial_;
  cudart::DeviceCode code = read_image(image, r.gpu().device->arch());
  code.name = name.empty() ? fmt::format("<PTX {}>", serial_) : std::move(name);
  cudart::Binary* binary = r.registry.add_module(std::move(code));
  cudart::warn_of_kernels(*binary);
  return binary;
}

CUmodule Modules::load(Runtime& r, const void* image, const std::string& name) {
  auto made = std::make_unique<CUmod_st>();
  made->binary = load_binary(r, image, name);
  made->context = cudart::Contexts::current();
  CUmodule module = made.get();
  modules_[module] = std::move(made);
  return module;
}

CUlibrary Modules::load_library(Runtime& r, const void* image, const std::string& name) {
  auto made = std::make_unique<CUlib_st>();
  made->module.binary = load_binary(r, image, name);
  made->module.library = made.get();
  CUlibrary library = made.get();
  libraries_[library] = std::move(made);
  return library;
}

void Modules::unload(Runtime& r, CUmodule module) {
  r.registry.remove_binary(module->binary);
  modules_.erase(module);
}

void Modules::unload(Runtime& r, CUlibrary library) {
  r.registry.remove_binary(library->module.binary);
  libraries_.erase(library);
}

void Modules::unload_all(Runtime& r, CUcontext context) {
  std::vector<CUmodule> destroyed;
  for (const auto& [module, own] : modules_)
    if (own->context == context) destroyed.push_back(module);
  for (CUmodule module : destroyed) unload(r, module);
}

CUmodule Modules::module_of(const KernelEntry& kernel) const {
  for (const auto& [module, own] : modules_)
    if (own->binary == kernel.binary) return module;
  for (const auto& [library, own] : libraries_)
    if (own->module.binary == kernel.binary) return &own->module;
  return nullptr;
}

KernelEntry* find_kernel(Runtime& r, const CUmod_st& module, const char* name) {
  return r.registry.find_kernel(*module.binary, name);
}

}  // namespace lab32::driver
