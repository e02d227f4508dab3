// The given kernels that are compiled behind a submission: messages about a file that lacks a
// function that they call, and further instances of them.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "grading/engine/compiled.h"
#include "pictures/make.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/nvcc.h"

namespace lab32::grading {
namespace {

// The compiler's messages about a file of this lab; empty: it compiles.
std::string messages_of(const std::string& lab, const std::string& text) {
  try {
    compile_with_given_kernels(lab, {lab + ".cu", {{lab + ".cu", text}}}, "sm_90", "mine.cu");
    return "";
  } catch (const toolchain::CompileError& e) {
    return e.text;
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "grading: given: each function that a file lacks is reported once, in the student's terms") {
  const std::map<std::string, std::vector<std::string>> lacking = {
      {"coalescing",
       {R"("requests", which the grader's kernel coalescer)",
        R"("slot", which the grader's kernel pack)"}},
      {"bank_conflicts", {R"("load_wavefronts", which the grader's kernel arbiter)"}},
      {"shuffle", {R"("warp_reduce_sum", which the grader's kernel warp_sums)"}},
      {"swizzle",
       {R"("swizzle", which the grader's kernel swizzle_all)",
        R"("Chunk", which the grader's kernel place_all)"}},
      {"occupancy", {R"("waves", which the grader's kernel calculator)"}}};
  for (const auto& [lab, things] : lacking) {
    CAPTURE(lab);
    const std::string messages = messages_of(lab, "#include \"lab32.cuh\"\n");
    CAPTURE(messages);
    for (const std::string& thing : things)
      CHECK(contains(messages, "mine.cu: error: the file has no " + thing + " needs:\n"));
    CHECK(!contains(messages, "given"));
    CHECK(!contains(messages, "warning"));  // nor what else follows from that
    CHECK(!contains(messages, "errors detected"));
    std::set<std::string> lines;
    std::istringstream in(messages);
    for (std::string line; std::getline(in, line);)
      if (contains(line, "error: the file has no")) CHECK(lines.insert(line).second);
  }
}

TEST_CASE(
    "grading: given: a function that does not fit is reported with the kernel that calls it") {
  const std::string messages =
      messages_of("shuffle",
                  "#include \"lab32.cuh\"\n"
                  "__device__ float warp_reduce_sum(float* v) { return *v; }\n");
  CAPTURE(messages);
  CHECK(contains(messages, "mine.cu, where the grader's kernel warp_sums uses it: error: "));
  CHECK(!contains(messages, "given"));
}

TEST_CASE("grading: given: a file that ends within a declaration has the error at its last line") {
  const std::string messages = messages_of("shuffle", "#include \"lab32.cuh\"\nint x\n\n");
  CAPTURE(messages);
  CHECK(contains(messages, "mine.cu(2): error: expected a \";\""));
}

TEST_CASE("grading: given: a further instance of a given kernel runs a function of the file") {
  const std::string sizes = "6,1,9";
  const pictures::CuteSwizzle shape = pictures::read_swizzle(sizes);
  const std::vector<uint32_t> offsets = pictures::offsets_of_drawn_groups(shape);
  std::vector<uint32_t> formula;
  for (const uint32_t offset : offsets) formula.push_back(pictures::swizzled_offset(shape, offset));
  const auto asked = [&](const std::filesystem::path& file) {
    return output_of_given_kernel("swizzle", file, "sim", "swizzle_all<6, 1, 9>", offsets);
  };
  CHECK(asked(lab32_root() / "solutions/swizzle/swizzle.cu") == formula);
  CHECK(asked(lab32_root() / "labs/swizzle/swizzle.cu") == offsets);
  const tests::ScratchDirectory scratch;
  CHECK_THROWS_AS(asked(scratch.write("swizzle.cu", "#include \"lab32.cuh\"\n")),
                  toolchain::CompileError);
}

}  // namespace
}  // namespace lab32::grading
