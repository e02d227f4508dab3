// Modules and libraries that the program loads itself.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/cudart/runtime.h"
#include "runtime/driver/image.h"

struct CUmod_st {
  lab32::cudart::Binary* binary = nullptr;
  CUcontext context = nullptr;  // with which it goes; null: a library's, which stays
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
  // Throws BadImage and Error as read_image() does, and Error when the simulator cannot load it.
  // `name`: of the file that it was read from; empty: of none.
  CUmodule load(Runtime& runtime, const void* image, const std::string& name = "");
  CUlibrary load_library(Runtime& runtime, const void* image, const std::string& name = "");
  void unload(Runtime& runtime, CUmodule module);
  void unload(Runtime& runtime, CUlibrary library);
  // Those that were loaded in it.
  void unload_all(Runtime& runtime, CUcontext context);

  bool knows(CUmodule module) const { return modules_.count(module) != 0; }
  bool knows(CUlibrary library) const { return libraries_.count(library) != 0; }
  // That it lies in; nullptr: it is one of the program's own, which the runtime loads.
  CUmodule module_of(const KernelEntry& kernel) const;

 private:
  cudart::Binary* load_binary(Runtime& runtime, const void* image, std::string name);

  int serial_ = 0;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules_;
  std::map<CUlibrary, std::unique_ptr<CUlib_st>> libraries_;
};

Modules& modules();

// A kernel of a module; nullptr: it has none of that name.
KernelEntry* find_kernel(Runtime& runtime, const CUmod_st& module, const char* name);

inline CUfunction function_of(KernelEntry* entry) { return reinterpret_cast<CUfunction>(entry); }

}  // namespace lab32::driver
