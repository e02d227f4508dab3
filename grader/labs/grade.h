// `lab32 grade`, but for the command line: from directories and names to a Result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/stopwatch.h"
#include "report/result.h"

namespace lab32::labs {

struct Options {
  std::vector<std::string> labs;       // empty: all that `dir` holds
  std::filesystem::path dir = "labs";  // <dir>/<lab>/<lab>.cu
  std::string device = "auto";
  std::optional<uint64_t> seed;  // absent: a fresh, secret one
  bool progress = false;         // tell on stderr what takes long
};

// Throws Error when nothing can be graded: no such lab, no file, no device, no nvcc.
report::Result grade(const Options& options);

// One submission at any path, as grade() does each lab: a file that cannot be read or compiled, or
// a device that cannot run it, costs this lab its points and nothing else.
// `stopwatch`: null where there is none.
report::Lab grade_file(const std::string& lab, const std::filesystem::path& file,
                       device::Device& device, uint64_t seed, class Progress& progress,
                       device::Stopwatch* stopwatch = nullptr);

// The checkout: where data/ and labs/include are. The environment's LAB32_ROOT goes before the one
// that was built in, for a binary that has been moved.
std::filesystem::path root();

}  // namespace lab32::labs
