#include <algorithm>

#include "simulator/sass/emitted.h"

namespace lab32::sass {

namespace {

// The loop of the kernel around a compare-and-swap loop. Both may be the same loop.
int loop_around(const MemorySite& site) {
  const ControlStructure& structure = site.flow->structure;
  const int own = structure.loop_of[static_cast<size_t>(site.block)];
  if (own < 0) return own;
  const Loop& loop = structure.loops[static_cast<size_t>(own)];
  const auto blocks = std::count(loop.holds.begin(), loop.holds.end(), true);
  return loop.header != site.block || blocks > 1 ? own : loop.parent;
}

}  // namespace

bool is_spinning_swap(const MemorySite& site) { return site.instruction->has("CAST"); }

std::map<int, int> swap_loops_by_block(const std::vector<const MemorySite*>& sites) {
  std::map<int, int> around, copies;
  for (const MemorySite* site : sites)
    if (is_spinning_swap(*site)) ++around[loop_around(*site)];
  for (const MemorySite* site : sites)
    if (is_spinning_swap(*site)) copies[site->block] = around[loop_around(*site)];
  return copies;
}

void add_swap_loop(const MemorySite& site, int32_t index, const EmittedBlock::Origin& origin,
                   std::map<int, EmittedBlock>& blocks) {
  const ControlStructure& structure = site.flow->structure;
  const int own = structure.loop_of[static_cast<size_t>(site.block)], around = loop_around(site);
  for (auto& [number, block] : blocks) {
    if (structure.loop_of[static_cast<size_t>(number)] != own) continue;
    block.spin_loop = index;
    block.origins.push_back(origin);
  }
  if (around == own) return;
  const int before = structure.dominator[static_cast<size_t>(site.block)];
  for (const int beside : {before, site.block + 1})
    if (blocks.count(beside) != 0 && structure.loop_of[static_cast<size_t>(beside)] == around)
      blocks[beside].origins.push_back(origin);
}

int take_peeled_copies(const std::vector<const MemorySite*>& sites, int32_t index,
                       const EmittedBlock::Origin& entered, std::map<int, int>& where,
                       std::map<int, EmittedBlock>& blocks) {
  int inside = 0, peeled = 0;
  for (const MemorySite* site : sites) inside += is_spinning_swap(*site) && loop_around(*site) >= 0;
  if (inside == 0) return 0;
  for (const MemorySite* site : sites) {
    if (!is_spinning_swap(*site) || loop_around(*site) >= 0) continue;
    ++peeled;
    where.erase(site->block);
    add_swap_loop(*site, index, entered, blocks);
  }
  return peeled;
}

}  // namespace lab32::sass
