#include "base/text.h"

#include <fmt/format.h>

#include <cstddef>

namespace lab32 {
namespace {

struct Decoded {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8 begins here
};

Decoded decode(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < bytes) return {};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool is_control(uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// Marks of direction, and other characters that move text or end lines without being seen; U+fffe
// and U+ffff, which are none, and which XML must not hold.
bool reorders(uint32_t c) {
  return c == 0x061c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         c == 0xfffe || c == 0xffff;
}

std::string shown(const std::string& text, const char* as_it_is, const char* escaped) {
  const auto one_of = [](const char* set, uint32_t c) {
    for (; *set; ++set)
      if (static_cast<unsigned char>(*set) == c) return true;
    return false;
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Decoded d = decode(text, at);
    if (d.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      continue;
    }
    const bool line_end = d.code == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (line_end && one_of(as_it_is, '\n')) {
      // A file from Windows: its line ends are line ends.
    } else if (one_of(escaped, d.code) || (is_control(d.code) && !one_of(as_it_is, d.code))) {
      out += fmt::format("\\x{:02x}", d.code);
    } else if (reorders(d.code)) {
      out += fmt::format("\\u{:04x}", d.code);
    } else {
      out.append(text, at, d.bytes);
    }
    at += d.bytes;
  }
  return out;
}

}  // namespace

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string visible(const std::string& text) { return shown(text, "\n\t", ""); }

std::string visible_name(const std::string& name) { return shown(name, "", "\"\\"); }

}  // namespace lab32
