// Compares kernel names with the names that Nsight Compute printed for the same program.
#include <cxxabi.h>
#include <doctest/doctest.h>

#include <set>

#include "base/environment.h"
#include "base/files.h"
#include "runtime/profiler/kernel_names.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/slow.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

using namespace lab32;
using profiler::demangle_as_ncu;
using profiler::ncu_kernel_name;

TEST_SUITE("programs: names") {
  TEST_CASE("profiler: each profiled kernel has the name that ncu printed" * kSlow) {
    std::set<std::string> measured;
    for (const TableRow& row :
         read_csv_table(lab32_root().string() + "/data/measured/ncu/h200-names.csv"))
      measured.insert(row.at("Kernel Name"));
    CHECK(measured.size() == 49);
    std::set<std::string> ours;
    const auto artifact = toolchain::compile(
        toolchain::checkout_directory() / "grader/tools/measure/ncu/names.cu", "sm_90", "names.cu");
    const ptx::Module module = ptx::parse(artifact.ptx);
    for (const ptx::Function& f : module.functions)
      if (f.is_entry) ours.insert(ncu_kernel_name(f.name));
    CHECK(ours == measured);
  }

  TEST_CASE("profiler: names that are not mangled, or that the reader does not support" * kSlow) {
    CHECK(ncu_kernel_name("reduce") == "reduce");
    CHECK(ncu_kernel_name("_Znonsense") == "_Znonsense");
    CHECK_FALSE(demangle_as_ncu("_Z3f"));
    CHECK_FALSE(
        demangle_as_ncu("_ZN3fooE"
                        "I"));
    CHECK_FALSE(demangle_as_ncu("_Z99999999999999999999999foov"));
    CHECK_FALSE(demangle_as_ncu("_Z1fS_"));
    // The C++ library's text for an expression as template argument.
    CHECK(ncu_kernel_name("_Z1fILi3EEvRAplT_Li1E_i") == "void f<3>(int (&) [(3)+(1)])");
  }

  TEST_CASE("profiler: standard names and substitutions are expanded" * kSlow) {
    CHECK(demangle_as_ncu("_Z1fSt6vectorIiSaIiEES1_") ==
          "f(std::vector<int, std::allocator<int>>, std::vector<int, std::allocator<int>>)");
    CHECK(demangle_as_ncu("_Z1fPFvPiES_S1_") == "f(void (*)(int *), int *, void (*)(int *))");
  }
}
