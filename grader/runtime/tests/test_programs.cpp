// Whole programs on the simulated runtime, started as `lab32 run` starts them. The programs in
// tests/calls check themselves, or this file has their expected output.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "base/process.h"
#include "runtime/profiler/build_program.h"
#include "runtime/profiler/start.h"
#include "runtime/record/recording.h"
#include "runtime/tests/fixtures/started.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"
#include "toolchain/toolchain.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

const std::string kHandleRefused = "cudaIpcGetMemHandle is not supported by the simulated runtime",
                  kNamed = "lab32: the program uses a function that cannot run: " + kHandleRefused +
                           "\n";

fs::path built(const std::string& source) {
  return profiler::build_program({(toolchain::checkout_directory() / source).string(), {}},
                                 "sm_90");
}

// Runs the program as a child, as profile and check do, with no input and no visible output.
int run_quietly(const profiler::ProgramToStart& start) {
  int kept[3];
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  std::fflush(stdout);
  for (int fd : {0, 1, 2}) {
    kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    dup2(nothing, fd);
  }
  const auto restore = [&] {
    for (int fd : {0, 1, 2}) {
      dup2(kept[fd], fd);
      close(kept[fd]);
    }
    close(nothing);
  };
  try {
    const int status = profiler::run_and_wait(start);
    restore();
    return status;
  } catch (...) {
    restore();
    throw;
  }
}

// Builds with nvcc and a user's own options.
std::string compiled(const ScratchDirectory& scratch, const std::vector<std::string>& flags) {
  const toolchain::Toolchain& tools = toolchain::installed_toolchain();
  const std::string source = (toolchain::checkout_directory() / of_tests("refusals")).string(),
                    program = (scratch.path / "program").string();
  std::vector<std::string> argv{tools.nvcc.string(), "-o", program, source,
                                "-L" + profiler::runtime_directory().string()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  const ProcessOutcome nvcc = execute(argv);
  INFO(nvcc.err);
  REQUIRE(nvcc.ok());
  return program;
}

void check_all_as_expected(const char* program) {
  CAPTURE(program);
  check_outcome(run_program(of_tests(program)), 0, "all as expected\n", "");
}

}  // namespace

TEST_SUITE_BEGIN("cudart");

TEST_CASE("cudart: programs that check themselves find no error" * kSlow) {
  check_all_as_expected("launches");
}

TEST_CASE("cudart: more programs that check themselves find no error" * kSlow) {
  for (const char* name : {"memory", "streams", "copies", "device", "rarely", "handles", "times"})
    check_all_as_expected(name);
}

TEST_CASE("cudart: tiles of several warps keep what they share in reserved shared memory" * kSlow) {
  check_outcome(run_program(of_tests("large_tiles")), 0, "right, error 0\n", "");
}

TEST_CASE("cudart: the output of kernels appears in order when the program waits" * kSlow) {
  check_outcome(run_program(of_tests("printing")), 0,
                "launched 1\nlaunched 2\n"
                "kernel 1, thread 0\nkernel 1, thread 1\nkernel 2, thread 0\nwaited\n"
                "recorded\nkernel 3, thread 0\n"
                "allocated\nkernel 4, thread 0\ndone\n",
                "");
}

TEST_CASE("cudart: a fault is printed once, returned by the next call that waits, and persists" *
          kSlow) {
  struct Case {
    const char *way, *error, *message;
  };
  const Case cases[] = {
      {"bounds", "cudaErrorIllegalAddress",
       "10: kernel go_wrong: out of bounds: thread (0,0,0) of block (0,0,0) writes 4 bytes at "
       "offset 400 of `data` (allocated on line 29): 4 bytes past its end (400 bytes)"},
      {"misaligned", "cudaErrorMisalignedAddress",
       "11: kernel go_wrong: misaligned: thread (0,0,0) of block (0,0,0) writes 4 bytes at offset "
       "2 "
       "of `data` (allocated on line 29): an access of 4 bytes needs an address that is a multiple "
       "of 4"},
      {"null", "cudaErrorIllegalAddress",
       "12: kernel go_wrong: null: thread (0,0,0) of block (0,0,0) writes 4 bytes at address 0x0: "
       "a "
       "null pointer"},
      {"assert", "cudaErrorAssert",
       "13: kernel go_wrong: assertion: thread (7,0,0) of block (0,0,0): assertion `i < 7` failed "
       "(line "
       "13)"},
      {"trap", "cudaErrorLaunchFailure",
       "14: kernel go_wrong: trap: thread (0,0,0) of block (0,0,0) executes trap"}};
  for (const Case& c : cases) {
    CAPTURE(c.way);
    const std::string error = c.error;
    check_outcome(run_program(of_tests("faults"), {c.way}), 3,
                  "before\nat the launch: cudaSuccess\nat the next launch: cudaSuccess\n"
                  "thread 0 was here\nthread 1 was here\n"
                  "synchronised: " +
                      error + "\nlast: " + error + "\nlast again: cudaSuccess\ncopy: " + error +
                      "\nallocation: " + error + "\nlaunch: " + error + "\n",
                  "lab32: " + of_tests("faults") + ":" + c.message + "\n");
  }
}

