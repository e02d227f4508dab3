// The environment of this process: the variables that lab32 reads, and where lab32 lies.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32 {

// A variable of the environment that lab32 reads. getenv() is called for no other: whoever needs
// one more adds it to this table.
struct Variable {
  const char* name;
};

namespace variables {

// ---- of lab32 ----

// Where lab32 lies, where that is not above this program.
inline constexpr Variable kRoot{"LAB32_ROOT"};
// The nvcc and the nvdisasm to use, before those that are found (toolchain/toolchain.h).
inline constexpr Variable kNvcc{"LAB32_NVCC"}, kNvdisasm{"LAB32_NVDISASM"};
// How many megabytes of compiled artifacts are kept.
inline constexpr Variable kCacheMegabytes{"LAB32_CACHE_MB"};
// How many threads simulate; 0: one for each core.
inline constexpr Variable kThreads{"LAB32_THREADS"};
// "off": no history of results is kept beside the labs.
inline constexpr Variable kHistory{"LAB32_HISTORY"};
// The Python that runs lab32's own modules, where lab32 is an installed wheel.
inline constexpr Variable kPython{"LAB32_PYTHON"};
// The OpenBLAS that simulated cuBLAS computes with.
inline constexpr Variable kOpenBlas{"LAB32_OPENBLAS"};

// ---- of lab32, from `lab32 run`, `profile` and `check` to the program that they start ----

// Which of the three it is; the simulated GPU, and how many of it; the seed of the order of blocks.
inline constexpr Variable kTool{"LAB32_TOOL"}, kDevice{"LAB32_DEVICE"}, kGpus{"LAB32_GPUS"},
    kSchedule{"LAB32_SCHEDULE"};
// The file that launches are recorded in, and the line of the source that is looked at closely.
inline constexpr Variable kRecord{"LAB32_RECORD"}, kCloseUp{"LAB32_CLOSE_UP"};

// ---- of lab32's tests ----

// Set: expected texts, recorded references and modelled times are written, not compared.
inline constexpr Variable kUpdateGolden{"LAB32_UPDATE_GOLDEN"},
    kUpdateReference{"LAB32_UPDATE_REFERENCE"}, kUpdateModel{"LAB32_UPDATE_MODEL"};
// The file in which processes of tests add up the opcodes that they have covered.
inline constexpr Variable kCoveredOpcodes{"LAB32_COVERED_OPS"};
// The folder that results of gradings are left in, for the tests in Python.
inline constexpr Variable kGraded{"LAB32_GRADED"};
// 1: the documented reductions are run at their full size.
inline constexpr Variable kTestAll{"LAB32_TEST_ALL"};

// ---- of the system and of other programs ----

inline constexpr Variable kPath{"PATH"}, kLibraryPath{"LD_LIBRARY_PATH"};
inline constexpr Variable kTemporaryDirectory{"TMPDIR"}, kHome{"HOME"},
    kCacheHome{"XDG_CACHE_HOME"};
// https://no-color.org, and the kind of terminal.
inline constexpr Variable kNoColor{"NO_COLOR"}, kTerminal{"TERM"};
// More options of nvcc, which it reads itself, and those that PyCUDA hands to it.
inline constexpr Variable kNvccPrepend{"NVCC_PREPEND_FLAGS"}, kNvccAppend{"NVCC_APPEND_FLAGS"},
    kPyCudaFlags{"PYCUDA_DEFAULT_NVCC_FLAGS"};
// What OpenBLAS reads when it is loaded.
inline constexpr Variable kOpenBlasThreads{"OPENBLAS_NUM_THREADS"},
    kOpenBlasCore{"OPENBLAS_CORETYPE"};
// Where Python looks for modules.
inline constexpr Variable kPythonPath{"PYTHONPATH"};

}  // namespace variables

bool is_set(const Variable& variable);
// Its value; "" where it is not set.
std::string value_of(const Variable& variable);
// All variables that are set, each as "NAME=value".
std::vector<std::string> environment();

// Another value of a variable for as long as it lives.
class Setting {
 public:
  Setting(const Variable& variable, const std::string& value);
  ~Setting();
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  Variable variable_;
  bool was_set_;
  std::string before_;
};

// Where lab32 lies: data/, labs/, handouts/ and what else is read lie below it. It is a checkout,
// or an installed copy that is laid out as one: the nearest directory above this program (or above
// the runtime library that a user's program has loaded) that has data/limits and labs/include. It
// is looked for, not built in, so that it may be moved. LAB32_ROOT goes before it. Throws
// MachineError where there is none.
std::filesystem::path root();

}  // namespace lab32
