// Runs last: test cases are ordered by file name.
#include <doctest/doctest.h>

#include <string>

#include "tests/opcode_coverage.h"

using namespace lab32;

TEST_CASE("every row of opcodes.def is exercised") {
  std::string missing;
  for (const ptx::OpInfo& op : ptx::opcode_table()) {
    if (!tests::covered_ops().test(static_cast<size_t>(op.id))) {
      missing += "\n  " + std::string(op.pattern);
    }
  }
  CHECK_MESSAGE(missing.empty(), "no test of this run executed:", missing);
}
