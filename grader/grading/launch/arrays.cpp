#include "grading/launch/arrays.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "grading/engine/session.h"

namespace lab32::grading {

DeviceArray::DeviceArray(std::string name, size_t element_bytes, size_t count)
    : name_(std::move(name)),
      element_bytes_(element_bytes),
      count_(count),
      buffer_(session().device.allocate(element_bytes * count, name_)) {
  session().memories.push_back(this);
}

DeviceArray::~DeviceArray() {
  auto& live = session().memories;
  live.erase(std::remove(live.begin(), live.end(), this), live.end());
  session().device.release(buffer_);
}

void DeviceArray::poison() { session().device.poison(buffer_); }

void DeviceArray::upload(const void* from) {
  if (count_ > 0) session().device.upload(buffer_, from, buffer_.bytes);
}

void DeviceArray::download(void* to) const {
  if (count_ > 0) session().device.download(to, buffer_, buffer_.bytes);
}

ptrdiff_t DeviceArray::first_difference(const void* values) const {
  constexpr uint64_t kPiece = 256 << 10;  // stays in the host's cache
  const auto* want = static_cast<const std::byte*>(values);
  std::vector<std::byte> now(std::min(kPiece, buffer_.bytes));
  for (uint64_t at = 0; at < buffer_.bytes; at += kPiece) {
    const uint64_t bytes = std::min(kPiece, buffer_.bytes - at);
    session().device.download(now.data(), {buffer_.address + at, bytes}, bytes);
    if (std::memcmp(now.data(), want + at, bytes) == 0) continue;
    const auto differ =
        std::mismatch(now.begin(), now.begin() + static_cast<ptrdiff_t>(bytes), want + at);
    return static_cast<ptrdiff_t>((at + static_cast<uint64_t>(differ.first - now.begin())) /
                                  element_bytes_);
  }
  return -1;
}

std::string name_of_address(uint64_t address) {
  for (const Region& region : session().launched) {
    const uint64_t offset = address - region.address;
    if (address < region.address || offset >= region.bytes) continue;
    std::string name = fmt::format("{}[{}]", region.name, offset / region.element_bytes);
    if (const uint64_t rest = offset % region.element_bytes) name += fmt::format("+{}", rest);
    return name;
  }
  return fmt::format("{:#x}", address);
}

}  // namespace lab32::grading
