// build/runtime_tests: the tests of what runs whole programs. The labs' suites are linked in, too,
// as in build/runtime/lab32, but run only inside a grading session.
#include <doctest/doctest.h>

#include "base/memory.h"

int main(int argc, char** argv) {
  lab32::keep_freed_memory();
  doctest::Context context(argc, argv);
  context.addFilter("test-suite-exclude", "lab:*");
  context.setOption("no-skip", true);  // a slow case that is named is meant
  return context.run();
}
