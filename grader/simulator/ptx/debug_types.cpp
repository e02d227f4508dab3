#include "simulator/ptx/debug_types.h"

#include <utility>

namespace lab32::ptx {
namespace {

// The largest size that a type may have. No memory is larger.
constexpr uint64_t kLargest = uint64_t{1} << 40;

// The member that contains the whole access; nullptr: none.
const DebugType::Member* member_at(const DebugType& type, uint64_t offset, uint32_t bytes) {
  for (const DebugType::Member& m : type.members)
    if (m.type && offset >= m.offset && offset + bytes <= m.offset + m.type->bytes) return &m;
  return nullptr;
}

}  // namespace

DebugTypes::DebugTypes(const std::string& ptx) : variables_(types_of_variables(ptx)) {}

const DebugType* DebugTypes::array_type_of(const std::string& symbol) const {
  const auto found = variables_.find(symbol);
  if (found == variables_.end() || !found->second->element) return nullptr;
  const uint64_t step = found->second->element->bytes;
  return step > 0 && step <= kLargest ? found->second.get() : nullptr;
}

std::string DebugTypes::element_path(const std::string& symbol, int64_t offset,
                                     uint32_t bytes) const {
  const auto found = variables_.find(symbol);
  if (found == variables_.end() || bytes == 0) return "";
  const DebugType* type = found->second.get();
  std::string words;
  if (array_type_of(symbol) != nullptr) {
    const auto step = static_cast<int64_t>(type->element->bytes);
    const int64_t index = offset >= 0 ? offset / step : -((-offset + step - 1) / step);
    if (type->bytes <= bytes && index == 0) return "";
    words = "[" + std::to_string(index) + "]";
    offset -= index * step;
    type = type->element.get();
  }
  if (offset < 0) return "";
  auto rest = static_cast<uint64_t>(offset);
  for (;;) {
    if (type->element && type->element->bytes >= bytes) {
      words += "[" + std::to_string(rest / type->element->bytes) + "]";
      rest %= type->element->bytes;
      type = type->element.get();
      continue;
    }
    const DebugType::Member* member = member_at(*type, rest, bytes);
    if (!member) break;
    if (!member->name.empty()) words += "." + member->name;
    rest -= member->offset;
    type = member->type.get();
  }
  return words;
}

std::string DebugTypes::last_valid_element_path(const std::string& symbol, int64_t offset,
                                                uint32_t bytes, uint64_t size) const {
  const DebugType* type = array_type_of(symbol);
  if (type == nullptr || offset < 0) return "";
  const uint64_t step = type->element->bytes, count = size / step;
  if (count == 0 || size > kLargest) return "";
  return element_path(
      symbol, static_cast<int64_t>((count - 1) * step + static_cast<uint64_t>(offset) % step),
      bytes);
}

}  // namespace lab32::ptx
