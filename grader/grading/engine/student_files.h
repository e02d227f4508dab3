// `lab32 init`: the files that a student works with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32::grading {

struct StudentFiles {
  std::vector<std::string> written;  // below the directory: labs/reduction/reduction.cu
  std::vector<std::string> kept;     // there before, and left as they are
};

// Copies labs/ and handouts/ of root() into `directory`, which is made if need be. No file that is
// there is replaced. Throws Error for lab32's own directory and for what cannot be written.
StudentFiles write_student_files(const std::filesystem::path& directory);

// What was done, and what to do next.
std::string describe(const StudentFiles& files, const std::filesystem::path& directory);

}  // namespace lab32::grading
