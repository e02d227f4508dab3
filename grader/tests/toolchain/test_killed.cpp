// A compiler that another process kills: the kernel, say, for lack of memory.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "tests/fixtures/isolations.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/nvcc.h"

using namespace lab32;
using namespace lab32::toolchain;
namespace fs = std::filesystem;
using namespace std::string_literals;

TEST_CASE("toolchain: a killed compiler is the machine's fault") {
  tests::ScratchDirectory s;
  const std::string name = "slain_" + std::to_string(getpid()) + ".cu";
  const fs::path source =
      s.write(name,
              "template <int N, int M> struct A {\n"
              "  static constexpr int v = A<N - 1, 2 * M>::v + A<N - 1, 2 * M + 1>::v;\n};\n"
              "template <int M> struct A<0, M> { static constexpr int v = 1; };\n"
              "__global__ void k(int* p) { *p = A<19, 0>::v; }\n");
  for (Isolation kind : tests::isolations()) {
    SandboxedCompileSettings options;
    options.isolation = kind;
    options.cache = false;
    std::atomic<bool> killed = false, over = false;
    std::thread killer([&] {
      while (!killed && !over)
        for (const auto& process : fs::directory_iterator("/proc")) {
          const auto words = read_file(process.path() / "cmdline");
          if (!words || words->find(name) == std::string::npos) continue;
          // Skips the shell that starts the compiler.
          if (fs::path(words->c_str()).filename() != "cicc") continue;
          if (kill(std::stoi(process.path().filename().string()), SIGKILL) == 0) killed = true;
        }
    });
    try {
      toolchain::compile(source, "sm_90", name, options);
      CHECK_FALSE("it compiles");
    } catch (const MachineError& error) {
      CHECK(std::string(error.what()).find("was killed; perhaps this machine is short of memory") !=
            std::string::npos);
    } catch (const Error& error) {
      FAIL_CHECK("not the machine's fault: ", error.what());
    }
    over = true;
    killer.join();
    CHECK(killed);
  }
}

TEST_CASE(
    "toolchain: a submission that prints the message of a killed compiler gets a compile error") {
  const std::string gcc = "gcc: fatal error: Killed signal terminated program cc1plus\\n";
  const std::string last = gcc + "compilation terminated.";
  tests::ScratchDirectory s;
  for (
      const std::string& text :
      {"#pragma message(\"x\\nnvcc error   : 'cicc' died due to signal 9 (Kill signal)\")\nint x = ;\n"s,
       "#pragma GCC error \"x\\n" + last + "\"\n",
       "#line 1 \"nowhere\"\n#pragma GCC error \"x\\n" + last + "\"\n",
       "#line 1 \"nowhere\"\n#pragma GCC warning \"x\\n" + last + "\"\nint x = ;\n"}) {
    CAPTURE(text);
    const fs::path source = s.write("forged.cu", text);
    SandboxedCompileSettings options;
    options.cache = false;
    CHECK_THROWS_AS(toolchain::compile(source, "sm_90", "forged.cu", options), CompileError);
  }
}
