// Bytes that are not copied when they are handed on: of a vector that several share, or of memory
// that a child process has written.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace lab32::device {

class Bytes {
 public:
  Bytes() = default;
  Bytes(std::vector<std::byte> bytes)  // NOLINT(google-explicit-constructor): a vector is such
      : Bytes(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  // Of a vector of any plain type; `owner` keeps it.
  template <class T>
  explicit Bytes(const std::shared_ptr<const std::vector<T>>& values)
      : Bytes(values, reinterpret_cast<const std::byte*>(values->data()),
              values->size() * sizeof(T)) {}
  Bytes(std::shared_ptr<const void> owner, const std::byte* data, size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  bool operator==(const Bytes& other) const {
    return size_ == other.size_ && (size_ == 0 || std::memcmp(data_, other.data_, size_) == 0);
  }
  bool operator!=(const Bytes& other) const { return !(*this == other); }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace lab32::device
