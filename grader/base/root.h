// Where the checkout is: data/, labs/, solutions/ and grader/ lie below it.
#pragma once

#include <filesystem>

namespace lab32 {

// The one that was built in.
std::filesystem::path built_root();

// The environment's LAB32_ROOT goes before it, for a binary that has been moved.
std::filesystem::path root();

}  // namespace lab32
