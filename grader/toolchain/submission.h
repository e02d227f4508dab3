// What belongs to a submission: the .cu file and the headers beside it that it includes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace lab32::toolchain {

struct Submission {
  std::string name;                          // of the .cu file in the sandbox
  std::map<std::string, std::string> files;  // path below the .cu's directory -> text, the .cu too
};

// Reads them. Only plain files in the .cu's own directory and below, named by #include "..."; what
// is not taken is not there for the compiler, which then says so in its own words. Throws Error for
// a .cu that is missing, no plain file, too large, or a link into solutions/.
Submission read_submission(const std::filesystem::path& source, const std::string& display_path);

}  // namespace lab32::toolchain
