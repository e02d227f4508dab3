// Draws pictures on a terminal: Unicode, 80 columns, and optional colour that only repeats what
// characters and numbers show. One text() for each type of picture.h.
#pragma once

#include <cstdint>
#include <string>

#include "pictures/picture.h"

namespace lab32::pictures {

// ---- colours of a terminal, each with a sign or a number beside it that says the same

enum class Hue : uint8_t { lane, idle, good, warn, bad };

class TerminalPainter {
 public:
  explicit TerminalPainter(bool on) : on_(on) {}
  bool on() const { return on_; }
  std::string operator()(Hue hue, const std::string& words) const {
    static const char* const kCodes[] = {"\x1b[36m", "\x1b[90m", "\x1b[34m", "\x1b[33m",
                                         "\x1b[35m"};
    return on_ ? kCodes[static_cast<int>(hue)] + words + "\x1b[0m" : words;
  }
  // How many bytes its escape sequences add to a text. They take no columns on the terminal.
  int extra() const { return 9; }

 private:
  bool on_;
};

// The colour for the wavefronts of a bank: one is ideal, two are a conflict, and more are a bad
// conflict.
inline Hue hue_of_bank_wavefronts(uint32_t degree) {
  return degree <= 1 ? Hue::good : degree == 2 ? Hue::warn : Hue::bad;
}

// A lane, or another number up to 35, as one character: 0-9, then a-z.
inline std::string lane_character(uint64_t lane) {
  return std::string(1, static_cast<char>(lane < 10 ? '0' + lane : 'a' + lane - 10));
}

// ---- pictures

// Draws the lanes, and below them the sectors of 128-byte lines or the banks. A lane has the same
// character in both places.
std::string text(const PicturedLineRequests& access, const PicturedRequest& request, bool colour);
std::string text(const BarrierIntervalsOfBlock& steps, bool colour);
std::string text(const PicturedShuffles& shuffles, bool colour);
// `reference`: the traffic of the reference solution for the same work; null: not known.
std::string text(const PicturedTraffic& traffic, const PicturedTraffic* reference);
std::string text(const SwizzleMapping& mapping, bool colour);
std::string text(const PicturedRace& race, bool colour);
std::string text(const PicturedKernelFault& fault, bool colour);

// Draws all pictures of a launch; of each access, the worst request.
std::string text(const PicturedLaunch& launch, bool colour);

}  // namespace lab32::pictures
