// Tests of warnings about unsupported features, before the program reaches them and by
// --list-unsupported.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/tests/fixtures/started.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"

namespace lab32::tests {

TEST_SUITE_BEGIN("cudart");

TEST_CASE("cudart: kernels that cannot run are named before the first one starts" * kSlow) {
  const ScratchDirectory scratch;
  const std::string kernels =
      "template <int N>\n"
      "__global__ void bad(unsigned *p) {\n"
      "  asm(\"discard.global.L2 [%0], 128;\" :: \"l\"(p));\n"
      "  *p = N;\n"
      "}\n"
      "__global__ void video(unsigned *p) {\n"
      "  asm(\"vadd.u32.s32.s32.min %0, %1, %1, %1;\" : \"=r\"(*p) : \"r\"(p[1]));\n"
      "}\n"
      "__device__ void deep(unsigned *p) { asm(\"txq.array_size.b32 %0, [%1];\" : \"=r\"(*p) : "
      "\"l\"(p)); }\n"
      "__global__ void calls(unsigned *p) { deep(p); }\n";
  const std::string first =
      scratch
          .write("p.cu", kernels +
                             "__global__ void fine() { printf(\"fine\\n\"); }\n"
                             "void others();\n"
                             "int main(int count, char**) {\n"
                             "  puts(\"starts\");\n"
                             "  fine<<<1, 1>>>(); fine<<<1, 1>>>();\n"
                             "  if (count == 7) bad<1><<<1, 1>>>(0), bad<2><<<1, 1>>>(0), "
                             "video<<<1, 1>>>(0), calls<<<1, 1>>>(0), others();\n"
                             "  cudaDeviceSynchronize();\n"
                             "}\n")
          .string();
  // Two more modules that the program does not use; one kernel on each line.
  std::string many, launches;
  for (const char* n : {"1", "2", "3"}) {
    many += std::string("__global__ void more") + n +
            "(unsigned *p) { asm(\"multimem.red.global.add.u32 [%0], 1;\" :: \"l\"(p)); }\n";
    launches += std::string("more") + n + "<<<1, 1>>>(0);";
  }
  const std::string second =
      scratch.write("q.cu", many + "void others() {" + launches + "}\n").string();
  const std::string third =
      scratch
          .write("r.cu",
                 "__global__ void other(int *p) { *p = 1; }\nvoid* other_at = (void*)other;\n")
          .string();
  const auto holds = [](const std::string& what) {
    return "lab32: the program contains a kernel that cannot run: " + what + "\n";
  };
  const ProcessOutcome outcome = run_lab32({"run", first, second, third, "-include", "cstdio"});
  check_outcome(
      outcome, 0, "starts\nfine\nfine\n",
      holds(first +
            ":7: vadd.u32.s32.s32.min: ptxas compiles this comparison in another way than the PTX "
            "ISA says (kernel video)") +
          holds(
              first +
              ":9: txq.array_size.b32: the result for texture objects is not known, because ptxas "
              "reads it from a table of texture references (kernel calls)") +
          holds("p.cu:3: `discard.global.L2` is not supported by the simulator (kernel bad<1> and "
                "1 more)") +
          holds("q.cu:1: `multimem.red.global.add.u32` is not supported by the simulator (kernel "
                "more1)") +
          "lab32: ... and 2 more: `lab32 run --list-unsupported` lists all\n");
}

TEST_CASE("cudart: a kernel that cannot run is named as soon as the program loads its module" *
          kSlow) {
  const ScratchDirectory scratch;
  const std::string source =
      scratch
          .write("p.cpp",
                 "#include <cuda.h>\n"
                 "#include <cstdio>\n"
                 "const char ptx[] = \".version 8.0\\n.target sm_90\\n.address_size 64\\n\"\n"
                 "  \".visible .entry go(.param .u64 p) {\\n.reg .b64 %d;\\n\"\n"
                 "  \"ld.param.u64 %d, [p];\\ndiscard.global.L2 [%d], 128;\\nret;\\n}\\n\";\n"
                 "int main() {\n"
                 "  CUdevice device; CUcontext context; CUmodule module;\n"
                 "  cuInit(0), cuDeviceGet(&device, 0);\n"
                 "  cuDevicePrimaryCtxRetain(&context, device), cuCtxSetCurrent(context);\n"
                 "  printf(\"%d\\n\", cuModuleLoadData(&module, ptx));\n"
                 "  printf(\"%d\\n\", cuIpcGetEventHandle(0, 0));\n"
                 "}\n")
          .string();
  const std::string event = "cuIpcGetEventHandle is not supported by the simulated driver";
  check_outcome(run_lab32({"run", source, "-lcuda"}), 2, "0\n801\n",
                "lab32: the program uses a function that cannot run: " + event +
                    "\nlab32: the program has loaded a kernel that cannot run: <PTX 1>:7: "
                    "`discard.global.L2` is not supported by the simulator (kernel go)\nlab32: " +
                    source + ":11: " + event + kNoResult);
}

TEST_CASE("cudart: --list-unsupported lists calls, device code and libraries, and runs nothing" *
          kSlow) {
  const ScratchDirectory scratch;
  const auto list = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "--list-unsupported"});
    return run_lab32(words);
  };
  const std::string source =
      scratch
          .write("p.cu",
                 "#include <cstdio>\n"
                 "struct Early { Early() { puts(\"it runs\"); } } early;\n"
                 "__device__ int there(int);\n"
                 "__global__ void fine() {}\n"
                 "template <int N>\n"
                 "__global__ void bad(unsigned *p) {\n"
                 "  asm(\"discard.global.L2 [%0], 128;\" "
                 ":: \"l\"(p));\n"
                 "  *p = there(N);\n"
                 "}\n"
                 "int main() {\n"
                 "  fine<<<1, 1>>>(); bad<1><<<1, 1>>>(0); bad<2><<<1, 1>>>(0);\n"
                 "  cudaIpcMemHandle_t h; return cudaIpcGetMemHandle(&h, 0);\n"
                 "}\n")
          .string();
  const std::string other =
      scratch.write("q.cu", "__device__ int there(int x) { return x; }\n").string();
  check_outcome(list({source, other, "-rdc=true"}), 2,
                source +
                    ":12: cudaIpcGetMemHandle is not supported by the simulated runtime\n"
                    "p.cu:7: `discard.global.L2` is not supported by the "
                    "simulator (kernel bad<1> and 1 more)\nlab32: " +
                    source + " needs 2 things that are not supported\n",
                "");
  const ProcessOutcome fine = list({of_tests("echo")});
  check_outcome(fine, 0, "lab32: " + of_tests("echo") + " uses supported features only\n", "");
  check_outcome(
      list({of_tests("echo"), "-lcufft"}), 2, "",
      "lab32: -lcufft: cuFFT is machine code for GPUs, which the simulator does not run: compare "
      "with a transform on the host (FFTW, or a loop in double precision)\n");
}