TEST_CASE("cudart: an unsupported feature is named once, and the exit status is 2" * kSlow) {
  const std::string note =
      kNamed + "lab32: " + of_tests("refusals") + ":18: " + kHandleRefused + kNoResult;
  check_outcome(run_program(of_tests("refusals"), {"return"}), 2, "cudaErrorNotSupported\n", note);
  check_outcome(run_program(of_tests("refusals"), {"exit"}), 2, "cudaErrorNotSupported\n", note);
  check_outcome(run_program(of_tests("refusals"), {"quick"}), 2, "cudaErrorNotSupported\n", note);
  check_outcome(run_program(of_tests("refusals"), {"abort"}), 2, "", note);
  check_outcome(run_program(of_tests("refusals"), {"nothing"}), 7, "", kNamed);
  const std::string multimem = "`multimem.red.global.add.u32` is not supported by the simulator (";
  check_outcome(
      run_program(of_tests("instruction")), 2, "2\ncudaErrorNotSupported\n2\n",
      "lab32: the program contains a kernel that cannot run: instruction.cu:7: " + multimem +
          "kernel unknown)\nlab32: cudaLaunchKernel: PTX line 28: " + multimem +
          "source: instruction.cu:7)" + kNoResult);
}

// The pages of such memory are allocated when they are touched; promised memory counts
// nevertheless.
TEST_CASE("cudart: a program cannot allocate more memory than this machine has" * kSlow) {
  const ScratchDirectory scratch;
  const std::string source =
      scratch
          .write("p.cu",
                 "#include <algorithm>\n"
                 "#include <cstdio>\n"
                 "#include <cstring>\n"
                 "int main() {\n"
                 "  unsigned long long kib = 0, line = 0;\n"
                 "  FILE* info = fopen(\"/proc/meminfo\", \"r\");\n"
                 "  char name[64];\n"
                 "  while (line != 1 && fscanf(info, \"%63s %llu kB\", name, &kib) > 0)\n"
                 "    line = !strcmp(name, \"MemAvailable:\");\n"
                 "  const unsigned long long most = 100ull << 30;  // the GPU's own limit comes "
                 "first\n"
                 "  const size_t bytes = std::min(kib << 10, most) / 5 * 2;\n"
                 "  void* p[3];\n"
                 "  for (int i = 0; i < 3; ++i)\n"
                 "    puts(i == 2 && (kib << 10) > most ? \"out of memory\" : "
                 "cudaGetErrorString(cudaMalloc(p + i, bytes)));\n"
                 "  char c;\n"
                 "  cudaMemcpy(&c, (char*)p[1] + bytes / 2, 1, cudaMemcpyDeviceToHost);\n"
                 "  printf(\"%d\\n\", c);\n"
                 "}\n")
          .string();
  const ProcessOutcome outcome = run_program(source);
  CHECK(outcome.out == "no error\nno error\nout of memory\n-1\n");
}

TEST_CASE("cudart: input, arguments, output and exit status are the program's own" * kSlow) {
  const ScratchDirectory scratch;
  const auto numbers = scratch.write("numbers", "1 2 3\n400\n");
  const std::string lab32 = (toolchain::checkout_directory() / "build/lab32").string();
  const ProcessOutcome outcome =
      execute({"/bin/sh", "-c",
               lab32 + " run " + of_tests("echo") + " a -- --b '' 'c d' 42 < " + numbers.string()});
  check_outcome(outcome, 42, "sum 406\n", "echo.cu <a> <--b> <> <c d> <42>\n");
  const ProcessOutcome killed = run_program(of_tests("echo"), {"kill"});
  CHECK(killed.end == ProcessOutcome::End::signalled);
  CHECK(killed.status == SIGTERM);
  const ProcessOutcome touched = run_program(of_tests("echo"), {"touch"});
  CHECK(touched.end == ProcessOutcome::End::signalled);
  CHECK(touched.status == SIGSEGV);
}

