// Modules and libraries that the program loads, and the handles for them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/cudart/runtime.h"
#include "runtime/driver/image.h"

struct CUmod_st {
  lab32::cudart::Binary* binary = nullptr;
  CUcontext context = nullptr;  // destroyed with this context; null: a library's, which remains
  CUlib_st* library = nullptr;
};

struct CUlib_st {
  CUmod_st module;
};

namespace lab32::driver {

using cudart::KernelEntry;
using cudart::Runtime;

class Modules {
 public:
  // Loads an image. `name` is the file that it was read from, or empty. Throws BadImage and Error
  // as read_image() does, and Error if the simulator cannot load it.
  CUmodule load(Runtime& runtime, const void* image, const std::string& name = "");
  CUlibrary load_library(Runtime& runtime, const void* image, const std::string& name = "");
  void unload(Runtime& runtime, CUmodule module);
  void unload(Runtime& runtime, CUlibrary library);
  // Unloads the modules that were loaded in the context.
  void unload_all(Runtime& runtime, CUcontext context);

  bool knows(CUmodule module) const { return modules_.count(module) != 0; }
  bool knows(CUlibrary library) const { return libraries_.count(library) != 0; }
  // The module of a kernel; nullptr: one of the program's own modules, which the runtime loads.
  CUmodule module_of(const KernelEntry& kernel) const;

 private:
  cudart::Binary* load_binary(Runtime& runtime, const void* image, std::string name);

  int serial_ = 0;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules_;
  std::map<CUlibrary, std::unique_ptr<CUlib_st>> libraries_;
};

Modules& modules();

// A module's kernel by name; nullptr: none.
KernelEntry* find_kernel(Runtime& runtime, const CUmod_st& module, const char* name);

inline CUfunction function_of(KernelEntry* entry) { return reinterpret_cast<CUfunction>(entry); }

}  // namespace lab32::driver
