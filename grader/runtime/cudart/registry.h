// The program's device code: the fat binaries that start-up code registers, modules that the
// program loads, and the host addresses that identify kernels and variables. Code is loaded onto a
// device at its first use there.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "runtime/cudart/api.h"
#include "runtime/cudart/device_code.h"
#include "runtime/cudart/streams.h"

namespace lab32::cudart {

// Shortens paths below the start directory to relative ones, as a compiler prints them.
std::string make_paths_relative(std::string text);

struct DeviceBinary {
  const void* wrapper = nullptr;
  // The code of a module that the program loaded; empty for a fat binary that the program
  // registered, which `wrapper` points to.
  std::optional<DeviceCode> code;
  bool refused = false;   // whether loading failed; a message was then printed
  bool examined = false;  // DeviceCodeRegistry::take_unexamined_binaries() has named it
  // The loaded module on each device; null before its first use there.
  std::array<std::unique_ptr<device::LoadedModule>, kMostDevices> modules;
  std::string arch;  // architecture of the PTX: "sm_90"
  // The kernels that order memory for the host, too. The host then need not wait for them by a
  // call.
  std::set<std::string> order_for_host;
  CubinResourceUsage cubin;
  // Host pointers to managed variables, which are set at load.
  std::vector<std::pair<void**, std::string>> managed;

  // The module on the device that the call works on.
  std::unique_ptr<device::LoadedModule>& here() { return modules[device_of_current_call()]; }
};

// What a cudaKernel_t points to.
struct KernelEntry {
  DeviceBinary* binary = nullptr;
  std::string symbol;
  // A unique number, also among kernels that were unloaded.
  const uint64_t number = next_kernel_number();

  struct DeviceState {
    device::Kernel* kernel = nullptr;  // null until first used
    // The value that the program has set with cudaFuncSetAttribute(); -1: none.
    int max_dynamic_shared = -1;
    int carveout = -1;
    int cluster[3] = {0, 0, 0};  // set at run time, for a kernel whose source sets no cluster
    int cluster_policy = 0;
    bool non_portable_cluster = false;
  };
  mutable std::array<DeviceState, kMostDevices> devices{};
  // The kernel's state on the device that the call works on.
  DeviceState& here() const { return devices[device_of_current_call()]; }

 private:
  static uint64_t next_kernel_number() {
    static uint64_t last = 0;
    return ++last;
  }
};

struct VariableEntry {
  DeviceBinary* binary = nullptr;
  std::string symbol;
  uint64_t bytes = 0;
};

// Thrown by DeviceCodeRegistry::load() after it has printed the reason.
struct NotLoaded {};

class DeviceCodeRegistry {
 public:
  // `listings`: load each module with the disassembly of its machine code, which only counters
  // need. The devices must outlive the registry.
  DeviceCodeRegistry(std::vector<device::Device*> devices, bool listings)
      : devices_(std::move(devices)), listings_(listings) {}

  DeviceBinary* add_binary(const void* wrapper);
  // Loads a module for the program. Throws Error if it cannot be loaded.
  DeviceBinary* add_module(DeviceCode code);
  void remove_binary(DeviceBinary* binary);
  // Unloads the program's own modules from the device that the call works on. They are loaded again
  // at their next use. A module stays if another device uses one of its managed variables.
  void unload_from_current_device();
  void add_kernel(DeviceBinary* binary, const void* host, const char* symbol);
  void add_variable(DeviceBinary* binary, const void* host, const char* symbol, uint64_t bytes);

  // Finds a kernel by its host function's address or its handle; nullptr: no such kernel.
  KernelEntry* find_kernel(const void* function);
  // A module's kernel by its symbol; the same entry for each call. nullptr: no such kernel.
  KernelEntry* find_kernel(DeviceBinary& module, const std::string& symbol);
  // The address of the kernel's host function; nullptr: the kernel has none.
  const void* host_function_of(const KernelEntry& kernel) const;
  const VariableEntry* find_variable(const void* host) const;

  // Loads the module if necessary, and sets the pointers to its managed variables. Throws NotLoaded
  // if there is no PTX that the simulator understands.
  void load(DeviceBinary& binary);
  // Returns the kernel, ready to run. Throws Error if it needs something that the simulator does
  // not support.
  device::Kernel& load(KernelEntry& entry);
  // The modules that came with the program and that earlier calls have not returned.
  std::vector<DeviceBinary*> take_unexamined_binaries();
  // The address and size of a variable.
  device::DeviceAddressRange locate_variable(const VariableEntry& entry);

 private:
  void load_on_current_device(DeviceBinary& binary);

  std::vector<device::Device*> devices_;
  bool listings_, has_new_ = false;
  std::vector<std::unique_ptr<DeviceBinary>> binaries_;
  std::map<const void*, std::unique_ptr<KernelEntry>> kernels_;  // by host address
  std::map<const void*, VariableEntry> variables_;
};

// ---------------------------------------------------------------------------------------------
// Warnings about unsupported features before the program's first kernel. The program may never
// reach these features, so it continues.

// Unsupported instructions in device code. Each is reported once, with the kernels that contain it,
// because a single line of a template can affect many kernels.
class UnsupportedInstructions {
 public:
  // `why` is the text of an Error; quoted PTX is dropped. The report uses the source line if it is
  // known, and otherwise the PTX line in the module `module_name`. `kernel` is the demangled name;
  // empty means all kernels.
  void add(const std::string& why, const std::string& kernel, const std::string& module_name = "");
  // An example: "kernel.cu:7: `discard.global.L2` is not supported by the simulator (kernel bad<1>
  // and 1 more)"
  std::vector<std::string> lines() const;

 private:
  std::map<std::string, std::vector<std::string>> kernels_;  // by refusal
};

// Warns about the program's own modules that were registered since the last call. Every launch
// calls it; without new modules it costs nothing.
void warn_of_unsupported_kernels(DeviceCodeRegistry& registry, const std::string& arch);
// Warns about a module that the program has just loaded.
void warn_of_unsupported_kernels(DeviceBinary& module);
// `refusals`: messages about functions that the program imports.
void warn_of_unsupported_calls(const std::vector<std::string>& refusals);

}  // namespace lab32::cudart
