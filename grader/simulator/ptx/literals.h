// Numbers as PTX writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lab32::ptx {

// 12, 017, 0x1F, 0b11, each perhaps with a U behind it; nullopt when it is none of these or does
// not fit 64 bits.
std::optional<uint64_t> parse_integer(std::string_view text);

struct RealLiteral {
  uint64_t bits;  // of a float (0f3F800000) or of a double (0d…, 1.5)
  bool is_double;
};
std::optional<RealLiteral> parse_real(std::string_view text);

}  // namespace lab32::ptx
