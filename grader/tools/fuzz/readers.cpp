// build/fuzz/READER: the fuzz targets, all of which are this program under the name of a reader.
// Each reader reads text of unknown origin. It may refuse the text with an Error; a crash, a hang
// or undefined behaviour is a bug.

#include <fuzzer/FuzzedDataProvider.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/source_file.h"
#include "base/text.h"
#include "grading/rubric/rubric.h"
#include "report/history.h"
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
void fuzz_ptx_parser(const std::string& text) {
  const ptx::DebugTypes types(text);
  for (const char* name : {"kept", "total", "_ZZ5typesIfEvPK8ParticlePT_E5cells"})
    for (const int64_t offset : {-4, 0, 30}) types.element_path(name, offset, 4);
  ptx::print(ptx::parse(text));
}

// The output of nvdisasm: it depends on ptxas's choices, and on the PTX that a student chose.
void fuzz_disassembly_parser(const std::string& text) { sass::parse_disassembly(text); }

// The TOML of a rubric, since instructors may write their own.
void fuzz_rubric(const std::string& text) {
  // The names of checks in the seed files, so that their rubrics are read to the end.
  grading::Rubric(write_input("coalescing.toml", text).parent_path(), "coalescing",
                  {{"A1 requests", "build.cpp", 1, {"random_patterns"}},
                   {"B1 scale: sectors", "optimise.cpp", 2, {"n", "ideal"}}});
}

// ---- the values of a rubric ----
// Whatever it says, the checks get values in their ranges, or the rubric is refused.

using grading::RubricKey;
using Form = grading::RubricValueConstraint::ExpectedType;

// The keys that every row may have, and one key of each other form.
std::vector<RubricKey> sample_key_of_each_value_form() {
  std::vector<RubricKey> keys;
  for (const RubricKey& key : grading::all_predefined_keys())
    if (key.range.form != Form::elsewhere) keys.push_back(key);
  for (const RubricKey& key :
       {grading::power_of_two("block", 64, 1024), grading::powers_of_two("blocks", 64, 1024),
        grading::whole("nodes", 8, 1 << 24, 8), grading::wholes("skeleton", 1, 1024, 2),
        grading::shapes("sweep"), grading::choice("large", {"int", "short"}),
        grading::with_length_of("blocks", grading::numbers("limits", 0, 1e6)),
        RubricKey("lanes_only", Form::flag)})
    keys.push_back(key);
  return keys;
}

std::string random_number_text(FuzzedDataProvider& data,
                               const grading::RubricValueConstraint& range) {
  constexpr std::array kOdd = {"nan", "inf", "-inf", "1e22", "-0.0", "0x7fffffffffffffff", "0.5"};
  switch (data.ConsumeIntegralInRange(0, 4)) {
    case 0:
      return data.PickValueInArray(kOdd);
    case 1:
      return std::to_string(static_cast<long long>(range.least) +
                            data.ConsumeIntegralInRange(-1, 64));
    case 2:
      return std::to_string(static_cast<long long>(range.most) +
                            data.ConsumeIntegralInRange(-9, 9));
    case 3:
      return std::to_string(1LL << data.ConsumeIntegralInRange(0, 62));
    default:
      return std::to_string(data.ConsumeIntegral<int64_t>());
  }
}

std::string random_value_text(FuzzedDataProvider& data,
                              const grading::RubricValueConstraint& range) {
  switch (data.ConsumeIntegralInRange(0, 5)) {
    case 0:
      return data.ConsumeBool() ? "true" : "\"int\"";
    case 1:
      return data.ConsumeRandomLengthString(20);
    case 2:
      return random_number_text(data, range);
    default: {
      std::string list = "[";
      for (int entries = data.ConsumeIntegralInRange(0, 6); entries > 0; --entries)
        list += random_number_text(data, range) + ", ";
      return list + "]";
    }
  }
}

void abort_unless(bool holds) {
  if (!holds) std::abort();
}

