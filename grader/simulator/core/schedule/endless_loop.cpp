#include "simulator/core/schedule/endless_loop.h"

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace lab32::sim {
namespace {

// The only split that can run; null: there is none, or there are several.
const Split* only_ready(const Warp& warp) {
  const Split* found = nullptr;
  for (const Split& s : warp.splits().list()) {
    if (s.state != Split::State::ready) continue;
    if (found != nullptr) return nullptr;
    found = &s;
  }
  return found;
}

// Whether the instruction reads and changes nothing but registers and constants.
bool only_computes(const ptx::Traits& t) {
  const bool constant = t.memory_count == 0 || t.memory[0].space == ptx::Space::param ||
                        t.memory[0].space == ptx::Space::constant;
  return constant && !t.uses(ptx::MemoryUse::Kind::store) && !t.is_texture() && !t.bulk &&
         t.sync == ptx::Sync::none &&
         (t.transfer == ptx::ControlTransfer::next || t.transfer == ptx::ControlTransfer::branch);
}

// Looks at the instructions that a split may execute in its next step and keeps the site of the
// smallest line. False: one of them does more than compute.
bool look_at_step(const Split& split, const KernelProgram& program, uint32_t* first) {
  const auto place_of = [&](uint32_t site) {
    const auto at = program.position(site);
    return std::make_pair(at ? at->line : std::numeric_limits<int>::max(), site);
  };
  const std::vector<Inst>& code = split.frame->function->code;
  for (uint32_t pc = split.pc; pc < code.size(); ++pc) {
    const Inst& in = code[pc];
    if (!only_computes(in.ptx->op->traits)) return false;
    if (place_of(in.site) < place_of(*first)) *first = in.site;
    if (!in.has_guard || in.flow != Dispatch::straight) break;
  }
  return true;
}

}  // namespace

std::optional<uint32_t> find_repetition(Warp& warp, uint64_t steps) {
  const Split* split = only_ready(warp);
  if (split == nullptr) return std::nullopt;
  const Split start = *split;
  const std::byte* const registers = start.frame->regs;
  const uint32_t size = start.frame->function->register_bytes;
  const std::vector<std::byte> before(registers, registers + size);
  uint32_t site = start.frame->function->code[start.pc].site;
  for (uint64_t step = 0; step < steps; ++step) {
    if (!look_at_step(*split, warp.program(), &site)) return std::nullopt;
    if (warp.run(1) == Warp::Progress::done) return std::nullopt;
    split = only_ready(warp);
    if (split == nullptr) return std::nullopt;
    if (split->pc == start.pc && split->mask == start.mask && split->frame == start.frame &&
        std::memcmp(before.data(), registers, size) == 0)
      return site;
  }
  return std::nullopt;
}

}  // namespace lab32::sim
