// The environment variables that lab32 reads, and the directory in which lab32 is installed. Every
// variable has an entry in the table below; environment_value() and is_set() read it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32 {

// An environment variable that lab32 reads. No other code calls getenv(): a new variable gets an
// entry in this table.
struct EnvironmentVariableName {
  const char* name;
};

namespace variables {

// ---- of lab32 ----

// lab32's root directory, if it is not a parent directory of this program.
inline constexpr EnvironmentVariableName kRoot{"LAB32_ROOT"};
// A folder with more labs, in the same places as in lab32's root: `lab32 grade --labs`.
inline constexpr EnvironmentVariableName kLabs{"LAB32_LABS"};
// The nvcc and the nvdisasm to use instead of those that are found (toolchain/toolchain.h).
inline constexpr EnvironmentVariableName kNvcc{"LAB32_NVCC"}, kNvdisasm{"LAB32_NVDISASM"};
// The size limit of the cache of compiled artifacts, in megabytes.
inline constexpr EnvironmentVariableName kCacheMegabytes{"LAB32_CACHE_MB"};
// The number of host threads that simulate; 0: one for each core.
inline constexpr EnvironmentVariableName kThreads{"LAB32_THREADS"};
// "off": lab32 writes no history of results into the directory of the labs.
inline constexpr EnvironmentVariableName kHistory{"LAB32_HISTORY"};
// The Python that runs lab32's own modules, where lab32 is an installed wheel.
inline constexpr EnvironmentVariableName kPython{"LAB32_PYTHON"};
// The OpenBLAS that simulated cuBLAS computes with.
inline constexpr EnvironmentVariableName kOpenBlas{"LAB32_OPENBLAS"};

// ---- of lab32: passed by `lab32 run`, `profile` and `check` to the program that they start ----

// The command that started the program; the simulated GPU and the number of GPUs; the seed of the
// random order of blocks.
inline constexpr EnvironmentVariableName kTool{"LAB32_TOOL"}, kDevice{"LAB32_DEVICE"},
    kGpus{"LAB32_GPUS"}, kSchedule{"LAB32_SCHEDULE"};
// The file into which launches are recorded, and the source line whose accesses are recorded lane
// by lane.
inline constexpr EnvironmentVariableName kRecord{"LAB32_RECORD"},
    kLaunchDetail{"LAB32_LAUNCH_DETAIL"};

// ---- of lab32's tests ----

// If set, tests write expected texts, recorded references and modelled times instead of comparing
// them.
inline constexpr EnvironmentVariableName kUpdateGolden{"LAB32_UPDATE_GOLDEN"},
    kUpdateReference{"LAB32_UPDATE_REFERENCE"}, kUpdateModel{"LAB32_UPDATE_MODEL"};
// The file in which test processes collect the opcodes that they have covered.
inline constexpr EnvironmentVariableName kCoveredOpcodes{"LAB32_COVERED_OPS"};
// The folder in which gradings leave their results for the tests in Python.
inline constexpr EnvironmentVariableName kGraded{"LAB32_GRADED"};
// 1: the documented reductions run at full size.
inline constexpr EnvironmentVariableName kTestAll{"LAB32_TEST_ALL"};

// ---- of the system and of other programs ----

inline constexpr EnvironmentVariableName kPath{"PATH"}, kLibraryPath{"LD_LIBRARY_PATH"};
inline constexpr EnvironmentVariableName kTemporaryDirectory{"TMPDIR"}, kHome{"HOME"},
    kCacheHome{"XDG_CACHE_HOME"};
// NO_COLOR turns colours off (https://no-color.org); TERM is the kind of terminal.
inline constexpr EnvironmentVariableName kNoColor{"NO_COLOR"}, kTerminal{"TERM"};
// Additional options: nvcc reads the first two itself, PyCUDA passes the third to nvcc.
inline constexpr EnvironmentVariableName kNvccPrepend{"NVCC_PREPEND_FLAGS"},
    kNvccAppend{"NVCC_APPEND_FLAGS"}, kPyCudaFlags{"PYCUDA_DEFAULT_NVCC_FLAGS"};
// OpenBLAS reads these when it is loaded.
inline constexpr EnvironmentVariableName kOpenBlasThreads{"OPENBLAS_NUM_THREADS"},
    kOpenBlasCore{"OPENBLAS_CORETYPE"};
// The directories in which Python looks for modules.
inline constexpr EnvironmentVariableName kPythonPath{"PYTHONPATH"};

}  // namespace variables

bool is_set(const EnvironmentVariableName& variable);
// The value; "" if the variable is not set.
std::string environment_value(const EnvironmentVariableName& variable);
// All variables that are set, each as "NAME=value".
std::vector<std::string> environment();

// Sets a variable for the lifetime of this object, then restores it.
class ScopedEnvironmentVariable {
 public:
  ScopedEnvironmentVariable(const EnvironmentVariableName& variable, const std::string& value);
  ~ScopedEnvironmentVariable();
  ScopedEnvironmentVariable(const ScopedEnvironmentVariable&) = delete;
  ScopedEnvironmentVariable& operator=(const ScopedEnvironmentVariable&) = delete;

 private:
  EnvironmentVariableName variable_;
  bool was_set_;
  std::string before_;
};

// lab32's root directory: data/, labs/, handouts/ and the other files that lab32 reads are below
// it. It is a checkout, or an installed copy with the same layout: the nearest parent directory of
// this program (or of the runtime library that a user's program has loaded) that has data/limits
// and labs/include. It is searched for at run time, so that it may be moved. LAB32_ROOT overrides
// the search. Throws MachineError if there is none.
std::filesystem::path lab32_root();

// The directory with a lab's rubric, given kernels and solution: LAB32_LABS, if the lab is there,
// else lab32_root().
std::filesystem::path root_of_lab(const std::string& lab);

}  // namespace lab32
