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

// The one instruction of each copy of an anchor.
bool stands_for(const MemorySite& site, const ptx::Instruction& in) {
  const ptx::Traits& t = in.op->traits;
  const std::string_view base = site.instruction->base();
  if (t.accesses_memory()) return site.op.has_value();
  if (t.is_block_barrier()) return base == "BAR";
  if (t.issue == ptx::Issue::shuffle) return base == "SHFL";
  return t.issue == ptx::Issue::fp && (base.front() == 'F' || base.front() == 'D');
}

// Copies of one PTX instruction in each block of the SASS. Where it has become several, and none of
// them stands for it, as many as there are of the rarest opcode.
std::map<int, int> copies_in_blocks(const std::vector<const MemorySite*>& sites,
                                    const ptx::Instruction& in) {
  std::map<int, int> copies;
  for (const MemorySite* site : sites)
    if (stands_for(*site, in)) ++copies[site->block];
  if (!copies.empty()) return copies;
  std::map<int, std::map<std::string_view, int>> in_block;
  for (const MemorySite* site : sites) ++in_block[site->block][site->instruction->opcode];
  for (const auto& [block, of_opcode] : in_block) {
    int fewest = of_opcode.begin()->second;
    for (const auto& [opcode, count] : of_opcode) fewest = std::min(fewest, count);
    copies[block] = fewest;
  }
  return copies;
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

bool is_whole_loop(const MemorySite& site) {
  const Structure& structure = site.flow->structure;
  const int loop = structure.loop_of[static_cast<size_t>(site.block)];
  if (loop < 0) return false;
  const std::vector<bool>& holds = structure.loops[static_cast<size_t>(loop)].holds;
  return std::count(holds.begin(), holds.end(), true) == 1;
}

// Follows the code of a function in its order, and a loop of one block a second time around: what
// is loaded at its end may be needed at its start.
class LoadRounds {
 public:
  explicit LoadRounds(std::map<int, EmittedBlock>& blocks) : blocks_(blocks) {}

  void follow(std::vector<const MemorySite*> code) {
    std::sort(code.begin(), code.end(),
              [](const MemorySite* a, const MemorySite* b) { return a->index < b->index; });
    for (size_t first = 0, end; first < code.size(); first = end) {
      for (end = first; end < code.size() && code[end]->block == code[first]->block; ++end)
        follow(*code[end]);
      if (!is_whole_loop(*code[first])) continue;
      blocks_[code[first]->block].load_rounds = 0;
      for (size_t i = first; i < end; ++i) follow(*code[i]);
    }
  }

 private:
  void follow(const MemorySite& site) {
    const Instruction& in = *site.instruction;
    std::vector<int> named = registers(in.operands);
    int result = -1;
    if (!only_reads(in) && !named.empty() && in.operands[0] == 'R') {
      result = named.front();
      named.erase(named.begin());
    }
    for (const int reg : named)
      if (const auto at = coming_.find(reg); at != coming_.end()) {
        wait(site.block, at->second);
        break;
      }
    if (result < 0) return;
    coming_.erase(result);
    if (has_result(in))
      for (int i = 0; i < width(in); ++i) coming_[result + i] = site.block;
  }

  void wait(int block, int loaded_in) {
    EmittedBlock& waiting = blocks_[block];
    if (block == loaded_in)
      waiting.load_rounds += 1;
    else
      waiting.waits_for.push_back(
          static_cast<size_t>(std::distance(blocks_.begin(), blocks_.find(loaded_in))));
    coming_.clear();
  }

  std::map<int, EmittedBlock>& blocks_;
  std::map<int, int> coming_;  // registers, and the block whose load writes each
};

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
  LoadRounds(blocks).follow(std::move(code));
  std::vector<std::vector<const MemorySite*>> copies(function.body.size());
  std::set<int> loops_proper, remainders;
  for (size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instruction& in = function.body[i];
    for (const MemorySite& site : sites.of_line(in.ptx_line))
      if (site.function->name == function.name && !site.slow_path()) copies[i].push_back(&site);
    std::map<int, int> where = copies_in_blocks(copies[i], in);
    int most = 0;
    for (const auto& [block, count] : where) most = std::max(most, count);
    // Where there are most is the loop proper; fewer are its remainder, which hardly runs.
    for (auto at = where.begin(); at != where.end();) {
      if (is_anchor(in)) (at->second == most ? loops_proper : remainders).insert(at->first);
      at = at->second == most ? std::next(at) : where.erase(at);
    }
    for (const auto& [block, count] : where)
      blocks[block].origins.push_back({static_cast<int32_t>(i),
                                       1.0 / (count * static_cast<double>(where.size())),
                                       is_anchor(in)});
  }
  for (const int block : remainders)
    if (loops_proper.count(block) == 0) blocks[block].origins.clear();
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

double load_rounds(const std::vector<EmittedBlock>& blocks, const std::vector<uint64_t>& times) {
  double sum = 0;
  for (const EmittedBlock& block : blocks) {
    const double here = runs(block, times);
    sum += here * block.load_rounds;
    for (const size_t from : block.waits_for) sum += std::min(here, runs(blocks[from], times));
  }
  return sum;
}

}  // namespace lab32::sass
