// Compiling a .cu file to an artifact, and everything that refuses a file.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/fixtures/isolations.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"
#include "toolchain/cache.h"
#include "toolchain/nvcc.h"
#include "toolchain/submission.h"

using namespace lab32;
using namespace lab32::toolchain;
namespace fs = std::filesystem;

namespace {

const char kKernel[] =
    "__device__ __noinline__ float twice(float x) { return 2 * x; }\n"
    "__global__ void scale(float* p, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) p[i] = twice(p[i]);\n"
    "}\n";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

SandboxedCompileSettings without_cache(Isolation kind = best_isolation().isolation) {
  SandboxedCompileSettings options;
  options.isolation = kind;
  options.cache = false;
  return options;
}

std::vector<Isolation> kinds() { return tests::isolations(); }

// The compiler's messages.
std::string diagnostic(const fs::path& source, const std::string& display,
                       const SandboxedCompileSettings& options = without_cache()) {
  try {
    toolchain::compile(source, "sm_90", display, options);
  } catch (const CompileError& error) {
    CHECK(error.what() == display + " does not compile:\n" + error.text);
    return error.text;
  }
  FAIL("it compiled");
  return {};
}

std::string refusal(const fs::path& source, const std::string& display) {
  try {
    read_submission(source, display);
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("it was taken");
  return {};
}

}  // namespace

TEST_SUITE("compile: nvcc") {
  TEST_CASE("toolchain: an artifact has PTX, cubin, SASS and registers, with the user's paths") {
    tests::ScratchDirectory s;
    fs::path source = s.write("scale.cu", kKernel);
    for (Isolation kind : kinds()) {
      CompiledArtifact a =
          toolchain::compile(source, "sm_90", "labs/scale/scale.cu", without_cache(kind));
      CHECK(a.source == "labs/scale/scale.cu");
      CHECK(a.arch == "sm_90");
      CHECK(has(a.ptx, ".target sm_90"));
      CHECK(has(a.ptx, ".visible .entry _Z5scalePfi("));
      CHECK(has(a.ptx, ".file\t1 \"labs/scale/scale.cu\""));
      CHECK(a.cubin.substr(0, 4) ==
            "\x7f"
            "ELF");
      REQUIRE(a.registers.count("_Z5scalePfi") == 1);
      CHECK(a.registers["_Z5scalePfi"] > 0);
      CHECK(a.warnings == "");
      for (const std::string& text : {a.ptx, a.sass}) {
        CHECK_FALSE(has(text, "/submission"));
        CHECK_FALSE(has(text, s.path.string()));
      }
      if (installed_toolchain().nvdisasm.empty()) {
        MESSAGE("no nvdisasm on this machine");
        CHECK(a.sass.empty());
        continue;
      }
      CHECK(has(a.sass, ".text._Z5scalePfi"));
      CHECK(has(a.sass, "LDG.E"));
      CHECK(has(a.sass, "//## File \"labs/scale/scale.cu\", line 4"));
      CHECK(has(a.sass, "//## File \".nv_debug_ptx_txt\", line "));
    }
  }

  TEST_CASE("toolchain: a compile error is nvcc's error and nothing else") {
    tests::ScratchDirectory s;
    fs::path source = s.write("broken.cu",
                              "#include \"lab32.cuh\"\n"
                              "__global__ void broken(float* p) {\n"
                              "  p[threadIdx.x] = missing;\n"
                              "  int unused;\n"
                              "}\n");
    for (Isolation kind : kinds())
      CHECK(diagnostic(source, "labs/broken/broken.cu", without_cache(kind)) ==
            "labs/broken/broken.cu(3): error: identifier \"missing\" is undefined\n"
            "    p[threadIdx.x] = missing;\n"
            "                     ^\n");
  }

  TEST_CASE("toolchain: messages quote the source as the student wrote it") {
    CHECK(
        use_source_spelling(
            "x.cu(1): error: identifier \"y\" is undefined\n"
            "  __attribute__((global)) void __attribute__((launch_bounds(128, 2))) k() { y = 1; }\n"
            "                                                                            ^\n"
            "\n"
            "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
            "\n"
            "2 errors detected in the compilation of \"x.cu\".\n") ==
        "x.cu(1): error: identifier \"y\" is undefined\n"
        "  __global__ void __launch_bounds__(128, 2) k() { y = 1; }\n"
        "                                                  ^\n");
    // A macro that is not closed is reported at the end of the text.
    CHECK(move_to_unclosed_macro(
              "given.cu:2:1: error: unterminated argument list invoking macro \"ANSWER\"\n",
              "// ANSWER(name, value)\nANSWER(a, 30);\nANSWER(b, 31;  // (\nANSWER(c, 3);\n",
              "x.cu") ==
          "x.cu(3): error: unterminated argument list invoking macro \"ANSWER\"\n"
          "  ANSWER(b, 31;  // (\n");
    CHECK(move_to_unclosed_macro("x.cu(1): error: bad\n", "", "x.cu") == "x.cu(1): error: bad\n");
    // A caret inside of a keyword points at its beginning.
    CHECK(use_source_spelling("  __attribute__((device)) int f();\n"
                              "                 ^\n") ==
          "  __device__ int f();\n"
          "  ^\n");
    // An expansion that is cut off stays as it is.
    CHECK(use_source_spelling("  __attribute__((aligned(16\n") == "  __attribute__((aligned(16\n");
    CHECK(without_warnings("x.cu(2): warning #177-D: unused\n  int i;\n      ^\n\n") ==
          "x.cu(2): warning #177-D: unused\n  int i;\n      ^\n\n");
  }

  TEST_CASE("toolchain: warnings of a file that compiles are kept") {
    tests::ScratchDirectory s;
    fs::path source = s.write("w.cu", "__global__ void w(float* p) {\n  int unused;\n}\n");
    CompiledArtifact a = toolchain::compile(source, "sm_90", "w.cu", without_cache());
    CHECK(has(a.warnings, "w.cu(2): warning #177-D: variable \"unused\" was declared"));
    CHECK_FALSE(has(a.warnings, "ptxas info"));
  }

  TEST_CASE("toolchain: an error that ptxas finds names the user's file") {
    tests::ScratchDirectory s;
    fs::path source = s.write("big.cu",
                              "__global__ void big(int* p) {\n"
                              "  __shared__ int s[100000];\n"
                              "  s[threadIdx.x] = *p; __syncthreads(); *p = s[*p];\n}\n");
    CHECK(has(diagnostic(source, "big.cu"), "uses too much shared data"));
  }

  TEST_CASE("toolchain: headers beside the file, and below it, belong to the submission") {
    tests::ScratchDirectory s;
    s.write("part/b.cuh", "#include \"c.cuh\"\n");
    s.write("part/c.cuh", "constexpr int kFrom = 3;\n");
    s.write("not_named.cuh", "#error\n");
    fs::path source =
        s.write("a.cu", "#include \"part/b.cuh\"\n__global__ void a(int* p) { *p = kFrom; }\n");
    Submission submission = read_submission(source, "a.cu");
    CHECK(submission.files.size() == 3);
    CHECK(submission.files.count("part/c.cuh") == 1);
    toolchain::compile(source, "sm_90", "a.cu", without_cache());
    s.write("part/c.cuh", "constexpr int kFrom = ;\n");
    CHECK(
        has(diagnostic(source, "labs/a.cu"), "labs/part/c.cuh(1): error: expected an expression"));
  }

  TEST_CASE("toolchain: names of headers are found in every spelling") {
    tests::ScratchDirectory s;
    for (const char* name : {"1.h", "2.h", "3.h", "4.h"}) s.write(name, "");
    const std::string text =
        "#include \"1.h\"\n#  include\t\"2.h\"\n#if __has_include( \"3.h\")\n#endif\n"
        "#include \"\"\n#include \"4.h\n// include \"" +
        std::string(1000000, 'a') + "\"\n";
    const Submission submission = read_submission(s.write("a.cu", text), "a.cu");
    CHECK(submission.files.size() == 4);
    CHECK(submission.files.count("4.h") == 0);
    // The text ends in the middle of a name.
    CHECK(read_submission(s.write("b.cu", "#include \"1.h"), "b.cu").files.size() == 1);
    CHECK(read_submission(s.write("c.cu", "include"), "c.cu").files.size() == 1);
  }

  TEST_CASE("toolchain: a macro may name a header if it stands for a plain name") {
    tests::ScratchDirectory s;
    s.write("part/b.cuh", "constexpr int kFrom = 3;\n");
    const std::string uses = "#include HEADER\n__global__ void a(int* p) { *p = kFrom; }\n";
    const fs::path plain = s.write("a.cu", "#define HEADER \"part/b.cuh\"\n" + uses);
    CHECK(read_submission(plain, "a.cu").files.count("part/b.cuh") == 1);
    toolchain::compile(plain, "sm_90", "a.cu", without_cache());
    const fs::path standard = s.write("s.cu", "#define HEADER <cstdint>\n#include HEADER\n");
    toolchain::compile(standard, "sm_90", "s.cu", without_cache());
    const fs::path built =
        s.write("b.cu", "#define TEXT(x) #x\n#define HEADER TEXT(part/b.cuh)\n" + uses);
    CHECK(has(refusal(built, "labs/b.cu"),
              "labs/b.cu(3): `#include HEADER` cannot be read: the macro must stand for a plain "
              "\"...\" or <...>"));
  }

  TEST_CASE("toolchain: no path and no link includes a solution" * kSlow) {
    tests::ScratchDirectory s, elsewhere;
    // A file that could be reached by a path or by a link.
    fs::path solution;
    for (const auto& entry : fs::recursive_directory_iterator(checkout_directory() / "solutions"))
      if (entry.path().extension() == ".cu") solution = entry.path();
    REQUIRE_FALSE(solution.empty());
    fs::create_symlink(solution, s.path / "linked.cuh");
    fs::create_directory_symlink(solution.parent_path(), s.path / "linked");
    std::string up = "..";
    for (int i = 0; i < 8; ++i) up += "/..";
    for (const std::string& name :
         {solution.string(), up + solution.string(), std::string("linked.cuh"),
          "linked/" + solution.filename().string()}) {
      CAPTURE(name);
      fs::path source = s.write("thief.cu", "#include \"" + name + "\"\n");
      for (Isolation kind : kinds()) {
        std::string text = diagnostic(source, "labs/x/thief.cu", without_cache(kind));
        bool kept_out = has(text, "No such file or directory") || has(text, "Permission denied") ||
                        has(text, "it includes ");
        CHECK_MESSAGE(kept_out, text);
        CHECK_FALSE(has(text, "__global__"));
      }
    }
    // Not with a name that the preprocessor builds, which only the trace shows.
    fs::path source = s.write("thief.cu", "#define NAME <" + solution.string() +
                                              ">\n#include NAME\n# 1 \"thief.cu\" 2\n");
    for (Isolation kind : kinds())
      CHECK_THROWS_AS(toolchain::compile(source, "sm_90", "thief.cu", without_cache(kind)),
                      CompileError);
    // Not if another error follows, so that the preprocessor's output is lost.
    source = s.write("thief.cu", "#include \"" + solution.string() + "\"\n#error stop\n");
    for (Isolation kind : kinds())
      CHECK_FALSE(has(diagnostic(source, "t.cu", without_cache(kind)), "__global__"));
  }

  TEST_CASE("toolchain: neither a submission nor its directory may be a link") {
    tests::ScratchDirectory s;
    const fs::path solution = checkout_directory() / "solutions/coalescing/coalescing.cu";
    fs::create_directory_symlink(solution.parent_path(), s.path / "coalescing");
    CHECK(refusal(s.path / "coalescing/coalescing.cu", "labs/c.cu") ==
          "labs/c.cu cannot be read: it is a link: hand in the file itself");
    s.write("real/own.cu", "int a;\n");
    for (const fs::path& target : {solution, fs::path("own.cu"), fs::path("/etc/passwd")}) {
      fs::create_symlink(target, s.path / "real/coalescing.cu");
      CHECK(refusal(s.path / "real/coalescing.cu", "labs/c.cu") ==
            "labs/c.cu cannot be read: it is a link: hand in the file itself");
      fs::remove(s.path / "real/coalescing.cu");
    }
    // An instructor may name the directory through a link.
    fs::create_directory_symlink(s.path, s.path / "other");
    CHECK(read_submission(s.path / "other/real/own.cu", "c.cu").name == "own.cu");
  }

  TEST_CASE("toolchain: a header is not followed out of the directory") {
    tests::ScratchDirectory s, elsewhere;
    elsewhere.write("secret.h", "#error\n");
    fs::create_symlink(elsewhere.path / "secret.h", s.path / "a.h");
    fs::create_directory_symlink(elsewhere.path, s.path / "b");
    REQUIRE(mkfifo((s.path / "c.h").c_str(), 0600) == 0);
    const fs::path source =
        s.write("x.cu", "#include \"a.h\"\n#include \"b/secret.h\"\n#include \"c.h\"\n");
    CHECK(read_submission(source, "x.cu").files.size() == 1);
  }

  TEST_CASE("toolchain: a submission that is no regular file of reasonable size is refused") {
    tests::ScratchDirectory s;
    CHECK(refusal(s.path / "none.cu", "none.cu") ==
          "none.cu cannot be read: No such file or directory");
    CHECK(refusal(s.path, "labs") == "labs cannot be read: not a plain file");
    REQUIRE(mkfifo((s.path / "pipe.cu").c_str(), 0600) == 0);
    CHECK(refusal(s.path / "pipe.cu", "pipe.cu") == "pipe.cu cannot be read: not a plain file");
    CHECK(refusal(s.write("large.cu", std::string(2 << 20, '\n')), "large.cu") ==
          "large.cu cannot be read: larger than 1 MiB");
    CHECK(refusal(s.write("empty.cu", " \n\n"), "empty.cu") ==
          "empty.cu cannot be read: it is empty");
    CHECK(refusal(s.write("binary.cu", std::string("int\na\0b", 7)), "binary.cu") ==
          "binary.cu cannot be read: it is not a text file: line 2 contains a zero byte");
    CHECK(refusal("/proc/self/status", "status.cu") != "");
  }

  TEST_CASE("toolchain: file names with shell characters are harmless" * kSlow) {
    tests::ScratchDirectory s;
    for (const char* name : {"a b.cu", "$(touch ran).cu", "-o.cu", "'\";touch ran;'.cu", "x.cpp"}) {
      CAPTURE(name);
      fs::path source = s.write(name, "__global__ void k(int* p) { *p = 1 }\n");
      CHECK(has(diagnostic(source, name), std::string(name) + "(1): error: expected a \";\""));
    }
    CHECK_THROWS_WITH_AS(toolchain::compile(s.write("a.cu", "int a;"), "sm_90;true", "a.cu"),
                         "'sm_90;true' is not a GPU architecture; an example is sm_90", Error);
  }

  TEST_CASE("toolchain: host code of a submission is compiled but never run") {
    tests::ScratchDirectory s;
    fs::path trace = s.path / "ran";
    fs::path source = s.write(
        "host.cu", "#include <cstdlib>\nstatic int at_start = system(\"touch " + trace.string() +
                       "\");\n__attribute__((constructor)) void early() { system(\"touch " +
                       trace.string() + "\"); }\n__global__ void k(int* p) { *p = 1; }\n");
    for (Isolation kind : kinds()) {
      CompiledArtifact a = toolchain::compile(source, "sm_90", "host.cu", without_cache(kind));
      CHECK(has(a.ptx, "_Z1kPi"));
      CHECK_FALSE(fs::exists(trace));
    }
  }
}

TEST_SUITE("compile: limits") {
  TEST_CASE("toolchain: the listing contains the targets of jump tables" * kSlow) {
    const std::string sass = compile(checkout_directory() / "grader/tests/fixtures/sim_kernels.cu",
                                     "sm_90", "sim_kernels.cu")
                                 .sass;
    CHECK(has(sass, " BRX"));
    CHECK(has(sass, "BRANCH_TARGETS"));
  }

  TEST_CASE("toolchain: the submission is blamed for CPU time and not for a busy machine") {
    tests::ScratchDirectory s;
    SandboxedCompileSettings options = without_cache();
    options.limits.wall_seconds = 0.02;
    CHECK_THROWS_WITH_AS(compile(s.write("a.cu", kKernel), "sm_90", "a.cu", options),
                         "nvcc had not ended after 0.02 seconds: is this machine busy? Grade again",
                         MachineError);
    options = without_cache();
    options.limits.cpu_seconds = 1;
    CHECK(has(
        diagnostic(s.write("b.cu",
                           "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
                           "__global__ void k(int* p) { constexpr int v = f(24); *p = v; }\n"
                           "template <int N> struct A { static constexpr int v = A<N - 1>::v + "
                           "f(20 + N % 3); };\ntemplate <> struct A<0> { static constexpr int v "
                           "= 0; };\n__global__ void g(int* p) { *p = A<150>::v; }\n"),
                   "b.cu", options),
        "1 seconds of CPU time"));
  }

  TEST_CASE("toolchain: endless templates are stopped at the memory limit" * kSlow) {
    tests::ScratchDirectory s;
    fs::path source =
        s.write("bomb.cu",
                "template <int N, int M> struct A {\n"
                "  static constexpr int v = A<N - 1, 2 * M>::v + A<N - 1, 2 * M + 1>::v;\n};\n"
                "template <int M> struct A<0, M> { static constexpr int v = 1; };\n"
                "__global__ void k(int* p) { *p = A<30, 0>::v; }\n");
    SandboxedCompileSettings options = without_cache();
    options.limits.memory_bytes = 768ull << 20;
    CHECK(has(diagnostic(source, "bomb.cu", options),
              "nvcc was stopped: a compilation may take 0.75 GiB of memory"));
  }

  TEST_CASE("toolchain: endless macros are stopped at the disk limit") {
    tests::ScratchDirectory s;
    std::string text = "#define A0 x, x, x, x, x, x, x, x, x, x\n";
    for (int i = 1; i < 9; ++i) {
      std::string last = "A" + std::to_string(i - 1);
      text += "#define A" + std::to_string(i) + " " + last;
      for (int j = 1; j < 10; ++j) text += ", " + last;
      text += "\n";
    }
    SandboxedCompileSettings options = without_cache();
    options.limits.file_bytes = 4 << 20;
    std::string answer =
        diagnostic(s.write("bomb.cu", text + "int a[] = {A8};\n"), "bomb.cu", options);
    CHECK(has(answer, "seconds of CPU time and files of 4 MiB"));
  }

  TEST_CASE("toolchain: a flood of messages is stopped at the output limit") {
    tests::ScratchDirectory s;
    std::string text;
    for (int i = 0; i < 90; ++i)
      text += "int a" + std::to_string(i) + " = undefined_" + std::to_string(i) + ";\n";
    SandboxedCompileSettings options = without_cache();
    options.limits.output_bytes = 2048;
    const fs::path source = s.write("noisy.cu", text);
    for (const Isolation kind : kinds()) {
      options.isolation = kind;
      std::string answer = diagnostic(source, "noisy.cu", options);
      // With other isolation the list of opened files is cut off, so nothing is quoted.
      CHECK(has(answer, "noisy.cu(1): error: identifier \"undefined_0\" is undefined") ==
            (kind == Isolation::bubblewrap));
      CHECK(has(answer, "nvcc was stopped: more than 2 KiB of messages"));
      CHECK(has(answer, "the first of them are above") == (kind == Isolation::bubblewrap));
      CHECK(answer.size() < 4096);
    }
  }

  TEST_CASE("toolchain: messages call a file that includes itself by one name") {
    tests::ScratchDirectory s;
    const fs::path source = s.write("loop.cu", "#include \"loop.cu\"\n");
    for (const Isolation kind : kinds()) {
      const std::string answer = diagnostic(source, "loop.cu", without_cache(kind));
      CAPTURE(answer);
      CHECK(has(answer, "#include \"loop.cu\""));
      CHECK_FALSE(has(answer, "submission"));
    }
  }
}

TEST_SUITE("compile: cache") {
  TEST_CASE("toolchain: equal texts compile once, at any path" * kSlow) {
    tests::ScratchDirectory s;
    // Differs from the text of earlier runs, so the first compilation is a real one.
    std::string text = kKernel + std::string("// ") + s.path.string() + "\n";
    CompiledArtifact first = toolchain::compile(s.write("one/k.cu", text), "sm_90", "one/k.cu");
    CompiledArtifact second =
        toolchain::compile(s.write("two/k.cu", text), "sm_90", "elsewhere/k.cu");
    CHECK(second.source == "elsewhere/k.cu");
    CHECK(second.cubin == first.cubin);
    CHECK(second.registers == first.registers);
    CHECK(has(first.ptx, ".file\t1 \"one/k.cu\""));
    CHECK(has(second.ptx, ".file\t1 \"elsewhere/k.cu\""));
    // Another text, header or architecture gives another artifact.
    CHECK(toolchain::compile(s.write("one/k.cu", "__global__ void other() {}\n"), "sm_90", "k.cu")
              .registers.count("_Z5otherv") == 1);
    CHECK(toolchain::compile(s.write("one/k.cu", text), "sm_80", "k.cu").arch == "sm_80");
    fs::path user = s.write("h.cu",
                            "#include \"h.cuh\"\n__constant__ int c = kValue;\n"
                            "__global__ void k(int* p) { *p = kValue; }\n");
    s.write("h.cuh", "constexpr int kValue = 1111;\n");
    CHECK(has(toolchain::compile(user, "sm_90", "h.cu").ptx, "1111"));
    s.write("h.cuh", "constexpr int kValue = 2222;\n");
    CHECK(has(toolchain::compile(user, "sm_90", "h.cu").ptx, "2222"));
  }

  TEST_CASE("toolchain: a cache entry is complete or absent") {
    CompiledArtifact a;
    a.arch = "sm_90";
    a.ptx = std::string("with\nlines\0and zeros", 20);
    a.cubin = std::string(1000, '\0');
    a.registers = {{"_Z1kv", 12}, {"other", 255}};
    std::string key = cache_key("a test's own entry");
    store_cached_artifact(key, a);
    auto loaded = load_cached_artifact(key);
    REQUIRE(loaded);
    CHECK(loaded->ptx == a.ptx);
    CHECK(loaded->cubin == a.cubin);
    CHECK(loaded->registers == a.registers);
    fs::path file = cache_directory() / "artifacts" / key;
    auto size = fs::file_size(file);
    for (auto cut : {size - 1, size / 2, decltype(size){10}, decltype(size){0}}) {
      fs::resize_file(file, cut);
      CHECK_FALSE(load_cached_artifact(key));
    }
    fs::remove(file);
    CHECK_FALSE(load_cached_artifact(key));
    CHECK(cache_key("a") != cache_key("b"));
    CHECK(cache_key("a").size() == 32);
  }
}
