// Compares kernel names with the names that Nsight Compute printed for the same program.
#include <cxxabi.h>
#include <doctest/doctest.h>

#include <set>

#include "base/environment.h"
#include "base/files.h"
#include "runtime/profiler/ncu_name.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/slow.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

using namespace lab32;
using profiler::ncu_name;
using profiler::read_mangled;

TEST_SUITE("programs: names") {
  TEST_CASE("profiler: all kernels that were profiled have the names that ncu gave them" * kSlow) {
    std::set<std::string> measured;
    for (const TableRow& row : read_table(root().string() + "/data/measured/ncu/h200-names.csv"))
      measured.insert(row.at("Kernel Name"));
    CHECK(measured.size() == 49);
    std::set<std::string> ours;
    const auto artifact = toolchain::compile(
        toolchain::checkout() / "grader/tools/measure/ncu/names.cu", "sm_90", "names.cu");
    const ptx::Module module = ptx::parse(artifact.ptx);
    for (const ptx::Function& f : module.functions)
      if (f.is_entry) ours.insert(ncu_name(f.name));
    CHECK(ours == measured);
  }

  TEST_CASE("profiler: names that are not mangled, or not read here" * kSlow) {
    CHECK(ncu_name("reduce") == "reduce");
    CHECK(ncu_name("_Znonsense") == "_Znonsense");
    CHECK_FALSE(read_mangled("_Z3f"));
    CHECK_FALSE(
        read_mangled("_ZN3fooE"
                     "I"));
    CHECK_FALSE(read_mangled("_Z99999999999999999999999foov"));
    CHECK_FALSE(read_mangled("_Z1fS_"));
    // The C++ library's text for an expression as template argument.
    CHECK(ncu_name("_Z1fILi3EEvRAplT_Li1E_i") == "void f<3>(int (&) [(3)+(1)])");
  }

  TEST_CASE("profiler: standard names and repeated parts" * kSlow) {
    CHECK(read_mangled("_Z1fSt6vectorIiSaIiEES1_") ==
          "f(std::vector<int, std::allocator<int>>, std::vector<int, std::allocator<int>>)");
    CHECK(read_mangled("_Z1fPFvPiES_S1_") == "f(void (*)(int *), int *, void (*)(int *))");
  }
}
