// Reads launches.csv and fills the buffers that it describes, for both the program that
// measures on a GPU and the tests that count on the simulator.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace launches {

// One word of a launch's `args` in launches.csv, KIND:A or KIND:A:B.
//
//   int:V  float:V   a number
//   word:N           N words of 32 bits, word i a hash of i below 2^30: as an index any, as a float
//                    in [0, 2), of any exponent
//   word:N:M         the hash modulo M
//   real:N           N floats in [1, 2)
//   zero:N           N words of zero
//   ramp:N           N words of bytes that count up, from anywhere on every 256 (bank_conflicts,
//   B2) event:N          N events, seven in eight of one channel (bank_conflicts, B5)
struct LaunchArgument {
  std::string kind, a, b;

  bool is_buffer() const { return kind != "int" && kind != "float"; }

  uint32_t bit_pattern_of_number() const {
    if (kind == "int") return static_cast<uint32_t>(std::stol(a));
    const float value = std::stof(a);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
  }

  // `seed` is the argument's position, from 1, so that arguments differ.
  std::vector<uint32_t> buffer_words(uint32_t seed) const {
    std::vector<uint32_t> out(std::stoul(a));
    const auto fill = [&](auto word_of) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = word_of(static_cast<uint32_t>(i));
    };
    const auto hash_of = [seed](uint32_t i) { return hash(i, seed); };
    if (kind == "word" && b.empty()) {
      fill(hash_of);
    } else if (kind == "word") {
      const auto modulus = static_cast<uint32_t>(std::stoul(b));
      fill([=](uint32_t i) { return hash_of(i) % modulus; });
    } else if (kind == "real") {
      fill([=](uint32_t i) { return (hash_of(i) & 0x7fffffu) | 0x3f800000u; });
    } else if (kind == "ramp") {
      fill([=](uint32_t i) {
        const uint32_t first = 4 * i + hash_of(i / 64);
        uint32_t four = 0;
        for (uint32_t k = 0; k < 4; ++k) four |= ((first + k) & 0xffu) << (8 * k);
        return four;
      });
    } else if (kind == "event") {
      fill([=](uint32_t i) {
        const uint32_t h = hash_of(i);
        return (1 + h % 1000) * 64 + ((h >> 20 & 7) != 0 ? 17 : h >> 24 & 63);
      });
    } else if (kind != "zero") {
      throw std::invalid_argument("launches.csv: no argument is a `" + kind + "`");
    }
    return out;
  }

 private:
  static uint32_t hash(uint32_t i, uint32_t seed) {
    uint32_t h = i * 2654435761u ^ seed;
    h = (h ^ h >> 15) * 2246822519u;
    return ((h ^ h >> 13) * 3266489917u) & 0x3fffffffu;
  }
};

inline std::vector<LaunchArgument> parse_launch_arguments(const std::string& text) {
  std::vector<LaunchArgument> arguments;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    LaunchArgument& argument = arguments.emplace_back();
    std::istringstream parts(word);
    std::getline(parts, argument.kind, ':');
    std::getline(parts, argument.a, ':');
    std::getline(parts, argument.b, ':');
  }
  return arguments;
}

struct CalibrationLaunchRow {
  int id = 0;
  std::string set, file, kernel;
  unsigned grid_x = 1, grid_y = 1, block_x = 1, block_y = 1, shared = 0;
  size_t useful_bytes = 0;  // bytes that a lab's task must read and write; 0: not a lab
  std::string arguments;
};

// The cells of a line of CSV; commas inside double quotes do not separate them. (A program that is
// built on a GPU machine with nvcc alone cannot link base/files.h.)
inline std::vector<std::string> split_csv_line(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

inline std::vector<CalibrationLaunchRow> read_launches(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<CalibrationLaunchRow> launches;
  std::string line;
  std::getline(in, line);  // skips the names of the columns
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split_csv_line(line);
    if (cells.size() != 12) throw std::runtime_error(path + ": `" + line + "` has other columns");
    const auto count = [&](size_t i) { return static_cast<unsigned>(std::stoul(cells[i])); };
    launches.push_back({std::stoi(cells[0]), cells[1], cells[2], cells[3], count(5), count(6),
                        count(7), count(8), count(9), std::stoull(cells[10]), cells[11]});
  }
  return launches;
}

}  // namespace launches
