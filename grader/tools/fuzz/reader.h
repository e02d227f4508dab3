// Shared code of the fuzz targets. Each target reads text of unknown origin. It may refuse the text
// with an Error; a crash, a hang or undefined behaviour is a bug.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace lab32::fuzz {

inline std::string text_of(const uint8_t* data, size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

// For readers of files: writes the text as the only file of a directory of this process, which
// stays until the next call.
inline std::filesystem::path file_of(const std::string& name, const std::string& text) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("lab32-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / name, std::ios::binary) << text;
  return directory / name;
}

}  // namespace lab32::fuzz
