// What a tool learns of a program that runs in another process: the runtime library appends one
// line of JSON to a file for each kernel launch, and for each thing it had to refuse, as they
// happen, so that a program that dies keeps its records; the tool reads them when it has ended.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::record {

// One launch and all that it gave. Of `run`, `worst`, `seconds` and `output` do not travel: they
// are a grading's.
struct LaunchProfile {
  uint64_t id = 0;  // from 0, in the order of the process' launches
  int64_t process_id = 0;
  std::string process_name;           // the program's file name, without directories
  std::string symbol;                 // of the kernel, mangled
  uint64_t context = 1;               // Nsight Compute's numbers: the first context is 1,
  uint64_t stream = 7;                // its default stream 7
  int32_t device = 0;                 // ordinal
  std::string device_name;            // "sim:h200"
  std::string compute_capability;     // "9.0"
  uint32_t multiprocessors = 0;       // of the device
  device::Shape shape;                // dynamic shared memory in it
  uint32_t static_shared = 0;         // bytes a block
  std::optional<uint32_t> registers;  // a thread; absent: no cubin
  device::Run run;
};

// A call of a library whose work is done on the host and not simulated.
struct LibraryCall {
  struct Finding {
    enum class Kind : uint8_t { memory, initialisation };
    Kind kind = Kind::memory;
    std::string text;
  };
  std::string name;       // as the program calls it: "cublasSgemm"
  std::string arguments;  // "N T, 5 x 4 x 6"
  uint64_t launches = 0;  // of the process, before it
  uint64_t stream = 7;
  int32_t device = 0;
  std::vector<Finding> findings;
};

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
