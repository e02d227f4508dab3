// The results of instructions compared with an H200's bit for bit
// (data/measured/h200-instructions.csv), including cases that the ISA leaves open: division by
// zero, NaN payloads, the results that .ftz flushes. Approximations need only be within the ISA's
// bounds.
#include <memory>
#include <sstream>

#include "base/environment.h"
#include "base/files.h"
#include "tests/fixtures/host_half.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

std::vector<uint64_t> hex_words(const std::string& text) {
  std::vector<uint64_t> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(std::stoull(word, nullptr, 16));
  return words;
}

struct Recorded {
  std::string instruction;
  std::vector<uint64_t> operands, results;
};

std::vector<Recorded> read_rows() {
  std::vector<Recorded> rows;
  for (const TableRow& row :
       read_csv_table(lab32_root().string() + "/data/measured/h200-instructions.csv"))
    rows.push_back(
        {row.at("instruction"), hex_words(row.at("operands")), hex_words(row.at("results"))});
  return rows;
}

void set_word(Line& line, const sim::RegisterSlot& slot, int lane, uint64_t word) {
  switch (slot.is_predicate ? 0 : slot.bytes) {
    case 0:
      return line.set(slot, lane, word != 0);
    case 2:
      return line.set(slot, lane, static_cast<uint16_t>(word));
    case 4:
      return line.set(slot, lane, static_cast<uint32_t>(word));
    default:
      return line.set(slot, lane, word);
  }
}

uint64_t get_word(Line& line, const sim::RegisterSlot& slot, int lane) {
  switch (slot.is_predicate ? 0 : slot.bytes) {
    case 0:
      return line.get<bool>(slot, lane) ? 1 : 0;
    case 2:
      return line.get<uint16_t>(slot, lane);
    case 4:
      return line.get<uint32_t>(slot, lane);
    default:
      return line.get<uint64_t>(slot, lane);
  }
}

// The slots of the register sources; immediates are in the text.
std::vector<sim::RegisterSlot> register_sources(Line& line) {
  std::vector<sim::RegisterSlot> slots;
  size_t i = 0;
  const auto add = [&](const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::reg) slots.push_back(line.inst().src[i]);
    ++i;
  };
  const auto& operands = line.instruction().operands;
  for (size_t k = 1; k < operands.size(); ++k) {
    if (operands[k].elements.empty()) add(operands[k]);
    for (const ptx::Operand& element : operands[k].elements) add(element);
  }
  return slots;
}

bool near(double got, double want, double relative, double absolute) {
  if (std::isnan(want) || std::isinf(want)) return std::isnan(want) ? std::isnan(got) : got == want;
  return std::fabs(got - want) <= std::max(relative * std::fabs(want), absolute);
}

// Both results are approximations, so they may differ by twice the documented error.
bool approximately(const std::string& opcode, uint64_t got, uint64_t want) {
  const bool in_turns = opcode.rfind("sin", 0) == 0 || opcode.rfind("cos", 0) == 0;
  const double absolute = in_turns || opcode.rfind("lg2", 0) == 0 ? 0x1p-20 : 0x1p-148;
  const double relative = opcode.rfind("tanh", 0) == 0 ? 0x1p-10 : 0x1p-19;
  if (opcode.find("f64") != std::string::npos) {
    return near(reinterpret<double>(got), reinterpret<double>(want), relative, 0);
  }
  if (opcode.find("f32") != std::string::npos) {
    const auto narrow = [](uint64_t x) { return reinterpret<float>(static_cast<uint32_t>(x)); };
    return near(narrow(got), narrow(want), relative, absolute);
  }
  const HalfFormat& format = opcode.find("bf16") != std::string::npos ? bf16() : f16();
  for (int shift = 0; shift < (opcode.find("x2") != std::string::npos ? 32 : 16); shift += 16) {
    const auto value = [&](uint64_t x) { return format.value(static_cast<uint16_t>(x >> shift)); };
    const double unit = &format == &bf16() ? 0x1p-6 : 0x1p-9;
    if (!near(value(got), value(want), unit, 0x1p-23)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("core: instructions compute what an H200 computes") {
  const std::vector<Recorded> rows = read_rows();
  REQUIRE(rows.size() > 5000);
  std::unique_ptr<Line> line;
  std::string text;
  int different = 0;
  for (size_t n = 0; n < rows.size(); ++n) {
    const Recorded& row = rows[n];
    if (row.instruction != text) {
      text = row.instruction;
      line = std::make_unique<Line>(text);
      mark_covered(line->instruction());
    }
    const std::vector<sim::RegisterSlot> sources = register_sources(*line);
    REQUIRE_MESSAGE(sources.size() == row.operands.size(), text);
    REQUIRE_MESSAGE(line->inst().dst_count == row.results.size(), text);
    const int lane = static_cast<int>(n % 32);
    for (size_t i = 0; i < sources.size(); ++i) {
      set_word(*line, sources[i], lane, row.operands[i]);
    }
    line->run(1u << lane);
    const std::string opcode = text.substr(0, text.find(' '));
    const bool approximate =
        opcode.find(".approx") != std::string::npos || opcode.find(".full") != std::string::npos;
    for (size_t i = 0; i < row.results.size(); ++i) {
      const uint64_t got = get_word(*line, line->inst().dst[i], lane), want = row.results[i];
      if (approximate ? approximately(opcode, got, want) : got == want) continue;
      std::string operands;
      for (uint64_t word : row.operands) operands += " " + show(word);
      if (++different <= 20) {
        FAIL_CHECK(text, " of", operands, ": got ", show(got), ", an H200 gives ", show(want));
      }
    }
  }
  CHECK(different == 0);
}
