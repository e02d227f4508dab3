// Fuzzes PTX, analyses of a module's text before it runs, and the types that it may declare.
#include "base/error.h"
#include "simulator/ptx/debug_types.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/print.h"
#include "tools/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  const std::string text = fuzz::text_of(data, size);
  const ptx::DebugTypes types(text);
  for (const char* name : {"kept", "total", "_ZZ5typesIfEvPK8ParticlePT_E5cells"})
    for (const int64_t offset : {-4, 0, 30}) types.place(name, offset, 4);
  try {
    ptx::print(ptx::parse(text));
  } catch (const Error&) {
  }
  return 0;
}
