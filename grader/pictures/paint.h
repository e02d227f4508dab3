// Colours of a terminal, each with a sign or a number beside it that says the same.
#pragma once

#include <cstdint>
#include <string>

namespace lab32::pictures {

enum class Hue : uint8_t { lane, idle, good, warn, bad };

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  bool on() const { return on_; }
  std::string operator()(Hue hue, const std::string& words) const {
    static const char* const kCodes[] = {"\x1b[36m", "\x1b[90m", "\x1b[34m", "\x1b[33m",
                                         "\x1b[35m"};
    return on_ ? kCodes[static_cast<int>(hue)] + words + "\x1b[0m" : words;
  }
  // Columns that are none, in what it has painted.
  int extra() const { return 9; }

 private:
  bool on_;
};

// One wavefront is as good as can be; two are a conflict, and more of them a bad one.
inline Hue hue_of_degree(uint32_t degree) {
  return degree <= 1 ? Hue::good : degree == 2 ? Hue::warn : Hue::bad;
}

// A lane, or what else is at most 35, as one character: 0-9, then a-v.
inline std::string sign_of(uint64_t lane) {
  return std::string(1, static_cast<char>(lane < 10 ? '0' + lane : 'a' + lane - 10));
}

}  // namespace lab32::pictures
