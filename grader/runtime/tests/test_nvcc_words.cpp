#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "runtime/profiler/libraries.h"
#include "runtime/profiler/nvcc_words.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"

namespace lab32::tests {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

Words words_of(const std::string& text) {
  Words words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, {}));
  }
  return words;
}

// The words that `lab32 nvcc TEXT` passes to nvcc, without those that it always adds.
std::string adapted(const std::string& text, const std::string& device = "sm_90") {
  const std::string all =
      joined(profiler::nvcc_words_for_simulator(words_of(text), device, "/r t"));
  const std::string added =
      " -cudart shared -L/r t -isystem /r t/include -Xlinker --disable-new-dtags -Xlinker "
      "-rpath=/r\\ t";
  const size_t at = all.find(added);
  return at == std::string::npos ? "as it was: " + all
                                 : all.substr(0, at) + all.substr(at + added.size());
}

TEST_CASE("profiler: lab32 nvcc keeps the newest architecture that the GPU can run" * kSlow) {
  const std::string h200 = "-gencode arch=compute_90,code=[compute_90,sm_90] -lineinfo";
  CHECK(adapted("-c a.cu") == h200 + " -c a.cu");
  CHECK(adapted("-arch=sm_90 a.cu") == h200 + " a.cu");
  CHECK(adapted("-arch native a.cu") == h200 + " a.cu");
  CHECK(adapted("--gpu-architecture=all-major a.cu") == h200 + " a.cu");
  CHECK(adapted("-gencode arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=\"sm_80\" "
                "--generate-code arch=compute_100,code=[sm_100,compute_100] -O2") ==
        "-gencode arch=compute_80,code=[compute_80,sm_90,sm_80] -lineinfo -O2");
  CHECK(adapted("-arch=compute_80 -code=sm_86") ==
        "-gencode arch=compute_86,code=[compute_86,sm_90,sm_86] -lineinfo");
  CHECK(adapted("-arch=sm_90a") == "-gencode arch=compute_90a,code=[compute_90a,sm_90a] -lineinfo");
  CHECK(adapted("-gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=sm_90") ==
        "-gencode arch=compute_90a,code=[compute_90a,sm_90a] -lineinfo");
  CHECK(adapted("a.cu", "sm_75") ==
        "-gencode arch=compute_75,code=[compute_75,sm_75] -lineinfo a.cu");
  CHECK_THROWS_WITH_AS(adapted("-arch=sm_100 a.cu"),
                       "-arch=sm_100: the simulated GPU is sm_90 and cannot run code for newer "
                       "ones: remove the option, or use sm_90",
                       Error);
}

TEST_CASE("profiler: lab32 nvcc always links the shared runtime and keeps other options" * kSlow) {
  const std::string h200 = "-gencode arch=compute_90,code=[compute_90,sm_90]";
  CHECK(adapted("-cudart static -lcudart_static -dlto a.o -o a") == h200 + " -lineinfo a.o -o a");
  CHECK(adapted("--cudart=none a.o") == h200 + " -lineinfo a.o");
  CHECK(adapted("-G -g a.cu") == h200 + " -G -g a.cu");
  CHECK(adapted("-lineinfo a.cu") == h200 + " -lineinfo a.cu");
  // The value of another option is not an option.
  CHECK(adapted("-Xcompiler -cudart -D -arch=sm_75 a.cu") ==
        h200 + " -lineinfo -Xcompiler -cudart -D -arch=sm_75 a.cu");
  for (const char* text : {"--version", "-arch=sm_75 -ptx a.cu", "-E a.cu", "-M a.cu -Iinc"})
    CHECK(adapted(text) == std::string("as it was: ") + text);
}

TEST_CASE(
    "profiler: run, profile and check separate their own options from nvcc's and the program's" *
    kSlow) {
  const auto split = [](const std::string& text) {
    const auto is_ours = [](const std::string& option) -> std::optional<bool> {
      if (option == "--csv") return true;
      if (option == "--source") return false;
      return std::nullopt;
    };
    const profiler::CommandWords w =
        profiler::split_own_nvcc_and_program_words(words_of(text), is_ours);
    return joined(w.ours) + " | " + w.program.file + " | " + joined(w.program.words) + " | " +
           joined(w.arguments);
  };
  CHECK(split("a.cu 3 four") == " | a.cu |  | 3 four");
  CHECK(split("a.cu b.cu c.cpp d.o libe.a f.so.1 -Iinc -lm") ==
        " | a.cu | b.cu c.cpp d.o libe.a f.so.1 -Iinc -lm | ");
  CHECK(split("-I inc -Xcompiler -Wall --csv out a.cu --source -rdc true 7") ==
        "--csv out --source | a.cu | -I inc -Xcompiler -Wall -rdc true | 7");
  CHECK(split("--csv=out a.cu") == "--csv=out | a.cu |  | ");
  // A program's arguments may have any form.
  CHECK(split("./a b.cu -") == " | ./a |  | b.cu -");
  CHECK(split("./a -x") == " | ./a | -x | ");
}

TEST_CASE("profiler: nvcc gets the folder of a wheel's libraries, where it does not look itself") {
  const ScratchDirectory wheel, toolkit;
  const auto adapted = [](const ScratchDirectory& home, const std::string& text) {
    return joined(profiler::with_toolkit_library_paths(words_of(text), home.path));
  };
  CHECK(adapted(wheel, "a.cu") == "a.cu");
  const std::string lib = wheel.write("lib/libcudadevrt.a", "").parent_path().string();
  CHECK(adapted(wheel, "-O2 a.cu") == "-O2 a.cu -L" + lib);
  // With both folders, lib/ is another package's.
  toolkit.write("lib64/libcudadevrt.a", "");
  toolkit.write("lib/libcudadevrt.a", "");
  CHECK(adapted(toolkit, "-O2 a.cu") == "-O2 a.cu");

  CHECK_THROWS_WITH_AS(adapted(wheel, "a.cu -lnvrtc"),
                       doctest::Contains("NVRTC is not installed beside nvcc"), Error);
  wheel.write(std::string("lib/") + profiler::kNvrtc, "");
  CHECK(adapted(wheel, "a.cu -lnvrtc") ==
        "a.cu -l:libnvrtc.so.13 -L" + lib + " -L" + lib + " -Xlinker -rpath=" + lib);
}

}  // namespace
}  // namespace lab32::tests
