// A directory of a test's own, gone with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/scratch.h"

namespace lab32::tests {

struct Scratch : lab32::Scratch {
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::path file = path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
};

}  // namespace lab32::tests
