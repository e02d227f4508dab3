// What commands say, and how they end.
#pragma once

#include <string>

namespace lab32::commands {

constexpr int kFullMarks = 0, kPointsLost = 1, kNotGraded = 2;

// To standard error, as a line of ours.
void complain(const std::string& message);

// To standard output. Throws MachineError where it cannot be written.
void print(const std::string& text);

}  // namespace lab32::commands
