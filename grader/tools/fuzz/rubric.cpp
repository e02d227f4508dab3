// Fuzzes the TOML of a rubric, since instructors may write their own.
#include "grading/rubric/rubric.h"

#include "base/error.h"
#include "tools/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  const std::filesystem::path file = fuzz::file_of("coalescing.toml", fuzz::text_of(data, size));
  try {
    // Checks that the seed files name, so that their rubrics are read to the end.
    grading::Rubric(file.parent_path(), "coalescing",
                    {{"A1 requests", "build.cpp", 1, {"random_patterns"}},
                     {"B1 scale: sectors", "optimise.cpp", 2, {"n", "ideal"}}});
  } catch (const Error&) {
  }
  return 0;
}
