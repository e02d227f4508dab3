#include "gpu/device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "device/names.h"
#include "gpu/driver_api.h"

namespace lab32::device {
namespace {

using cuda::DriverApi;
using cuda::kSuccess;
using cuda::Result;

// The driver prints the kernels' printf output to the process's stdout, on which a report in JSON
// may be written. While a launch runs, stdout is therefore a file in memory.
class PrintfCatcher {
 public:
  PrintfCatcher() {
    std::fflush(stdout);
    saved_ = dup(1);
    file_ = memfd_create("lab32-printf", MFD_CLOEXEC);
    if (saved_ >= 0 && file_ >= 0) dup2(file_, 1);
  }
  PrintfCatcher(const PrintfCatcher&) = delete;
  PrintfCatcher& operator=(const PrintfCatcher&) = delete;
  ~PrintfCatcher() { restore_stdout(); }

  std::string end_capture_and_take_output() {
    restore_stdout();
    std::string text;
    char buffer[4096];
    ssize_t n;
    lseek(file_, 0, SEEK_SET);
    while ((n = read(file_, buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<size_t>(n));
    close(file_);
    return text;
  }

 private:
  void restore_stdout() {
    if (saved_ < 0) return;
    std::fflush(stdout);
    dup2(saved_, 1);
    close(saved_);
    saved_ = -1;
  }
  int saved_ = -1, file_ = -1;
};

// The CUDA context, and whether it is still usable.
class RetainedPrimaryContext {
 public:
  // The primary context, in which the CUDA runtime, which CUB calls, works as well.
  RetainedPrimaryContext(const DriverApi& api, cuda::Device device) : api(api), device(device) {
    require_success(api.context_retain(&context_, device), "no context on the GPU");
  }
  ~RetainedPrimaryContext() { api.context_release(device); }
  RetainedPrimaryContext(const RetainedPrimaryContext&) = delete;
  RetainedPrimaryContext& operator=(const RetainedPrimaryContext&) = delete;

  void require_success(Result result, const std::string& doing) const {
    if (result != kSuccess)
      throw Error(doing + ": " + api.name_of(result) + " (" + api.description_of(result) + ")");
  }
  // Makes the context current. Call it before every driver call: a context is current for one
  // thread, and the caller's thread may change.
  void make_context_current() const {
    if (!lost_.empty())
      throw Error("this process can no longer use the GPU: " + lost_ +
                  ": only a new process can use it");
    require_success(api.context_set_current(context_), "the GPU cannot be used");
  }
  void lose(const std::string& reason) { lost_ = reason; }
  bool alive() const { return lost_.empty(); }

  const DriverApi& api;
  const cuda::Device device;

 private:
  cuda::Context context_ = nullptr;
  std::string lost_;
};

struct GpuKernel final : Kernel {
  explicit GpuKernel(cuda::Function function) : function(function) {}
  const KernelInfo& info() const override { return facts; }

  cuda::Function function;
  KernelInfo facts;
};

class GpuModule final : public LoadedModule {
 public:
  GpuModule(std::shared_ptr<RetainedPrimaryContext> session,
            const toolchain::CompiledArtifact& artifact)
      : session_(std::move(session)) {
    if (artifact.cubin.empty())
      throw Error(artifact.source + " was compiled without a cubin, which a GPU needs");
    session_->make_context_current();
    session_->require_success(session_->api.module_load(&handle_, artifact.cubin.data()),
                              "the GPU does not load " + artifact.source);
    for (const KernelSignature& entry : read_kernel_entry_points(artifact.ptx)) add_kernel(entry);
  }
  ~GpuModule() override {
    if (handle_ && session_->alive()) session_->api.module_unload(handle_);
  }

  Kernel* find(const std::string& name) override {
    auto found = find_kernel(symbols_, name);
    return found ? kernels_[*found].get() : nullptr;
  }
  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const auto& kernel : kernels_) names.push_back(kernel->info().name);
    return names;
  }
  std::optional<std::vector<std::byte>> read_symbol(const std::string& name) override {
    auto place = symbol(name);
    if (!place) return std::nullopt;
    std::vector<std::byte> bytes(place->bytes);
    session_->require_success(session_->api.download(bytes.data(), place->address, bytes.size()),
                              "reading " + name);
    return bytes;
  }
  bool write_symbol(const std::string& name, const void* data, uint64_t bytes) override {
    auto place = symbol(name);
    if (!place || bytes > place->bytes) return false;
    session_->require_success(session_->api.upload(place->address, data, bytes), "writing " + name);
    return true;
  }

