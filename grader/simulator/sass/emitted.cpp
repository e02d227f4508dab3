#include "simulator/sass/emitted.h"

#include <algorithm>
#include <map>

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

}  // namespace

std::vector<EmittedBlock> emitted_blocks(const ptx::Function& function, const Sites& sites) {
  std::map<int, EmittedBlock> blocks;
  for (const auto& [line, of_line] : sites.by_line()) {
    for (const MemorySite& site : of_line) {
      if (site.function->name != function.name || site.slow_path()) continue;
      EmittedBlock& block = blocks[site.block];
      block.in_loop = site.depth() > 0;
      block.entry = site.block == 0;
      block.opcodes.push_back(site.instruction->opcode);
    }
  }
  for (size_t i = 0; i < function.body.size(); ++i) {
    std::vector<const MemorySite*> copies;
    for (const MemorySite& site : sites.of_line(function.body[i].ptx_line))
      if (site.function->name == function.name && !site.slow_path()) copies.push_back(&site);
    const std::map<int, int> where = proper(copies);
    for (const auto& [block, count] : where)
      blocks[block].origins.push_back({static_cast<int32_t>(i),
                                       1.0 / (count * static_cast<double>(where.size())),
                                       is_anchor(function.body[i])});
  }
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
