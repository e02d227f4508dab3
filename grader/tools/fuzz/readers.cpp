// build/fuzz/READER: the fuzz targets, all of which are this program under the name of a reader.
// Each reader reads text of unknown origin. It may refuse the text with an Error; a crash, a hang
// or undefined behaviour is a bug.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/source_file.h"
#include "base/text.h"
#include "grading/rubric/rubric.h"
#include "runtime/cudart/device_code.h"
#include "runtime/record/recording.h"
#include "simulator/ptx/debug_types.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/print.h"
#include "simulator/sass/listing.h"
#include "toolchain/artifact.h"
#include "toolchain/sandbox.h"
#include "toolchain/submission.h"

namespace lab32::fuzz {
namespace {

// For readers of files: writes the text as the only file of a directory of this process, which
// stays until the next call.
std::filesystem::path write_input(const std::string& name, const std::string& text) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("lab32-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / name, std::ios::binary) << text;
  return directory / name;
}

// PTX, analyses of a module's text before it runs, and the types that it may declare.
void read_ptx(const std::string& text) {
  const ptx::DebugTypes types(text);
  for (const char* name : {"kept", "total", "_ZZ5typesIfEvPK8ParticlePT_E5cells"})
    for (const int64_t offset : {-4, 0, 30}) types.place(name, offset, 4);
  ptx::print(ptx::parse(text));
}

// The output of nvdisasm: it depends on ptxas's choices, and on the PTX that a student chose.
void read_listing(const std::string& text) { sass::parse_listing(text); }

// The TOML of a rubric, since instructors may write their own.
void read_rubric(const std::string& text) {
  // Checks that the seed files name, so that their rubrics are read to the end.
  grading::Rubric(write_input("coalescing.toml", text).parent_path(), "coalescing",
                  {{"A1 requests", "build.cpp", 1, {"random_patterns"}},
                   {"B1 scale: sectors", "optimise.cpp", 2, {"n", "ideal"}}});
}

// The lines of JSON that a program on the simulated runtime leaves; the program itself may write to
// the same file.
void read_record(const std::string& text) {
  std::istringstream lines(text);
  for (const record::LaunchProfile& launch : record::read_recording(lines, "record").launches)
    record::to_line(launch);
}

// Read as by __cudaRegisterFatBinary. The program's loader guarantees the length.
void read_container(std::string bytes) {
  constexpr size_t kHeader = 16, kLength = 8;
  if (bytes.size() < kHeader) return;
  uint16_t header = 0;
  std::memcpy(&header, &bytes[6], sizeof header);
  if (header > bytes.size()) return;
  const uint64_t rest = bytes.size() - header;
  std::memcpy(&bytes[kLength], &rest, sizeof rest);
  struct {
    uint32_t magic = 0x466243b1, version = 1;
    const void* block;
    const void* more = nullptr;
  } wrapper;
  wrapper.block = bytes.data();
  cudart::choose(cudart::read_fatbin(&wrapper), "sm_90");
}

// A program's device code: the container that nvcc writes, and a cubin.
void read_binary(const std::string& bytes) {
  try {
    read_container(bytes);
  } catch (const Error&) {
  }
  cudart::read_cubin(bytes);
}

// The grader's own reading of a student's text: its headers, #line, the sizes of its variables, and
// the excerpts that are shown.
void read_submission(const std::string& text) {
  try {
    toolchain::read_submission(write_input("lab.cu", text), "lab.cu");
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
}

struct Reader {
  const char* name;
  void (*read)(const std::string& text);
};
constexpr Reader kReaders[] = {{"ptx", read_ptx},       {"listing", read_listing},
                               {"rubric", read_rubric}, {"record", read_record},
                               {"binary", read_binary}, {"submission", read_submission}};
const Reader* chosen = nullptr;

}  // namespace
}  // namespace lab32::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  using namespace lab32::fuzz;
  const std::string name = std::filesystem::path((*argv)[0]).filename();
  for (const Reader& reader : kReaders)
    if (name == reader.name) chosen = &reader;
  if (chosen == nullptr) std::abort();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    lab32::fuzz::chosen->read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const lab32::Error&) {
  }
  return 0;
}