 private:
  void add_kernel(const KernelSignature& entry) {
    cuda::Function f = nullptr;
    session_->require_success(session_->api.module_function(&f, handle_, entry.symbol.c_str()),
                              "kernel " + kernel_name(entry.symbol));
    auto kernel = std::make_unique<GpuKernel>(f);
    auto attribute = [&](int which) {
      int value = 0;
      session_->require_success(session_->api.function_attribute(&value, which, f),
                                kernel_name(entry.symbol));
      return static_cast<uint32_t>(value);
    };
    kernel->facts.name = kernel_name(entry.symbol);
    kernel->facts.static_shared = attribute(cuda::kStaticShared);
    kernel->facts.registers = attribute(cuda::kRegisters);
    kernel->facts.max_threads = attribute(cuda::kMaxThreadsPerBlock);
    kernel->facts.parameter_bytes = entry.parameter_bytes;
    kernel->facts.parameter_types = parameter_types(entry.symbol);
    symbols_.push_back(entry.symbol);
    kernels_.push_back(std::move(kernel));
  }

  std::optional<DeviceAddressRange> symbol(const std::string& name) override {
    cuda::Pointer address = 0;
    size_t bytes = 0;
    session_->make_context_current();
    Result result = session_->api.module_global(&address, &bytes, handle_, name.c_str());
    if (result == cuda::kNotFound) return std::nullopt;
    session_->require_success(result, "variable " + name);
    return DeviceAddressRange{address, bytes};
  }

  std::shared_ptr<RetainedPrimaryContext> session_;
  cuda::ModulePtr handle_ = nullptr;
  std::vector<std::string> symbols_;
  std::vector<std::unique_ptr<GpuKernel>> kernels_;
};

// The simulator's kind of fault that corresponds to a driver error.
sim::TrapKind trap_kind_of_driver_error(const std::string& error) {
  if (error == "CUDA_ERROR_ILLEGAL_ADDRESS") return sim::TrapKind::out_of_bounds;
  if (error == "CUDA_ERROR_MISALIGNED_ADDRESS") return sim::TrapKind::misaligned;
  if (error == "CUDA_ERROR_ASSERT") return sim::TrapKind::assertion;
  if (error == "CUDA_ERROR_ILLEGAL_INSTRUCTION") return sim::TrapKind::trap;
  if (error == "CUDA_ERROR_HARDWARE_STACK_ERROR") return sim::TrapKind::stack;
  return sim::TrapKind::launch;
}

class GpuDevice final : public Gpu {
 public:
  GpuDevice(const DriverApi& api, cuda::Device device)
      : session_(std::make_shared<RetainedPrimaryContext>(api, device)) {
    char name[256] = "";
    session_->require_success(api.device_name(name, sizeof name - 1, device), "the GPU's name");
    name_ = name;
    session_->require_success(api.device_memory(&memory_, device), "the GPU's memory");
    api.driver_version(&driver_);
    multiprocessors_ = device_attribute(cuda::kMultiprocessorCount, device);
    major_ = device_attribute(cuda::kComputeMajor, device);
    minor_ = device_attribute(cuda::kComputeMinor, device);
  }

  std::string name() const override { return "gpu"; }
  std::string describe() const override {
    return name_ + ", " + arch() + ", " + std::to_string(multiprocessors_) + " SMs, " +
           std::to_string(memory_ >> 30) + " GiB, driver for CUDA " +
           std::to_string(driver_ / 1000) + "." + std::to_string(driver_ % 1000 / 10);
  }
  std::string arch() const override {
    return "sm_" + std::to_string(major_) + std::to_string(minor_);
  }
  uint32_t multiprocessors() const override { return static_cast<uint32_t>(multiprocessors_); }

  std::unique_ptr<LoadedModule> load(const toolchain::CompiledArtifact& artifact) override {
    return std::make_unique<GpuModule>(session_, artifact);
  }

