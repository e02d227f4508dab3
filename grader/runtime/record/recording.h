// From a program's process to the tool that has started it: the runtime library appends one line of
// JSON to a file for each kernel launch, and for each thing it had to refuse, as they happen, so
// that a program that dies keeps its records; the tool reads them when it has ended.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "runtime/record/launch_profile.h"

namespace lab32::record {

// Lines of the file, in order; `unsupported` holds what the program needed and did not get: the
// name of an API function or a PTX instruction, with what there is to say about it.
struct Recording {
  std::vector<LaunchProfile> launches;
  std::vector<LibraryCall> library_calls;
  std::vector<std::string> unsupported;
};

// One line, its end included.
std::string to_line(const LaunchProfile& record);
std::string to_line(const LibraryCall& call);
std::string to_line_unsupported(const std::string& what);

// Appends a line by a single write: several processes and threads of a program may share a file.
// Throws Error when the file cannot be written.
void append_line(const std::string& path, const std::string& line);

// What a launch is to look at closely, for the other process. read_close_up throws Error.
std::string to_text(const counters::CloseUpChoice& choice);
counters::CloseUpChoice read_close_up(const std::string& text);

// `name` is how messages call the file. A last line that a killed program left unfinished is
// dropped; anything else that is no such line throws Error.
Recording read_recording(std::istream& in, const std::string& name);

}  // namespace lab32::record
