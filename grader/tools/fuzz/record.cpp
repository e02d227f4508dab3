// Fuzzes the lines of JSON that a program on the simulated runtime leaves; the program itself may
// write to the same file.
#include <sstream>

#include "base/error.h"
#include "runtime/record/recording.h"
#include "tools/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  try {
    std::istringstream lines(fuzz::text_of(data, size));
    for (const record::LaunchProfile& launch : record::read_recording(lines, "record").launches)
      record::to_line(launch);
  } catch (const Error&) {
  }
  return 0;
}