  DeviceAddressRange allocate(uint64_t bytes, const std::string& name) override {
    session_->make_context_current();
    cuda::Pointer address = 0;
    // The driver refuses 0 bytes, but a kernel over an empty array still needs a pointer.
    Result result = session_->api.allocate(&address, bytes ? bytes : 1);
    if (result == cuda::kOutOfMemory)
      throw Error("'" + name + "' (" + std::to_string(bytes) +
                  " bytes) does not fit in the memory of " + name_);
    session_->require_success(result, "allocating '" + name + "'");
    allocations_[address] = {bytes, name};
    DeviceAddressRange buffer{address, bytes};
    poison(buffer);
    return buffer;
  }

  void release(DeviceAddressRange buffer) override {
    auto found = allocations_.find(buffer.address);
    if (found == allocations_.end() || !session_->alive()) return;  // freed with its context
    session_->make_context_current();
    session_->require_success(session_->api.release(buffer.address),
                              "releasing '" + found->second.name + "'");
    allocations_.erase(found);
  }

  void upload(DeviceAddressRange to, const void* from, uint64_t bytes) override {
    require_allocated(to, bytes, "upload");
    session_->require_success(session_->api.upload(to.address, from, bytes), "upload");
  }
  void download(void* to, DeviceAddressRange from, uint64_t bytes) override {
    require_allocated(from, bytes, "download");
    session_->require_success(session_->api.download(to, from.address, bytes), "download");
  }
  void poison(DeviceAddressRange buffer) override {
    require_allocated(buffer, buffer.bytes, "poison");
    if (buffer.bytes)
      session_->require_success(session_->api.fill(buffer.address, 0xff, buffer.bytes), "poison");
  }

  std::optional<KernelFault> enqueue(Kernel& kernel, const LaunchShape& shape,
                                     const std::vector<KernelArgument>& args) override {
    auto& k = dynamic_cast<GpuKernel&>(kernel);
    check_arguments(k, args);
    session_->make_context_current();
    // A kernel must opt in to more than 48 KiB.
    if (shape.dynamic_shared > 48 * 1024) {
      Result result = session_->api.set_function_attribute(k.function, cuda::kMaxDynamicShared,
                                                           static_cast<int>(shape.dynamic_shared));
      if (result != kSuccess) return fault_of_launch(k.facts.name, result);
    }
    std::vector<void*> parameters;
    for (const KernelArgument& arg : args)
      parameters.push_back(const_cast<std::byte*>(arg.bytes().data()));
    Result result = session_->api.launch(k.function, shape.grid.x, shape.grid.y, shape.grid.z,
                                         shape.block.x, shape.block.y, shape.block.z,
                                         shape.dynamic_shared, nullptr, parameters.data(), nullptr);
    if (result != kSuccess) return fault_of_launch(k.facts.name, result);
    return std::nullopt;
  }

  std::optional<KernelFault> wait(const std::string& kernel) override {
    const Result result = session_->api.synchronize();
    if (result == kSuccess) return std::nullopt;
    // A failed kernel makes the context unusable, and a new one fails with the same error (seen
    // with CUDA 13.0 on an H200, for each kind of fault).
    session_->lose(kernel + " failed with " + session_->api.name_of(result));
    return fault_of_launch(kernel, result);
  }

  const DriverApi& api() const override { return session_->api; }
  cuda::Device ordinal() const override { return session_->device; }

  LaunchResult launch(Kernel& kernel, const LaunchShape& shape,
                      const std::vector<KernelArgument>& args, const LaunchOptions&) override {
    PrintfCatcher printed;
    LaunchResult run;
    run.fault = enqueue(kernel, shape, args);
    if (!run.fault) run.fault = wait(kernel.info().name);
    run.output = printed.end_capture_and_take_output();
    return run;
  }

 private:
  struct AllocationSizeAndName {
    uint64_t bytes;
    std::string name;
  };

  int device_attribute(int which, cuda::Device device) const {
    int value = 0;
    session_->require_success(session_->api.device_attribute(&value, which, device),
                              "the GPU's properties");
    return value;
  }

  // A DeviceAddressRange is a plain value and may be stale or too long; the driver would then use
  // the memory of another allocation.
  void require_allocated(DeviceAddressRange buffer, uint64_t bytes,
                         const std::string& doing) const {
    session_->make_context_current();
    auto found = allocations_.upper_bound(buffer.address);
    if (found != allocations_.begin()) {
      const auto& [address, allocation] = *--found;
      if (bytes <= allocation.bytes && buffer.address - address <= allocation.bytes - bytes) return;
    }
    throw Error(doing + " of " + std::to_string(bytes) +
                " bytes at an address where that much is not allocated");
  }

