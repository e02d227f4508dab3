#include "simulator/sass/emitted.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace lab32::sass {
namespace {

bool is_anchor(const ptx::Instruction& in) {
  const ptx::Traits& t = in.op->traits;
  return t.accesses_memory() || t.is_block_barrier() || t.issue == ptx::Issue::shuffle ||
         t.issue == ptx::Issue::fp;
}

// Copies of one PTX instruction in each block of the SASS. Where there are most is the loop proper;
// fewer are its remainder, which hardly runs.
std::map<int, int> proper(const std::vector<const MemorySite*>& copies) {
  std::map<int, int> in_block;
  int most = 0;
  for (const MemorySite* site : copies) most = std::max(most, ++in_block[site->block]);
  for (auto at = in_block.begin(); at != in_block.end();)
    at = at->second == most ? std::next(at) : in_block.erase(at);
  return in_block;
}

// Registers named in operands, "R4, desc[UR4][R2.64+0xc]": 4, 2.
std::vector<int> registers(std::string_view operands) {
  std::vector<int> found;
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(operands[i - 1])) == 0;
    if (operands[i] != 'R' || !begins) continue;
    int number = 0;
    size_t digit = i + 1;
    while (digit < operands.size() &&
           std::isdigit(static_cast<unsigned char>(operands[digit])) != 0)
      number = 10 * number + (operands[digit++] - '0');
    if (digit > i + 1) found.push_back(number);
  }
  return found;
}

// Registers that a load writes from its first on.
int width(const Instruction& in) { return in.has("128") ? 4 : in.has("64") ? 2 : 1; }

bool has_result(const Instruction& in) {
  const std::string_view base = in.base();
  return base == "LDG" || base == "LD" || base == "LDL" || base == "ATOM" || base == "ATOMG";
}

bool only_reads(const Instruction& in) {
  const std::string_view base = in.base();
  return base == "RED" || base.substr(0, 2) == "ST" || base == "REDG";
}

// Follows the code of a function in its order; a load whose result a later block needs is waited
// for there.
void add_load_rounds(std::vector<const MemorySite*>& code, std::map<int, EmittedBlock>& blocks) {
  std::sort(code.begin(), code.end(),
            [](const MemorySite* a, const MemorySite* b) { return a->index < b->index; });
  std::set<int> coming;
  for (const MemorySite* site : code) {
    const Instruction& in = *site->instruction;
    std::vector<int> named = registers(in.operands);
    int result = -1;
    if (!only_reads(in) && !named.empty() && in.operands[0] == 'R') {
      result = named.front();
      named.erase(named.begin());
    }
    const bool waits =
        std::any_of(named.begin(), named.end(), [&](int reg) { return coming.count(reg) != 0; });
    if (waits) {
      blocks[site->block].load_rounds += 1;
      coming.clear();
    }
    if (result < 0) continue;
    coming.erase(result);
    if (has_result(in))
      for (int i = 0; i < width(in); ++i) coming.insert(result + i);
  }
}

constexpr size_t kMany = 4;  // different opcodes

// A PTX instruction that becomes many is spread over blocks, a root over its check and its steps:
// what has none that is proper to it runs as often as one that has opcodes nowhere else. (What is
// left of an unrolled loop has the same opcodes as the loop.)
void adopt(const std::vector<std::vector<const MemorySite*>>& copies,
           std::map<int, EmittedBlock>& blocks) {
  for (size_t i = 0; i < copies.size(); ++i) {
    std::map<std::string_view, std::set<int>> of_opcode;
    for (const MemorySite* site : copies[i])
      of_opcode[site->instruction->base()].insert(site->block);
    if (of_opcode.size() < kMany) continue;
    for (const auto& [opcode, where] : of_opcode) {
      EmittedBlock& block = blocks[*where.begin()];
      if (where.size() == 1 && block.origins.empty() && !block.entry)
        block.origins.push_back({static_cast<int32_t>(i), 1, false});
    }
  }
}

}  // namespace

std::vector<EmittedBlock> emitted_blocks(const ptx::Function& function, const Sites& sites) {
  std::map<int, EmittedBlock> blocks;
  std::vector<const MemorySite*> code;
  for (const auto& [line, of_line] : sites.by_line()) {
    for (const MemorySite& site : of_line) {
      if (site.function->name != function.name || site.slow_path()) continue;
      EmittedBlock& block = blocks[site.block];
      block.in_loop = site.depth() > 0;
      block.entry = site.block == 0;
      block.opcodes.push_back(site.instruction->opcode);
      code.push_back(&site);
    }
  }
  add_load_rounds(code, blocks);
  std::vector<std::vector<const MemorySite*>> copies(function.body.size());
  for (size_t i = 0; i < function.body.size(); ++i) {
    for (const MemorySite& site : sites.of_line(function.body[i].ptx_line))
      if (site.function->name == function.name && !site.slow_path()) copies[i].push_back(&site);
    const std::map<int, int> where = proper(copies[i]);
    for (const auto& [block, count] : where)
      blocks[block].origins.push_back({static_cast<int32_t>(i),
                                       1.0 / (count * static_cast<double>(where.size())),
                                       is_anchor(function.body[i])});
  }
  adopt(copies, blocks);
  std::vector<EmittedBlock> all;
  for (auto& [index, block] : blocks) all.push_back(std::move(block));
  return all;
}

double runs(const EmittedBlock& block, const std::vector<uint64_t>& times) {
  if (times.empty()) return 0;
  const auto warps = static_cast<double>(times.front());
  if (block.entry) return warps;
  double anchor = 0;
  std::vector<double> others;
  for (const EmittedBlock::Origin& origin : block.origins) {
    const double here =
        static_cast<double>(times[static_cast<size_t>(origin.index)]) * origin.share;
    if (origin.anchor) anchor = std::max(anchor, here);
    others.push_back(here);
  }
  if (anchor == 0 && !others.empty()) {
    std::sort(others.begin(), others.end());
    anchor = others[others.size() / 2];
  }
  return block.in_loop ? anchor : std::min(anchor, warps);
}

}  // namespace lab32::sass