// The program itself imports no function of the runtime.
TEST_CASE("cudart: refused functions in a program's own libraries are named before it starts" *
          kSlow) {
  const ScratchDirectory scratch;
  const auto in = [&](const std::string& name) { return (scratch.path / name).string(); };
  const auto nvcc = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "nvcc");
    check_outcome(run_lab32(words), 0, "", "");
  };
  const auto library = [&](const std::string& name, const std::string& text,
                           const std::vector<std::string>& other) {
    scratch.write(name + ".cu", text);
    std::vector<std::string> words{"-Xcompiler=-fPIC", "-shared", in(name + ".cu")};
    words.insert(words.end(), other.begin(), other.end());
    words.insert(words.end(), {"-o", in("lib" + name + ".so")});
    nvcc(words);
  };
  const std::string place = "-rpath=" + scratch.path.string();
  library("inner",
          "int inner() { cudaIpcMemHandle_t h; return cudaIpcGetMemHandle(&h, nullptr); }\n", {});
  library("outer", "int inner();\nint outer(int x) { return x > 1 ? inner() : 0; }\n",
          {in("libinner.so"), "-Xlinker", place});
  scratch.write("main.cpp",
                "int outer(int); int main(int count, char**) { return outer(count); }\n");
  nvcc({in("main.cpp"), in("libouter.so"), "-Xlinker", place, "-o", in("program")});
  const std::string refused = "cudaIpcGetMemHandle is not supported by the simulated runtime",
                    named = "lab32: the program uses a function that cannot run: " + refused + "\n";
  check_outcome(run_program(in("program")), 0, "", named);
  check_outcome(run_program(in("program"), {"call"}), 2, "",
                named + "lab32: " + refused + kNoResult);
}

TEST_SUITE_END();

}  // namespace lab32::tests
