// Tests of the simulated cuBLAS: its exported names, and the messages if it or another library is
// missing. tests/programs/cublas tests the results of its functions.

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/elf.h"
#include "base/files.h"
#include "base/process.h"
#include "runtime/profiler/build_program.h"
#include "runtime/profiler/commands.h"
#include "runtime/profiler/libraries.h"
#include "runtime/profiler/profile_text.h"
#include "runtime/record/recording.h"
#include "runtime/tests/fixtures/started.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"
#include "toolchain/toolchain.h"

namespace lab32::tests {
namespace {

std::set<std::string> names_exported_by(const std::filesystem::path& library) {
  const std::string bytes = read_file(library).value_or("");
  std::set<std::string> names;
  for (const std::string& name : read_elf(bytes, library.string()).exports)
    // the version node is listed as a symbol, too
    if (name != library.filename()) names.insert(name);
  return names;
}

const std::set<std::string> kCublasNames = {
#define WORKS(symbol) #symbol,
#define REFUSES(symbol) #symbol,
#include "runtime/cublas/api.def"
};
const std::set<std::string> kCublasLtNames = {
#include "runtime/cublas/lt_api.def"
#undef WORKS
#undef REFUSES
};

}  // namespace

TEST_CASE("cublas: the libraries export NVIDIA's names with its symbol version" * kSlow) {
  struct CublasLibrary {
    const char* file;
    const std::set<std::string>& names;
  };
  for (const auto& [file, names] : {CublasLibrary{"libcublas.so.13", kCublasNames},
                                    CublasLibrary{"libcublasLt.so.13", kCublasLtNames}}) {
    CAPTURE(file);
    const auto ours = profiler::runtime_directory() / file;
    CHECK(names_exported_by(ours) == names);
    void* library = dlopen(ours.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library, dlerror());
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK(dlvsym(library, name.c_str(), file));
    }
    // pip's toolkit has no cuBLAS.
    for (const char* directory : {"lib64", "lib"}) {
      const auto real = toolchain::installed_toolchain().cuda_home / directory / file;
      if (!std::filesystem::exists(real)) continue;
      for (const std::string& name : names_exported_by(real)) {
        CAPTURE(name);
        CHECK(names.count(name) == 1);
      }
      break;
    }
  }
}

TEST_CASE("cublas: the error message names the OpenBLAS version that the set-up installs" * kSlow) {
  const std::string source =
      read_file(toolchain::checkout_directory() / "grader/runtime/cublas/products.cpp")
          .value_or("");
  const size_t name = source.find("scipy-openblas32==");
  REQUIRE(name != std::string::npos);
  const std::string pinned = source.substr(name, source.find('"', name) - name);
  const std::string list =
      read_file(toolchain::checkout_directory() / "grader/setup/openblas.txt").value_or("");
  CHECK(list.find("\n" + pinned + "\n") != std::string::npos);
}

// Runs one program without OpenBLAS, with lab32's header for toolkits without cuBLAS, and with a
// function that is not supported.
TEST_CASE("cublas: a missing library or function is named, if possible before the first kernel" *
          kSlow) {
  const ScratchDirectory scratch;
  const std::string source =
      scratch
          .write(
              "p.cu",
              "#include <cublas_v2.h>\n"
              "#include <cstdio>\n"
              "int main(int count, char**) {\n"
              "  cublasHandle_t h;\n"
              "  cublasCreate(&h);\n"
              "  float *a, one = 1;\n"
              "  cudaMalloc(&a, 64), cudaMemset(a, 0, 64);\n"
              "  std::printf(\"%d\\n\", count == 1 ? cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, "
              "2, "
              "2, &one, a, 2, a, 2, &one, a + 4, 2)\n"
              "    : cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 2, 2, &one, a, 2, &one, "
              "a, 2));\n"
              "}\n")
          .string();
  // Before the toolkit's own headers.
  const std::string own = "-I" + (profiler::runtime_directory() / "include").string();
  const std::string gone =
      "cublasSsyrk is not supported: lab32's cuBLAS has products (gemm, batches, Ex), geam, dgmm, "
      "gemv, ger and the functions of vectors (grader/runtime/README.md)\n";
  const std::string named = "lab32: the program uses a function that cannot run: " + gone;
  const ProcessOutcome fine = run_lab32({"run", source, own, "-lcublas"});
  CHECK(fine.out == "0\n");
  CHECK(fine.err == named);
  const ProcessOutcome refused = run_lab32({"run", source, own, "-lcublas", "--", "x"});
  CHECK(refused.status == 2);
  CHECK(refused.out == "15\n");
  const std::string no_result = "; the program's results are not valid from here on\n";
  CHECK(refused.err ==
        named + "lab32: " + source + ":8: " + gone.substr(0, gone.size() - 1) + no_result);
  const ProcessOutcome listed = run_lab32({"run", "--list-unsupported", source, own, "-lcublas"});
  CHECK(listed.status == 2);
  CHECK(listed.out ==
        source + ":9: " + gone + "lab32: " + source + " needs 1 thing that is not supported\n");
  const ProcessOutcome absent =
      run_lab32({"run", source, own, "-lcublas"}, "LAB32_OPENBLAS=/nowhere/libopenblas.so");
  CHECK(absent.status == 2);
  CHECK(absent.err.find("lab32: " + source +
                        ":8: cublasSgemm: the CPU library OpenBLAS computes matrix products, but "
                        "it is not installed (/nowhere/libopenblas.so: ") != std::string::npos);
  CHECK(absent.err.find("install it with: " +
                        (toolchain::checkout_directory() / "grader/setup/setup").string() +
                        " openblas" + no_result) != std::string::npos);
}