void abort_unless_in_range(const grading::RubricCheckEntry& row, const RubricKey& key) {
  const grading::RubricValueConstraint& range = key.range;
  const auto in_range = [&](double value, bool whole) {
    abort_unless(value >= range.least && value <= range.most);
    if (whole) abort_unless(value == std::floor(value) && std::fmod(value, range.unit) == 0);
    if (range.power_of_two) abort_unless(value > 0 && std::exp2(std::ilogb(value)) == value);
  };
  switch (range.form) {
    case Form::whole:
      return in_range(row.required_count(key.name), true);
    case Form::number:
      return in_range(row.required_number(key.name), false);
    case Form::text:
      return abort_unless(!row.required_text(key.name).empty());
    case Form::flag:
      row.required_flag(key.name);
      return;
    case Form::elsewhere:
      return;
    default:
      break;
  }
  const std::vector<double> values = row.required_numbers(key.name);
  for (const double value : values) in_range(value, range.form != Form::numbers);
  if (range.form == Form::interval) abort_unless(values.size() == 2 && values[0] <= values[1]);
  for (size_t i = 0; range.form == Form::shapes && i < values.size(); i += 3)
    abort_unless(values.at(i) > 0 && values.at(i + 1) > 0 && values.at(i + 2) >= 0);
  if (!range.with_length_of.empty())
    abort_unless(values.size() == row.required_numbers(range.with_length_of).size());
}

void fuzz_rubric_values(const std::string& input) {
  static const std::vector<RubricKey> keys = sample_key_of_each_value_form();
  FuzzedDataProvider data(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  std::vector<RubricKey> taken;
  std::string text = "lab = \"lab\"\nmax_score = 1\n[row]\ncheck = \"a\"\npoints = 1\n";
  text += "credit = \"all\"\n";
  for (int count = data.ConsumeIntegralInRange(1, 4); count > 0; --count) {
    const RubricKey& key = keys[data.ConsumeIntegralInRange<size_t>(0, keys.size() - 1)];
    taken.push_back(key);
    text += key.name + " = " + random_value_text(data, key.range) + "\n";
  }
  const std::filesystem::path file = write_input("lab.toml", text);
  try {
    const grading::Rubric rubric(file.parent_path(), "lab", {{"a", "a.cpp", 1, taken}});
    for (const RubricKey& key : taken) abort_unless_in_range(rubric.rows().at(0), key);
  } catch (const Error& error) {
    abort_unless(std::string(error.what()).find('\n') == std::string::npos);
  }
}

// ---- files that programs and students write ----

// The history of a student's attempts, which the student can edit: a grading adds a line.
void fuzz_attempt_history(const std::string& text) {
  report::LabResult lab;
  lab.name = "reduction";
  lab.tests.emplace_back().name = "v2: result";
  report::GradingResult result;
  result.labs = {lab};
  const std::filesystem::path folder = write_input("folder", "").parent_path();
  std::filesystem::create_directories(folder / ".lab32");
  std::ofstream(folder / ".lab32/history", std::ios::binary) << text;
  report::append_to_history(folder, result, "2026-11-24T10:00:00+00:00");
}

// The lines of JSON that a program on the simulated runtime leaves; the program itself may write to
// the same file.
void fuzz_runtime_recording(const std::string& text) {
  std::istringstream lines(text);
  for (const record::LaunchProfile& launch : record::read_recording(lines, "record").launches)
    record::to_json_record_line(launch);
}

// Reads the text as __cudaRegisterFatBinary does. The loader of a program guarantees the length.
void fuzz_fat_binary(std::string bytes) {
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
  cudart::choose_device_code(cudart::read_fatbin(&wrapper), "sm_90");
}

// A program's device code: the container that nvcc writes, and a cubin.
void fuzz_device_code(const std::string& bytes) {
  try {
    fuzz_fat_binary(bytes);
  } catch (const Error&) {
  }
  cudart::read_cubin(bytes);
}

// The grader's own reading of a student's text: its headers, #line, the sizes of its variables, and
// the excerpts that are shown.
void fuzz_submission_reader(const std::string& text) {
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
  toolchain::split_off_opened_files(text);
  toolchain::variable_bytes(text);
  const SourceFile source = SourceFile::from_text(text, "lab.cu");
  source.location_and_source_line(1);
  source.line_of_name("scale");
}

struct FuzzedReader {
  const char* name;
  void (*read)(const std::string& text);
};
constexpr FuzzedReader kReaders[] = {
    {"ptx", fuzz_ptx_parser},       {"listing", fuzz_disassembly_parser},
    {"rubric", fuzz_rubric},        {"record", fuzz_runtime_recording},
    {"binary", fuzz_device_code},   {"submission", fuzz_submission_reader},
    {"values", fuzz_rubric_values}, {"attempts", fuzz_attempt_history}};
const FuzzedReader* chosen = nullptr;

}  // namespace
}  // namespace lab32::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  using namespace lab32::fuzz;
  const std::string name = std::filesystem::path((*argv)[0]).filename();
  for (const FuzzedReader& reader : kReaders)
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
