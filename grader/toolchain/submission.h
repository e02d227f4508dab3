// Reads a submission: the .cu file and the headers in its directory that it includes. Only these
// files are copied into the sandbox, so a submission can never read another file by a name that
// this code has not checked.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"

namespace lab32::toolchain {

// The file cannot be graded; this is the submission's fault.
struct BadSubmission : Error {
  using Error::Error;
};

struct Submission {
  std::string name;  // name of the .cu file in the sandbox
  // Maps each path, relative to the .cu's directory, to its text; contains the .cu, too.
  std::map<std::string, std::string> files;
  const std::string& text() const { return files.at(name); }
};

// Reads the .cu and its headers: only regular files in the .cu's directory and below, on the same
// device, that an #include "..." names. A header that is not read does not exist for the compiler,
// which then reports it. Neither the file nor its directory may be a link. Throws BadSubmission for
// a .cu that is missing, no regular file, too large, or no text.
Submission read_submission(const std::filesystem::path& source, const std::string& display_path);

// The text with blanks in place of each `#line 7 "x"` and `# 7 "x"`, by which messages would name
// other lines and files. All other characters keep their positions.
std::string without_line_directives(const std::string& text);

}  // namespace lab32::toolchain
