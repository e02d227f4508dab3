// build/lab32_tests: the grader's own tests. The suites that grade submissions are linked in too,
// but run only inside a grading session.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "base/keep_memory.h"
#include "tests/fixtures/opcode_coverage.h"

namespace {

// Judges what all other cases have done, so it comes after them.
constexpr char kAfterAllOthers[] = "after all others";

bool is_filter(std::string_view argument) {
  argument.remove_prefix(std::min(argument.find_first_not_of('-'), argument.size()));
  if (argument.substr(0, 3) == "dt-") argument.remove_prefix(3);
  for (std::string_view filter : {"tc", "ts", "sf", "test-", "source-", "first=", "last="})
    if (argument.substr(0, filter.size()) == filter) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  lab32::keep_freed_memory();
  doctest::Context context(argc, argv);
  context.addFilter("test-suite-exclude", "lab:*");
  // Who names a case means it; `make test` asks for the names of those that are not of the rest.
  context.setOption("no-skip", true);
  // One of several processes: who started them knows which is the last.
  const bool shared = lab32::tests::shares_covered_ops();
  if (!shared) context.addFilter("test-suite-exclude", kAfterAllOthers);
  const int status = context.run();
  lab32::tests::hand_over_covered_ops();
  const bool all = std::none_of(argv + 1, argv + argc, is_filter);
  if (shared || !all || context.shouldExit()) return status;

  doctest::Context last(argc, argv);
  last.setOption("no-intro", true);
  last.addFilter("test-suite", kAfterAllOthers);
  return last.run() != 0 ? 1 : status;
}
