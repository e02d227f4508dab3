// What belongs to a submission: the .cu file and the headers beside it that it includes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"

namespace lab32::toolchain {

// The file cannot be taken: the submission's own fault.
struct BadSubmission : Error {
  using Error::Error;
};

struct Submission {
  std::string name;                          // of the .cu file in the sandbox
  std::map<std::string, std::string> files;  // path below the .cu's directory -> text, the .cu too
  const std::string& text() const { return files.at(name); }
};

// Reads them. Only plain files in the .cu's own directory and below, on its device, named by
// #include "..."; what is not taken is not there for the compiler, which then says so in its own
// words. Neither the file nor the directory that it is in may be a link. Throws BadSubmission for a
// .cu that is missing, no plain file, too large, or no text.
Submission read_submission(const std::filesystem::path& source, const std::string& display_path);

// The text with blanks in place of each `#line 7 "x"` and `# 7 "x"`, by which messages would name
// lines and files that are not there. Every position in it is where it was.
std::string without_line_directives(const std::string& text);

}  // namespace lab32::toolchain
