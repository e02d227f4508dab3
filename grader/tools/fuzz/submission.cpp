// Fuzzes the grader's own reading of a student's text: its headers, #line, the sizes of its
// variables, and the excerpts that are shown.
#include "toolchain/submission.h"

#include <cstdlib>

#include "base/error.h"
#include "base/source_file.h"
#include "base/text.h"
#include "toolchain/artifact.h"
#include "toolchain/sandbox.h"
#include "tools/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lab32;
  const std::string text = fuzz::text_of(data, size);
  try {
    toolchain::read_submission(fuzz::file_of("lab.cu", text), "lab.cu");
  } catch (const Error&) {
  }
  // Blanking #line directives keeps every position, and a second pass changes nothing.
  const std::string plain = toolchain::without_line_directives(text);
  if (plain.size() != text.size() || toolchain::without_line_directives(plain) != plain)
    std::abort();
  const std::string shown = visible(text);
  if (visible(shown) != shown) std::abort();
  toolchain::split_opened_files(text);
  toolchain::variable_bytes(text);
  const SourceFile source = SourceFile::from_text(text, "lab.cu");
  source.quote(1);
  source.find("scale");
  return 0;
}
