// build/runtime_tests: the tests of the code for whole programs. The labs' test suites are linked
// in, as in build/runtime/lab32, but run only in a grading session.
#include <doctest/doctest.h>

#include "base/memory.h"

int main(int argc, char** argv) {
  lab32::make_malloc_keep_freed_memory();
  doctest::Context context(argc, argv);
  context.addFilter("test-suite-exclude", "lab:*");
  context.setOption("no-skip", true);  // run a slow test that is named
  return context.run();
}
