// Records a program's launches for a tool in another process. While the program runs, the runtime
// library appends a line of JSON to a file for each kernel launch and for each unsupported feature,
// so a program that dies keeps its records. The tool reads the file when the program has ended.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::record {

// A launch with all its results. The members `run`, `worst`, `seconds` and `output` are not
// recorded, because only grading uses them.
struct LaunchProfile {
  uint64_t id = 0;  // counts the process's launches from 0
  int64_t process_id = 0;
  std::string process_name;           // the program's file name, without directories
  std::string symbol;                 // the kernel's mangled name
  uint64_t context = 1;               // Nsight Compute's numbering: the first context is 1
  uint64_t stream = 7;                // in Nsight Compute the default stream is 7
  int32_t device = 0;                 // device number
  std::string device_name;            // "sim:h200"
  std::string compute_capability;     // "9.0"
  uint32_t multiprocessors = 0;       // multiprocessors of the device
  device::LaunchShape shape;          // includes dynamic shared memory
  uint32_t static_shared = 0;         // bytes of a block
  std::optional<uint32_t> registers;  // registers per thread; absent without a cubin
  device::LaunchResult run;
};

// A call of a library function that the host executes instead of the simulator.
struct RecordedLibraryCall {
  struct Finding {
    enum class Kind : uint8_t { memory, initialisation };
    Kind kind = Kind::memory;
    std::string text;
  };
  std::string name;       // the name in the program's source: "cublasSgemm"
  std::string arguments;  // the arguments in short, such as "N T, 5 x 4 x 6"
  uint64_t launches = 0;  // launches of the process before the call
  uint64_t stream = 7;
  int32_t device = 0;
  std::vector<Finding> findings;
};

// A fault in the host's part of the program: a call that failed, an access that the host may not
// make, memory that it never frees.
struct HostFinding {
  enum class Kind : uint8_t { memory, race, initialisation };
  Kind kind = Kind::memory;
  std::string call;     // such as "cudaMemcpy"; empty: the program's own code
  bool launch = false;  // whether the call was to start a kernel that then did not run
  std::string file;     // empty, line 0: not known
  int line = 0;
  std::string text;
};

// The lines of the file, in order. `unsupported` lists what the program needed but is not
// supported: the name of an API function or a PTX instruction, and a message.
struct RecordedProgramRun {
  std::vector<LaunchProfile> launches;
  std::vector<RecordedLibraryCall> library_calls;
  std::vector<HostFinding> host_findings;
  std::vector<std::string> unsupported;
};

// The record as a single line of JSON, with its line end.
std::string to_json_record_line(const LaunchProfile& record);
std::string to_json_record_line(const RecordedLibraryCall& call);
std::string to_json_record_line(const HostFinding& finding);
std::string unsupported_record_line(const std::string& what);

// Appends a line with a single write, because several processes and threads of a program may share
// the file. Throws Error if the file cannot be written.
void append_line(const std::string& path, const std::string& line);

// The text form of the accesses that a launch should record in detail, for the other process.
// read_detail_filter throws Error if it cannot parse the text.
std::string to_text(const counters::DetailFilter& choice);
counters::DetailFilter read_detail_filter(const std::string& text);

// `name` is the file's name for messages. Ignores an unfinished last line, which a killed program
// leaves. Throws Error for any other line that is not valid.
RecordedProgramRun read_recording(std::istream& in, const std::string& name);

}  // namespace lab32::record
