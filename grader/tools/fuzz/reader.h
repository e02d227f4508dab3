// What the fuzz targets share. Each is one reader of text that somebody else wrote; it may refuse
// its text with an Error, and do nothing else wrong: no crash, no hang, no undefined behaviour.
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

// For readers of files: the text as the only file of a directory of this process, which stays until
// the next.
inline std::filesystem::path file_of(const std::string& name, const std::string& text) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("lab32-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / name, std::ios::binary) << text;
  return directory / name;
}

}  // namespace lab32::fuzz
