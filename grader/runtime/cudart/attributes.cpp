#include "runtime/cudart/attributes.h"

#include <algorithm>
#include <cstring>

namespace lab32::cudart {
namespace {

int major_of(const Runtime& r) { return std::stoi(r.profile.arch.substr(3)) / 10; }
int minor_of(const Runtime& r) { return std::stoi(r.profile.arch.substr(3)) % 10; }

template <class Field, class Value>
void set(Field& field, Value value) {
  field = static_cast<Field>(value);
}

}  // namespace

std::optional<int> attribute(const Runtime& r, cudaDeviceAttr which, int device) {
  const model::Profile& p = r.profile;
  switch (which) {
#define ATTRIBUTE(name, field, value) \
  case cudaDevAttr##name:             \
    return static_cast<int>(value);
#include "runtime/cudart/attributes.def"
#undef ATTRIBUTE
    case cudaDevAttrComputeCapabilityMajor:
      return major_of(r);
    case cudaDevAttrComputeCapabilityMinor:
      return minor_of(r);
    default:
      return std::nullopt;
  }
}

cudaDeviceProp properties(const Runtime& r, int device) {
  const model::Profile& p = r.profile;
  struct WithNoField : cudaDeviceProp {
    int64_t NO_FIELD;
  } out{};
  const std::string name = r.profile.name + " (simulated by lab32)";
  std::memcpy(out.name, name.data(), std::min(name.size(), sizeof out.name - 1));
  out.totalGlobalMem = r.profile.dram_bytes;
  // 16 bytes that name no real card.
  const std::string uuid = "lab32-simulated" + std::to_string(device);
  std::memcpy(out.uuid.bytes, uuid.data(), sizeof out.uuid.bytes);
#define ATTRIBUTE(name, field, value) set(out.field, value);
#include "runtime/cudart/attributes.def"
#undef ATTRIBUTE
  out.major = major_of(r);
  out.minor = minor_of(r);
  return out;
}

}  // namespace lab32::cudart