TEST_CASE("cudart: run_and_wait returns the exit status as a shell does" * kSlow) {
  profiler::ProgramToStart start;
  start.program = built(of_tests("echo"));
  start.arguments = {"7"};
  CHECK(run_quietly(start) == 7);
  start.arguments = {"kill"};
  CHECK(run_quietly(start) == 128 + SIGTERM);
  start.program = "/nowhere";
  CHECK_THROWS_WITH(run_quietly(start), "/nowhere cannot be started: No such file or directory");
}

TEST_CASE("cudart: each launch and each refusal leaves a line in the record" * kSlow) {
  const ScratchDirectory scratch;
  profiler::ProgramToStart start;
  start.record = scratch.path / "record";
  const auto recording = [&] {
    std::ifstream in(start.record);
    return record::read_recording(in, "record");
  };
  start.program = built(of_tests("printing"));
  CHECK(run_quietly(start) == 0);
  const record::RecordedProgramRun printing = recording();
  CHECK(printing.unsupported.empty());
  REQUIRE(printing.launches.size() == 5);
  CHECK(printing.launches[0].symbol == "_Z3sayi");
  CHECK(printing.launches[0].shape.block.x == 2);
  CHECK(printing.launches[4].id == 4);
  CHECK(printing.launches[4].stream == 7);
  CHECK(printing.launches[4].device_name == "sim:h200");
  CHECK(printing.launches[4].registers.has_value());
  CHECK(printing.launches[4].run.counters.has_value());

  fs::remove(start.record);
  start.program = built(of_tests("refusals"));
  start.arguments = {"return"};
  CHECK(run_quietly(start) == 2);
  const record::RecordedProgramRun refusals = recording();
  CHECK(refusals.launches.empty());
  CHECK(refusals.unsupported == std::vector<std::string>{kHandleRefused});
}

TEST_CASE("cudart: programs that the user compiled run, or are refused with a reason" * kSlow) {
  const ScratchDirectory scratch;
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-arch=sm_90", "-cudart", "shared"},
        {"-arch=sm_90", "-cudart", "shared", "--compress-mode=size"},
        {"-arch=sm_90", "-cudart", "shared", "--compress-mode=speed"},
        {"-arch=sm_75", "-cudart", "shared", "--compress-mode=none"},
        {"-arch=sm_90", "-cudart", "shared", "--default-stream", "per-thread"}}) {
    CAPTURE(flags.back());
    check_outcome(run_program(compiled(scratch, flags), {"nothing"}), 7, "", kNamed);
  }
  // Without line information for host code.
  check_outcome(run_program(compiled(scratch, {"-arch=sm_90", "-cudart", "shared"}), {"exit"}), 2,
                "cudaErrorNotSupported\n", kNamed + "lab32: " + kHandleRefused + kNoResult);
  check_outcome(run_program(compiled(scratch, {"-gencode", "arch=compute_90,code=sm_90", "-cudart",
                                               "shared"}),
                            {"nothing"}),
                2, "",
                kNamed +
                    "lab32: the program contains no PTX for sm_90 (it contains a cubin for 90): "
                    "build it with "
                    "lab32 nvcc, or nvcc -arch=sm_90" +
                    kNoResult);
  const std::string linked_statically = compiled(scratch, {"-arch=sm_90"});
  check_outcome(run_program(linked_statically), 2, "",
                "lab32: " + linked_statically +
                    " contains NVIDIA's static CUDA runtime (nvcc's default), which needs a GPU's "
                    "driver: build it with `lab32 nvcc` or `nvcc -cudart "
                    "shared`, or give lab32 its source\n");
  check_outcome(
      run_program("/bin/true"), 2, "",
      "lab32: /bin/true is not a CUDA program: it has no device code and no CUDA runtime\n");
}

// An interpreter is linked with no CUDA library, and loads the driver at run time.
TEST_CASE("cudart: a program that loads the driver at run time finds the simulated one" * kSlow) {
  const std::string script =
      "import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); n = ctypes.c_int(); cuda.cuInit(0); "
      "print(cuda.cuDeviceGetCount(ctypes.byref(n)), n.value, flush=True); "
      "cuda.cuGetExportTable(ctypes.byref(ctypes.c_void_p()), "
      "bytes.fromhex('6bd5fb6c5bf4e74a8987d93912fd9df9'))";
  check_outcome(run_program(".venv/bin/python", {"-c", script}), 2, "0 1\n",
                "lab32: cuGetExportTable: the program or one of its libraries contains NVIDIA's "
                "CUDA runtime (usually linked statically), which needs undocumented functions of "
                "the driver: build with nvcc -cudart shared to use lab32's runtime" +
                    kNoResult);
}

