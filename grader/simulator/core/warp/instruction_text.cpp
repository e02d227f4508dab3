#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

bool has_word(const ptx::Instruction& in, std::string_view word) {
  for (size_t i = 0; i < in.mods.size(); ++i) {
    if (in.mods.test(i) && to_string(static_cast<ptx::Mod>(i)) == word) return true;
  }
  return false;
}

}  // namespace

void note_out_of_range_amount(const Exec& x, const Inst& in, bool shuffle, uint32_t amount,
                              uint32_t limit) {
  if (x.warp != nullptr) x.warp->block().note_out_of_range_amount(in.site, shuffle, amount, limit);
}

std::string spelling(const ptx::Instruction& in) {
  std::string text(in.op->base);
  int next_type = 0;
  for (const ptx::OpInfo::Part& part : in.op->parts) {
    for (std::string_view choice : part.choices) {
      const bool is_next_type =
          next_type < in.type_count && to_string(in.type(next_type)) == choice;
      if (!is_next_type && !has_word(in, choice)) continue;
      if (is_next_type) ++next_type;
      text += '.';
      text += choice;
      break;
    }
  }
  return text;
}

void refuse(const ptx::Instruction& in, const std::string& why) {
  throw Error(spelling(in) + ": " +
              (why.empty() ? "the PTX ISA has no such combination of types and modifiers" : why));
}

std::string refusal_with_position(const ptx::Module& module, const ptx::Instruction& in,
                                  const std::string& why) {
  const auto at = module.position(in.loc);
  return fmt::format("PTX line {}: {}{}", in.ptx_line, why,
                     at ? fmt::format(" (source: {}:{})", at->file, at->line) : "");
}

}  // namespace lab32::sim
