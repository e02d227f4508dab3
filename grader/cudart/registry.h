// The program's device code, as its start-up code registers it: fat binaries, and the host
// addresses by which kernels and variables are called.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cudart/api.h"
#include "cudart/cubin.h"
#include "device/device.h"

namespace lab32::cudart {

struct Runtime;

struct Binary {
  const void* wrapper = nullptr;
  bool refused = false;  // cannot be loaded, which has been said
  // From here on: once loaded.
  std::unique_ptr<device::Module> module;
  std::string arch;  // of the PTX: "sm_90"
  CubinInfo cubin;
  std::vector<std::pair<void**, std::string>> managed;  // host pointers to fill
};

// What cudaKernel_t points at.
struct KernelEntry {
  Binary* binary = nullptr;
  std::string symbol;
  device::Kernel* kernel = nullptr;  // null until first used
  // cudaFuncSetAttribute; -1: not set
  int max_dynamic_shared = -1;
  int carveout = -1;
};

struct VariableEntry {
  Binary* binary = nullptr;
  std::string symbol;
  uint64_t bytes = 0;
};

class Registry {
 public:
  Binary* add_binary(const void* wrapper);
  void remove_binary(Binary* binary);
  // Modules go; they are loaded again when something of them is used.
  void unload();
  void add_kernel(Binary* binary, const void* host, const char* symbol);
  void add_variable(Binary* binary, const void* host, const char* symbol, uint64_t bytes);

  // By the host function's address, or the handle itself; nullptr: no kernel.
  KernelEntry* find_kernel(const void* function);
  const VariableEntry* find_variable(const void* host) const;

 private:
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::map<const void*, std::unique_ptr<KernelEntry>> kernels_;  // by host address
  std::map<const void*, VariableEntry> variables_;
};

// What load() throws once it has said why not.
struct NotLoaded {};

// Loads the module unless it is; fills the pointers of its managed variables. Throws NotLoaded when
// it cannot be (no PTX, none that is understood).
void load(Runtime& runtime, Binary& binary);
// The kernel ready to run. Throws Error when it needs what the simulator does not have.
device::Kernel& load(Runtime& runtime, KernelEntry& entry);
// Where a variable lies.
device::Buffer locate(Runtime& runtime, const VariableEntry& entry);

}  // namespace lab32::cudart
