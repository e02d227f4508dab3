// A submission cannot read the text of a file that is not its own, in any kind of sandbox.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "tests/fixtures/isolations.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"
#include "toolchain/artifact.h"
#include "toolchain/nvcc.h"
#include "toolchain/sandbox.h"
#include "toolchain/submission.h"

using namespace lab32;
using namespace lab32::toolchain;
namespace fs = std::filesystem;

namespace {

// A text that the preprocessor would refuse and quote.
const char kOthersText[] = "#error the secret is 4711\nthe secret is 4711\n#define SECRET 4711\n";

// The compiler's messages; also checks that the text does not compile.
std::string words_on(const std::string& text, Isolation kind, const tests::ScratchDirectory& s) {
  SandboxedCompileSettings options;
  options.isolation = kind;
  options.cache = false;
  try {
    toolchain::compile(s.write("thief/thief.cu", text), "sm_90", "labs/thief.cu", options);
  } catch (const CompileError& error) {
    return error.text;
  }
  FAIL("it compiled");
  return {};
}

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("compile: leaks") {
  TEST_CASE("toolchain: no path reaches another user's file, and no message quotes it" * kSlow) {
    tests::ScratchDirectory s, other;
    const std::string secret = other.write("secret.h", kOthersText).string();
    const std::string up = "../../../../../../../../../..";
    for (const Isolation kind : tests::isolations()) {
      CAPTURE(static_cast<int>(kind));
      for (const std::string& include :
           {"#include \"" + secret + "\"", "#include \"" + up + secret + "\"",
            "#include <" + secret + ">", "#include \"/proc/self/root" + secret + "\"",
            "#import \"" + secret + "\"", "%:include_next \"" + secret + "\"",
            "#define P <" + secret + ">\n#include P", "#inc\\\nlude \"" + secret + "\""}) {
        CAPTURE(include);
        const std::string text = words_on(include + "\nint x = SECRET;\n", kind, s);
        CHECK_FALSE_MESSAGE(tells(text, "4711"), text);
        const bool told = tells(text, "it includes ") || tells(text, "No such file") ||
                          tells(text, "Permission denied");
        CHECK_MESSAGE(told, text);
      }
    }
  }

  TEST_CASE("toolchain: a value from another user's file does not reach the device") {
    tests::ScratchDirectory s, other;
    const std::string secret = other.write("secret.h", "#define SECRET 4711\n").string();
    for (const Isolation kind : tests::isolations())
      CHECK_FALSE(tells(words_on("#include \"" + secret +
                                     "\"\n__device__ int stolen = SECRET;\n"
                                     "__global__ void k(int* p) { *p = stolen; }\n",
                                 kind, s),
                        "4711"));
  }

  TEST_CASE("toolchain: #line cannot make a message name another file or line") {
    tests::ScratchDirectory s;
    std::ofstream(s.path / "x") << "";
    for (const std::string directive :
         {"# 40 \"/etc/passwd\"", "#line 40 \"/etc/passwd\"", "%:\\\nli\\\nne 40 \"/etc/passwd\"",
          "/* */ # /* \n */ line 40 \"/etc/passwd\""}) {
      CAPTURE(directive);
      const long lines = std::count(directive.begin(), directive.end(), '\n');
      const std::string text =
          words_on(directive + "\nint x = missing;\n", tests::isolations().front(), s);
      CHECK_FALSE_MESSAGE(tells(text, "passwd"), text);
      CHECK_MESSAGE(tells(text, "labs/thief.cu(" + std::to_string(lines + 2) + "): error"), text);
    }
  }

  TEST_CASE("toolchain: #line is found exactly where the preprocessor would find it") {
    const auto kept = [](const std::string& text) { return without_line_directives(text) == text; };
    const auto blank = [](const std::string& text) { return std::string(text.size(), ' '); };
    CHECK(kept("// #line 3\n/*\n#line 3\n*/ int a; // \\\n#line 3\n"));
    CHECK(kept("auto s = R\"x(\n#line 3\n)y\"\n# 4\n)x\";\n"));
    CHECK(kept("#define LINE #line 3\n#linear\n#include \"line\"\nint line = 3; #line 3\n"));
    // Quotation marks that begin no literal.
    for (const std::string before : {"int n = 1'000;\n", "#error don't\n", "char c = '\"';\n",
                                     "#if __has_include(<a/*b>)\n#endif\n", "auto R = \"(\";\n",
                                     "const char* s = \"\\\\\";\n", "#include <don't>\n"}) {
      CAPTURE(before);
      CHECK(without_line_directives(before + "#line 3\nint a;\n") ==
            before + blank("#line 3") + "\nint a;\n");
    }
    CHECK(without_line_directives("# 3 \"x\" /* a\nb */ 2\nint a;") ==
          blank("# 3 \"x\" /* a") + "\n" + blank("b */ 2") + "\nint a;");
    for (const char* rest : {"", "#", "#line", "# /*", "\\", "R\"", "R\"(", "'", "#include <"})
      CHECK(without_line_directives(rest).size() == std::string(rest).size());
  }

  TEST_CASE("toolchain: the list of opened files is removed from gcc's messages") {
    const OpenedFilesAndMessages opened = split_off_opened_files(
        ". /usr/include/a.h\n.. ../b c.h\na.cu:1: error: x\n    . quoted\n"
        "Multiple include guards may be useful for:\n/usr/include/a.h\n../b.h\n"
        "a.cu(3): error: y\n /zero.h\n");
    REQUIRE(opened.files.size() == 3);
    CHECK(opened.files[1] == "../b c.h");
    CHECK(opened.files[2] == "/zero.h");
    CHECK(opened.messages == "a.cu:1: error: x\n    . quoted\na.cu(3): error: y\n");
  }

  TEST_CASE("toolchain: files are identified by device and inode and refused in case of doubt") {
    tests::ScratchDirectory own, other;
    own.write("sub/a.h", "");
    other.write("b.h", "");
    fs::create_symlink(own.path / "sub/a.h", other.path / "to_own.h");
    fs::create_symlink(other.path / "b.h", own.path / "to_other.h");
    const FilesReadableByCompiler readable({own.path}, installed_toolchain().roots);
    CHECK(readable.allows("a.h", own.path / "sub"));
    CHECK(readable.allows(other.path / "to_own.h", own.path));
    CHECK(readable.allows("/usr/include/stdio.h", own.path));
    CHECK_FALSE(readable.allows("to_other.h", own.path));
    CHECK_FALSE(readable.allows(other.path / "b.h", own.path));
    CHECK_FALSE(readable.allows("not_there.h", own.path));
    CHECK_FALSE(readable.allows("/proc/self/root/usr/include/stdio.h", own.path));
    CHECK_FALSE(readable.allows("/dev/null", own.path));
    CHECK_FALSE(readable.allows("/etc/passwd", own.path));
    CHECK_FALSE(readable.allows(checkout_directory() / "solutions/shuffle/shuffle.cu", own.path));
  }
}

TEST_SUITE("compile: sizes") {
  TEST_CASE("toolchain: the bytes of all variables are counted from the PTX") {
    CHECK(variable_bytes("") == 0);
    CHECK(variable_bytes(".global .align 4 .b8 a[12];\n.visible .const .align 8 .f64 b = 0d0;\n"
                         ".weak .global .u16 c[2][3] = {1};\n.extern .shared .b8 d[99];\n"
                         "\t.local .align 4 .b8 e[99];\nld.global.f32 %f1, [%rd4];\n") == 32);
    CHECK(variable_bytes(".visible .global .align 1 .b8 big[5368709120];\n") == 5368709120u);
    CHECK(variable_bytes(".global .b64 a[9999999999999999999999];\n.global .b8 b[1];\n") == ~0ull);
    tests::ScratchDirectory s;
    const std::string large = "__device__ char a[1 << 27];\n__device__ char b[7];\n";
    for (const Isolation kind : {tests::isolations().front()})
      CHECK(words_on(large + "__global__ void k(int i) { a[i] = b[i] = 1; }\n", kind, s) ==
            "labs/thief.cu: error: its __device__ and __constant__ variables take 134,217,735 "
            "bytes; a lab may have 134,217,728 in all\n");
  }

  TEST_CASE("toolchain: a full disk is not a compile error") {
    tests::ScratchDirectory s;
    SandboxedCompileSettings options;
    options.cache = false;
    options.limits.file_bytes = 1;  // the compilers can write nothing
    // This process can write, so the error is blamed on the compilers.
    CHECK_THROWS_AS(toolchain::compile(s.write("a.cu", "int a;\n"), "sm_90", "a.cu", options),
                    CompileError);
  }
}
