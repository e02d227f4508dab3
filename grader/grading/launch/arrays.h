// Device arrays of a test. What a kernel may only read is compared after each launch; what it is to
// write is poisoned before; expected results never go to the device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::grading {

// An allocation, released at the end of its scope. `name` is how messages call it: the kernel's
// parameter, as a student knows it.
class DeviceArray {
 public:
  DeviceArray(std::string name, size_t element_bytes, size_t count);
  virtual ~DeviceArray();
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  device::Buffer buffer() const { return buffer_; }
  operator device::Arg() const { return device::Arg(buffer_); }
  const std::string& name() const { return name_; }
  size_t count() const { return count_; }
  size_t element_bytes() const { return element_bytes_; }

  void poison();
  // Index of the first element that a launch has changed although it must not; -1: none.
  virtual ptrdiff_t first_changed() const { return -1; }
  virtual bool read_only() const { return false; }  // by a kernel

 protected:
  void upload(const void* from);
  void download(void* to) const;
  // Index of the first element that is not `values`' own; -1: none.
  ptrdiff_t first_difference(const void* values) const;

 private:
  std::string name_;
  size_t element_bytes_, count_;
  device::Buffer buffer_;
};

// What a kernel only reads.
template <class T>
class Input : public DeviceArray {
 public:
  Input(std::string name, std::vector<T> values)
      : DeviceArray(std::move(name), sizeof(T), values.size()), values_(std::move(values)) {
    upload(values_.data());
  }
  const std::vector<T>& values() const { return values_; }

  ptrdiff_t first_changed() const override { return first_difference(values_.data()); }
  bool read_only() const override { return true; }

 private:
  std::vector<T> values_;
};

// What a kernel writes; poisoned from the start.
template <class T>
class Output : public DeviceArray {
 public:
  Output(std::string name, size_t count) : DeviceArray(std::move(name), sizeof(T), count) {}
  // What a kernel updates in place starts with values.
  Output(std::string name, const std::vector<T>& values)
      : DeviceArray(std::move(name), sizeof(T), values.size()) {
    upload(values.data());
  }
  std::vector<T> read() const {
    std::vector<T> values(count());
    download(values.data());
    return values;
  }
};

// "in[17]", by the memories of the last launch; the plain address where none holds it.
std::string name_of_address(uint64_t address);

}  // namespace lab32::grading
