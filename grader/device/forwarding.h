// A device that passes everything on to another one. Tools derive from it to watch what a grading
// loads and launches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"

namespace lab32::device {

class ForwardingModule : public LoadedModule {
 public:
  explicit ForwardingModule(std::unique_ptr<LoadedModule> module) : module_(std::move(module)) {}

  Kernel* find(const std::string& name) override { return module_->find(name); }
  std::vector<std::string> kernel_names() const override { return module_->kernel_names(); }
  std::vector<std::string> kernel_symbols() const override { return module_->kernel_symbols(); }
  std::map<std::string, std::string> refusals() const override { return module_->refusals(); }
  std::optional<std::vector<std::byte>> initial_constant(const std::string& name) override {
    return module_->initial_constant(name);
  }
  std::optional<std::vector<std::byte>> read_symbol(const std::string& name) override {
    return module_->read_symbol(name);
  }
  bool write_symbol(const std::string& name, const void* data, uint64_t bytes) override {
    return module_->write_symbol(name, data, bytes);
  }
  void reset_module_variables() override { module_->reset_module_variables(); }
  std::optional<DeviceAddressRange> symbol(const std::string& name) override {
    return module_->symbol(name);
  }

 private:
  std::unique_ptr<LoadedModule> module_;
};

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> to) : to_(std::move(to)) {}

  std::string name() const override { return to_->name(); }
  std::string describe() const override { return to_->describe(); }
  std::string arch() const override { return to_->arch(); }
  uint32_t multiprocessors() const override { return to_->multiprocessors(); }
  std::optional<double> modelled_copy_kernel_seconds(uint64_t bytes) const override {
    return to_->modelled_copy_kernel_seconds(bytes);
  }
  std::unique_ptr<LoadedModule> load(const toolchain::CompiledArtifact& artifact) override {
    return to_->load(artifact);
  }
  DeviceAddressRange allocate(uint64_t bytes, const std::string& name) override {
    return to_->allocate(bytes, name);
  }
  void release(DeviceAddressRange buffer) override { to_->release(buffer); }
  void upload(DeviceAddressRange to, const void* from, uint64_t bytes) override {
    to_->upload(to, from, bytes);
  }
  void download(void* to, DeviceAddressRange from, uint64_t bytes) override {
    to_->download(to, from, bytes);
  }
  void poison(DeviceAddressRange buffer) override { to_->poison(buffer); }
  std::unique_ptr<SavedMemory> save() override { return to_->save(); }
  void release_heap() override { to_->release_heap(); }
  uint64_t resident_blocks_on_device(Kernel& kernel, const LaunchShape& shape) override {
    return to_->resident_blocks_on_device(kernel, shape);
  }
  LaunchResult launch(Kernel& kernel, const LaunchShape& shape,
                      const std::vector<KernelArgument>& args,
                      const LaunchOptions& options = {}) override {
    return to_->launch(kernel, shape, args, options);
  }

 private:
  std::unique_ptr<Device> to_;
};

}  // namespace lab32::device
