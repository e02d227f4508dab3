// What memory an access goes to, and what it does there.
#pragma once

#include <cstdint>

namespace lab32::sim {

enum class AccessSpace : uint8_t { global, shared, local, constant };
enum class AccessKind : uint8_t { load, store, red, atom };
enum class AccessUse : uint8_t { read, write, update };  // update: an atomic

constexpr AccessUse use_of(AccessKind kind) {
  return kind == AccessKind::load    ? AccessUse::read
         : kind == AccessKind::store ? AccessUse::write
                                     : AccessUse::update;
}

}  // namespace lab32::sim
