// Fuzzes the output of nvdisasm: it depends on ptxas's choices, and on the PTX that a student
// chose.
#include "simulator/sass/listing.h"

#include "base/error.h"
#include "tools/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  try {
    sass::parse_listing(fuzz::text_of(data, size));
  } catch (const Error&) {
  }
  return 0;
}
