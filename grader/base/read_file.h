#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lab32 {

// The whole file as it is; nothing where it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

}  // namespace lab32
