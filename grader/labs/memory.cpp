#include "labs/memory.h"

#include <fmt/core.h>

#include <algorithm>

#include "labs/session.h"

namespace lab32::labs {

Memory::Memory(std::string name, size_t element_bytes, size_t count)
    : name_(std::move(name)),
      element_bytes_(element_bytes),
      count_(count),
      buffer_(session().device.allocate(element_bytes * count, name_)) {
  session().memories.push_back(this);
}

Memory::~Memory() {
  auto& live = session().memories;
  live.erase(std::remove(live.begin(), live.end(), this), live.end());
  session().device.release(buffer_);
}

void Memory::poison() { session().device.poison(buffer_); }

void Memory::upload(const void* from) {
  if (count_ > 0) session().device.upload(buffer_, from, buffer_.bytes);
}

void Memory::download(void* to) const {
  if (count_ > 0) session().device.download(to, buffer_, buffer_.bytes);
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

}  // namespace lab32::labs
