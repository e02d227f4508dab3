// A student's text, as far as the grader reads it itself: which headers belong to it.
#include "toolchain/submission.h"

#include "base/error.h"
#include "fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  try {
    toolchain::read_submission(fuzz::file_of("lab.cu", fuzz::text_of(data, size)), "lab.cu");
  } catch (const Error&) {
  }
  return 0;
}
