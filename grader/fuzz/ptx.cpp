// PTX, and what is computed from a module's text before it runs.
#include "base/error.h"
#include "fuzz/reader.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  try {
    ptx::print(ptx::parse(fuzz::text_of(data, size)));
  } catch (const Error&) {
  }
  return 0;
}
