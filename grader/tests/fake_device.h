// A Device whose kernels are C++ functions: what suites and harness do can be tested without nvcc
// and without a simulator.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace lab32::tests {

class FakeDevice : public device::Device {
 public:
  std::string name() const override { return "fake"; }
  std::string describe() const override { return "functions of the test"; }
  std::string arch() const override { return "sm_90"; }
  uint32_t multiprocessors() const override { return 1; }
  // A module without kernels: what the test runs, it makes itself.
  std::unique_ptr<device::Module> load(const compile::Artifact&) override;

  device::Buffer allocate(uint64_t bytes, const std::string&) override {
    const uint64_t address = next_;
    next_ += bytes / 256 * 256 + 512;
    memory_[address].assign(bytes, std::byte{0xff});
    return {address, bytes};
  }
  void release(device::Buffer buffer) override { memory_.erase(buffer.address); }
  void upload(device::Buffer to, const void* from, uint64_t bytes) override {
    std::memcpy(at(to.address).data(), from, bytes);
  }
  void download(void* to, device::Buffer from, uint64_t bytes) override {
    std::memcpy(to, at(from.address).data(), bytes);
  }
  void poison(device::Buffer buffer) override {
    at(buffer.address).assign(buffer.bytes, std::byte{0xff});
  }
  device::Run launch(device::Kernel& kernel, const device::Shape& shape,
                     const std::vector<device::Arg>& args, const device::LaunchOptions&) override;

  size_t live() const { return memory_.size(); }

  // The array behind a pointer argument.
  template <class T>
  T* array(const device::Arg& arg) {
    return reinterpret_cast<T*>(at(value<uint64_t>(arg)).data());
  }
  template <class T>
  static T value(const device::Arg& arg) {
    T v;
    std::memcpy(&v, arg.bytes().data(), sizeof(v));
    return v;
  }

 private:
  std::vector<std::byte>& at(uint64_t address) { return memory_.at(address); }

  uint64_t next_ = 0x1000;
  std::map<uint64_t, std::vector<std::byte>> memory_;
};

using FakeBody =
    std::function<device::Run(FakeDevice&, const device::Shape&, const std::vector<device::Arg>&)>;

class FakeModule : public device::Module {
 public:
  void add(const std::string& name, FakeBody body) {
    kernels_[name].body = std::move(body);
    kernels_[name].kernel_info.name = name;
  }
  void add_symbol(const std::string& name, float value) {
    std::memcpy(symbols_[name].assign(sizeof(value), std::byte{}), &value, sizeof(value));
  }

  struct FakeKernel : device::Kernel {
    FakeBody body;
    device::KernelInfo kernel_info;
    const device::KernelInfo& info() const override { return kernel_info; }
  };

  device::Kernel* find(const std::string& name) override {
    const auto it = kernels_.find(name);
    return it == kernels_.end() ? nullptr : &it->second;
  }
  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, kernel] : kernels_) names.push_back(name);
    return names;
  }
  std::optional<std::vector<std::byte>> read_symbol(const std::string& name) override {
    const auto it = symbols_.find(name);
    if (it == symbols_.end()) return std::nullopt;
    return it->second.bytes;
  }
  bool write_symbol(const std::string&, const void*, uint64_t) override { return false; }

 private:
  struct Symbol {
    std::vector<std::byte> bytes;
    std::byte* assign(size_t count, std::byte value) {
      bytes.assign(count, value);
      return bytes.data();
    }
  };
  std::map<std::string, FakeKernel> kernels_;
  std::map<std::string, Symbol> symbols_;
};

inline std::unique_ptr<device::Module> FakeDevice::load(const compile::Artifact&) {
  return std::make_unique<FakeModule>();
}

inline device::Run FakeDevice::launch(device::Kernel& kernel, const device::Shape& shape,
                                      const std::vector<device::Arg>& args,
                                      const device::LaunchOptions&) {
  return static_cast<FakeModule::FakeKernel&>(kernel).body(*this, shape, args);
}

}  // namespace lab32::tests