TEST_CASE("profiler: the message about a refused library says why and what to do instead" * kSlow) {
  for (const char* library :
       {"cufft", "curand", "cusparse", "cusolver", "cudnn", "nccl", "nvjpeg"}) {
    CAPTURE(library);
    for (const std::string& name :
         {std::string("-l") + library, std::string("lib") + library + ".so.12"}) {
      const auto why = profiler::library_refusal_reason(name);
      REQUIRE(why);
      CHECK(why->rfind(name + ": ", 0) == 0);
      CHECK(why->find("is machine code for GPUs, which the simulator does not run: ") !=
            std::string::npos);
    }
  }
  CHECK(profiler::library_refusal_in_messages(
      "p.cu:1:10: fatal error: cufft.h: No such file or directory"));
  CHECK(profiler::library_refusal_in_messages("undefined reference to `ncclAllReduce'"));
  CHECK_FALSE(profiler::library_refusal_in_messages(
      "fatal error: curand_kernel.h: No such file or directory"));
  CHECK_FALSE(profiler::library_refusal_reason("-lcublas"));
  CHECK(profiler::library_refusal_reason("-lcublas_static") ==
        "-lcublas_static: cuBLAS as a static library is machine code for GPUs, which the simulator "
        "does not run: link lab32's with -lcublas; it computes on the host");
  CHECK_FALSE(profiler::library_refusal_reason("libcublasLt.so.13"));
  CHECK(profiler::library_refusal_reason("libcublas.so.12"));
  const ProcessOutcome linked = run_lab32({"nvcc", "a.o", "-lcudnn", "-o", "a"});
  CHECK(linked.status == 2);
  CHECK(linked.err ==
        "lab32: -lcudnn: cuDNN is machine code for GPUs, which the simulator does not run: compare "
        "with loops on the host, or remove the calls\n");
}

TEST_CASE("profiler: equal library calls share a line, and their findings count" * kSlow) {
  record::RecordedLibraryCall call;
  call.name = "cublasSgemm";
  call.arguments = "N T, 5 x 4 x 6";
  call.launches = 3;
  record::RecordedLibraryCall other = call;
  other.name = "cublasSdot";
  other.launches = 0;
  using Kind = record::RecordedLibraryCall::Finding::Kind;
  other.findings = {{Kind::initialisation, "reads x"}, {Kind::memory, "y is a null pointer"}};
  CHECK(profiler::library_calls_text({}).empty());
  CHECK(profiler::library_calls_text({call, other, call}) ==
        "library call, computed on the host: without counts and time\n" + std::string(100, '-') +
            "\n"
            "  cublasSgemm                 N T, 5 x 4 x 6; 2 times, first after launch 2\n"
            "  cublasSdot                  N T, 5 x 4 x 6; once, before any launch\n\n");
  profiler::ProgramHazardReport report;
  profiler::add_library_findings({call, other, other}, &report);
  CHECK(report.memory == 1);
  CHECK(report.initialisation == 1);
  CHECK(report.text ==
        "memory, 2 times in cublasSdot (N T, 5 x 4 x 6), a library call\n  y is a null pointer\n\n"
        "initialisation, 2 times in cublasSdot (N T, 5 x 4 x 6), a library call\n  reads x\n\n");
  std::istringstream line(record::to_json_record_line(other));
  const record::RecordedProgramRun read = record::read_recording(line, "record");
  REQUIRE(read.library_calls.size() == 1);
  CHECK(read.library_calls[0].name == "cublasSdot");
  CHECK(read.library_calls[0].findings.size() == 2);
  CHECK(read.library_calls[0].findings[1].kind == Kind::memory);
}

}  // namespace lab32::tests
