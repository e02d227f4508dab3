#include <doctest/doctest.h>

#include <string>

#include "tests/fixtures/opcode_coverage.h"

namespace lab32::tests {

// The name of the suite is what makes it the last (tests/main.cpp, setup/run_tests.py).
TEST_SUITE("after all others") {
  TEST_CASE("core: every row of opcodes.def is exercised") {
    const CoveredOps ops = all_covered_ops();
    std::string missing;
    for (const ptx::OpInfo& op : ptx::opcode_table()) {
      if (!ops.test(static_cast<size_t>(op.id))) missing += "\n  " + std::string(op.pattern);
    }
    CHECK_MESSAGE(missing.empty(), "no test of this run executed:", missing);
  }
}

}  // namespace lab32::tests