// Builds as a Makefile does: objects, a library of device code, a shared library. The program is
// then started without lab32, in an environment with a real runtime.
TEST_CASE("cudart: lab32 nvcc builds in steps" * kSlow) {
  const ScratchDirectory scratch;
  scratch.write("part.cu", "__device__ int half(int x) { return x / 2; }\n");
  scratch.write("kernel.cu",
                "#include <cstdio>\n"
                "__device__ int half(int);\n"
                "__global__ void k() { printf(\"half of 8 is %d\\n\", half(8)); }\n"
                "extern \"C\" int work() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n");
  scratch.write("main.cpp", "extern \"C\" int work(); int main() { return work(); }\n");
  const auto in = [&](const std::string& name) { return (scratch.path / name).string(); };
  const auto nvcc = [&](std::vector<std::string> words) {
    // CMake gets the wrapper script as the compiler.
    words.insert(words.begin(),
                 (toolchain::checkout_directory() / "grader/runtime/profiler/cmake/nvcc").string());
    const ProcessOutcome outcome = execute(words);
    CHECK(outcome.err == "");
    REQUIRE(outcome.ok());
    return outcome.out;
  };
  const std::string arch = "-arch=sm_80", shared_code = "-Xcompiler=-fPIC";
  nvcc({arch, shared_code, "-dc", in("part.cu"), "-o", in("part.o")});
  nvcc({arch, "-lib", in("part.o"), "-o", in("libpart.a")});
  nvcc({arch, shared_code, "-dc", in("kernel.cu"), "-o", in("kernel.o")});
  nvcc({arch, "-shared", in("kernel.o"), "-L" + scratch.path.string(), "-lpart", "-o",
        in("libwork.so")});
  nvcc({"-cudart", "static", in("main.cpp"), in("libwork.so"), "-Xlinker",
        "-rpath=" + scratch.path.string(), "-o", in("program")});
  const auto started = [&](const std::vector<std::string>& argv) {
    check_outcome(execute(argv), 0, "half of 8 is 4\n", "");
  };
  started({"/usr/bin/env", "LD_LIBRARY_PATH=/usr/local/cuda/lib64", in("program")});
  check_outcome(run_program(in("program")), 0, "half of 8 is 4\n", "");
  const std::string file = nvcc({"--cmake"});
  REQUIRE(!file.empty());
  CHECK(fs::exists(file.substr(0, file.size() - 1)));
}

TEST_CASE("cudart: a program is compiled again when an included file has changed" * kSlow) {
  const ScratchDirectory scratch;
  const auto source = scratch.write("a program.cu",
                                    "#include \"number.h\"\n"
                                    "int main() { return kNumber; }\n");
  scratch.write("number.h", "constexpr int kNumber = 3;\n");
  CHECK(run_program(source.string()).status == 3);
  const fs::path program = built(source.string());
  const auto when = fs::last_write_time(program);
  CHECK(built(source.string()) == program);
  CHECK(fs::last_write_time(program) == when);
  scratch.write("number.h", "constexpr int kNumber = 4;\n");
  CHECK(run_program(source.string()).status == 4);
}

TEST_CASE("cudart: a program that cannot be run gives one line and status 2" * kSlow) {
  const ScratchDirectory scratch;
  check_outcome(run_program("/nowhere.cu"), 2, "", "lab32: /nowhere.cu: there is no such file\n");
  const auto text = scratch.write("notes.txt", "hello");
  check_outcome(run_program(text.string()), 2, "",
                "lab32: " + text.string() + " is neither a .cu file nor a compiled program\n");
  const auto wrong = scratch.write("wrong.cu", "int main() { return x; }\n");
  const ProcessOutcome outcome = run_program(wrong.string());
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("identifier \"x\" is undefined") != std::string::npos);
  const std::string last = "lab32: " + wrong.string() + " does not compile (nvcc: exit status 2)\n";
  CHECK(outcome.err.substr(outcome.err.size() - std::min(outcome.err.size(), last.size())) == last);
}

TEST_SUITE_END();

}  // namespace lab32::tests
