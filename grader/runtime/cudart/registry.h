// The program's device code, as its start-up code registers it: fat binaries, and the host
// addresses by which kernels and variables are called.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "runtime/cudart/api.h"
#include "runtime/cudart/device_code.h"
#include "runtime/cudart/streams.h"

namespace lab32::cudart {

// Files below the directory in which the program was started are called from there, as a compiler
// would.
std::string from_here(std::string text);

struct Binary {
  const void* wrapper = nullptr;
  std::optional<DeviceCode>
      code;                // of a module that the program loads itself: instead of a wrapper
  bool refused = false;    // cannot be loaded, which has been said
  bool looked_at = false;  // Registry::not_looked_at() has named it
  // From here on: once loaded. Each device has its own.
  std::array<std::unique_ptr<device::LoadedModule>, kMostDevices> modules;
  std::string arch;  // of the PTX: "sm_90"
  CubinInfo cubin;
  std::vector<std::pair<void**, std::string>> managed;  // host pointers to fill

  // On the device that the call works on.
  std::unique_ptr<device::LoadedModule>& here() { return modules[acting_device()]; }
};

// What cudaKernel_t points at.
struct KernelEntry {
  Binary* binary = nullptr;
  std::string symbol;
  // No other kernel's, also not of one that was unloaded.
  const uint64_t number = next_number();

  struct OnDevice {
    device::Kernel* kernel = nullptr;  // null until first used
    // cudaFuncSetAttribute; -1: not set
    int max_dynamic_shared = -1;
    int carveout = -1;
    int cluster[3] = {0, 0, 0};  // of a kernel that has none in its source
    int cluster_policy = 0;
    bool non_portable_cluster = false;
  };
  mutable std::array<OnDevice, kMostDevices> devices{};
  // On the one that the call works on.
  OnDevice& here() const { return devices[acting_device()]; }

 private:
  static uint64_t next_number() {
    static uint64_t last = 0;
    return ++last;
  }
};

struct VariableEntry {
  Binary* binary = nullptr;
  std::string symbol;
  uint64_t bytes = 0;
};

// What Registry::load() throws once it has said why not.
struct NotLoaded {};

class Registry {
 public:
  // `listings`: modules are loaded with the listing of their machine code, which only counters
  // need. The devices must outlive the registry.
  Registry(std::vector<device::Device*> devices, bool listings)
      : devices_(std::move(devices)), listings_(listings) {}

  Binary* add_binary(const void* wrapper);
  // A module that the program loads itself, loaded. Throws Error when it cannot be.
  Binary* add_module(DeviceCode code);
  void remove_binary(Binary* binary);
  // The program's own modules on the device that the call works on go; they are loaded again when
  // something of them is used. (Where another device uses a managed variable of one, it stays.)
  void unload();
  void add_kernel(Binary* binary, const void* host, const char* symbol);
  void add_variable(Binary* binary, const void* host, const char* symbol, uint64_t bytes);

  // By the host function's address, or the handle itself; nullptr: no kernel.
  KernelEntry* find_kernel(const void* function);
  // A kernel of a module's by its symbol, the same entry each time; nullptr: there is none.
  KernelEntry* find_kernel(Binary& module, const std::string& symbol);
  // The host function whose address names it; nullptr: it has none.
  const void* host_of(const KernelEntry& kernel) const;
  const VariableEntry* find_variable(const void* host) const;

  // Loads the module unless it is; fills the pointers of its managed variables. Throws NotLoaded
  // when it cannot be (no PTX, none that is understood).
  void load(Binary& binary);
  // The kernel ready to run. Throws Error when it needs what the simulator does not have.
  device::Kernel& load(KernelEntry& entry);
  // The program's own modules that this has not named before.
  std::vector<Binary*> not_looked_at();
  // Where a variable lies.
  device::Buffer locate(const VariableEntry& entry);

 private:
  void load_now(Binary& binary);

  std::vector<device::Device*> devices_;
  bool listings_, has_new_ = false;
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::map<const void*, std::unique_ptr<KernelEntry>> kernels_;  // by host address
  std::map<const void*, VariableEntry> variables_;
};

}  // namespace lab32::cudart