  static void check_arguments(const GpuKernel& kernel, const std::vector<KernelArgument>& args) {
    const auto& wanted = kernel.info().parameter_bytes;
    if (args.size() != wanted.size())
      throw Error(kernel.info().name + " takes " + std::to_string(wanted.size()) +
                  " arguments, not " + std::to_string(args.size()));
    for (size_t i = 0; i < args.size(); ++i)
      if (args[i].bytes().size() != wanted[i])
        throw Error(kernel.info().name + ": argument " + std::to_string(i + 1) + " has " +
                    std::to_string(wanted[i]) + " bytes, not " +
                    std::to_string(args[i].bytes().size()));
  }

  KernelFault fault_of_launch(const std::string& kernel, Result result) const {
    KernelFault fault;
    fault.driver =
        DriverError{kernel, session_->api.name_of(result), session_->api.description_of(result)};
    fault.kind = trap_kind_of_driver_error(fault.driver->name);
    return fault;
  }

  std::shared_ptr<RetainedPrimaryContext> session_;
  std::string name_;
  size_t memory_ = 0;
  int driver_ = 0, multiprocessors_ = 0, major_ = 0, minor_ = 0;
  std::map<cuda::Pointer, AllocationSizeAndName> allocations_;
};

}  // namespace

GpuSearchResult find_gpu() {
  GpuSearchResult search;
  const DriverApi* api = cuda::driver_api(search.reason);
  if (!api) return search;
  cuda::Device device = 0;
  Result result = api->init(0);
  if (result == kSuccess) result = api->device_get(&device, 0);
  if (result != kSuccess) {
    search.reason = "the CUDA driver finds no GPU: " + api->name_of(result) + " (" +
                    api->description_of(result) + ")";
    return search;
  }
  try {
    search.device = std::make_unique<GpuDevice>(*api, device);
  } catch (const Error& error) {
    search.reason = error.what();
  }
  return search;
}

// ---- kernels of a PTX text ----

namespace {

// `.param .u64 .ptr .global .align 4 name` or `.param .align 8 .b8 name[24]`.
uint32_t ptx_parameter_size(const std::string& parameter, const std::string& symbol) {
  static const RegularExpression type("\\.(u|s|b|f|pred)(8|16|32|64)\\b"), array("\\[([0-9]+)\\]");
  const auto typed = type.search(parameter);
  if (!typed)
    throw Error("the PTX of kernel " + symbol +
                " declares a parameter of a type that is not known: " + parameter);
  auto bytes = static_cast<uint32_t>(std::stoul(typed->at(2)) / 8);
  if (const auto elements = array.search(parameter))
    bytes *= static_cast<uint32_t>(std::stoul(elements->at(1)));
  return bytes;
}

}  // namespace

std::vector<KernelSignature> read_kernel_entry_points(const std::string& ptx) {
  static const std::string keyword = ".entry";
  std::vector<KernelSignature> entries;
  for (size_t at = 0; (at = ptx.find(keyword, at)) != std::string::npos;) {
    at += keyword.size();
    // A directive begins a line, after .visible or .weak; nvcc writes comments on lines of their
    // own.
    size_t line = ptx.rfind('\n', at) + 1;
    if (ptx[line] != '.') continue;
    size_t name = ptx.find_first_not_of(" \t", at);
    size_t end = ptx.find_first_of(" \t\n(", name);
    if (name == std::string::npos || end == std::string::npos) break;
    KernelSignature entry;
    entry.symbol = ptx.substr(name, end - name);
    size_t open = ptx.find_first_not_of(" \t\n", end);
    if (open != std::string::npos && ptx[open] == '(') {
      size_t close = ptx.find(')', open);
      std::string list = ptx.substr(open + 1, close - open - 1);
      for (size_t p = 0; (p = list.find(".param", p)) != std::string::npos;) {
        size_t comma = std::min(list.find(',', p), list.size());
        entry.parameter_bytes.push_back(
            ptx_parameter_size(list.substr(p + 6, comma - p - 6), entry.symbol));
        p = comma;
      }
    }
    entries.push_back(entry);
    at = end;
  }
  return entries;
}

}  // namespace lab32::device
