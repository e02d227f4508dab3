// The sentences a student reads about a hazard.
#include <fmt/format.h>

#include <algorithm>

#include "observers/hazard.h"

namespace lab32::observe {
namespace {

std::string thread_name(const sim::BlockInfo& block, uint32_t thread) {
  if (block.dim_x == 0 || (block.dim_y == 1 && block.dim_z == 1)) {
    return fmt::format("thread {}", thread);
  }
  const uint32_t x = thread % block.dim_x, y = thread / block.dim_x % block.dim_y,
                 z = thread / block.dim_x / block.dim_y;
  return block.dim_z == 1 ? fmt::format("thread ({},{})", x, y)
                          : fmt::format("thread ({},{},{})", x, y, z);
}

std::string block_name(const sim::BlockInfo& block) {
  if (block.y == 0 && block.z == 0) return fmt::format("block {}", block.x);
  return block.z == 0 ? fmt::format("block ({},{})", block.x, block.y)
                      : fmt::format("block ({},{},{})", block.x, block.y, block.z);
}

// "tile[17]", in elements of the access's width; what lies in no variable by its offset.
std::string place(uint64_t offset, uint32_t bytes,
                  const std::vector<sim::SharedVariable>& variables) {
  for (const sim::SharedVariable& v : variables) {
    if (offset < v.offset || offset - v.offset >= v.bytes) continue;
    if (v.bytes <= bytes) return v.name;
    return fmt::format("{}[{}]", v.name, (offset - v.offset) / bytes);
  }
  return fmt::format("the shared byte {}", offset);
}

std::string line_name(uint32_t site, const PositionOf& position, const std::string& file) {
  const auto at = position(site);
  if (!at) return "an unknown line";
  if (at->file == file) return fmt::format("line {}", at->line);
  return fmt::format("line {} of {}", at->line, at->file);
}

std::string lane_list(uint32_t mask) {
  std::string list;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    uint32_t last = lane;
    while (last < 31 && (mask >> (last + 1) & 1) != 0) ++last;
    if (!list.empty()) list += ", ";
    list += last == lane ? fmt::format("{}", lane) : fmt::format("{}-{}", lane, last);
    lane = last;
  }
  return list;
}

const char* past(Touch touch) {
  return touch == Touch::read    ? "read it"
         : touch == Touch::write ? "wrote it"
                                 : "updated it atomically";
}

const char* present(Touch touch) {
  return touch == Touch::read    ? "reads it"
         : touch == Touch::write ? "writes it"
                                 : "updates it atomically";
}

std::string race(const Hazard& h, const std::vector<sim::SharedVariable>& variables,
                 const PositionOf& position) {
  const auto at = position(h.later.site);
  const std::string file = at ? at->file : "";
  const std::string what = place(h.offset, std::min(h.earlier.bytes, h.later.bytes), variables);
  const std::string a = thread_name(h.block, h.earlier.thread);
  const std::string b = thread_name(h.block, h.later.thread);
  const std::string line_a = line_name(h.earlier.site, position, file);
  const std::string line_b = line_name(h.later.site, position, file);
  if (h.note) {
    return fmt::format(
        "{}: {} and {} both store the same value in {} (shared, {}): harmless, but one thread is "
        "enough",
        line_a == line_b ? line_b : line_a + " and " + line_b, a, b, what, block_name(h.block));
  }
  if (h.one_instruction) {
    return fmt::format(
        "race on {} (shared, {}): on {}, {} and {} store different values at once, and which one "
        "stays is not defined; let one thread store, or use an atomic",
        what, block_name(h.block), line_b, a, b);
  }
  std::string text = fmt::format("race on {} (shared, {}): {} {} on {}, {} {} on {}, and ", what,
                                 block_name(h.block), a, past(h.earlier.touch), line_a, b,
                                 present(h.later.touch), line_b);
  if (h.earlier.thread / 32 != h.later.thread / 32) {
    text += "no __syncthreads() lies between";
  } else if (h.earlier.site == h.later.site || line_a == line_b) {
    text +=
        "nothing keeps the lanes of a warp in step; read into a register, __syncwarp(), then write";
  } else {
    text += "no __syncwarp() lies between (the lanes of a warp are not in step)";
  }
  if ((h.earlier.touch == Touch::atomic) != (h.later.touch == Touch::atomic)) {
    text += "; an atomic is safe only against other atomics";
  }
  return text;
}

// What usually mends what the simulator complains of.
const char* mend(const Hazard& h) {
  const auto says = [&h](const char* words) {
    return h.complaint.find(words) != std::string::npos;
  };
  switch (h.kind) {
    case Finding::Kind::memory:
      if (says("null pointer")) return "did its allocation fail, or was it never made?";
      if (says("was freed")) return "free memory after the last kernel that uses it";
      if (says("multiple of")) return "a vector type's address is a multiple of its size";
      if (says("cannot write")) return "constants and parameters are for reading";
      if (says("is no device memory"))
        return "is it the address of a variable of the host, or an index gone wild?";
      return "compare the index with the number of elements before the access";
    case Finding::Kind::barrier:
      return says("mask") ? "every lane that the mask names must come, and only those"
                          : "every thread of the block must come to a barrier: move it out of the "
                            "condition";
    default:
      return says("local array") ? "give its elements a value first"
                                 : "copy or set what is read before the launch";
  }
}

}  // namespace

std::string describe(const Hazard& h, const std::vector<sim::SharedVariable>& variables,
                     const PositionOf& position) {
  const auto at = position(h.later.site);
  const std::string line = line_name(h.later.site, position, at ? at->file : "");
  switch (h.kind) {
    case Finding::Kind::race:
      return race(h, variables, position);
    case Finding::Kind::memory:
    case Finding::Kind::barrier:
      return fmt::format("{}: {}; {}", line, h.complaint, mend(h));
    case Finding::Kind::uninitialised:
      if (!h.complaint.empty()) return fmt::format("{}: {}; {}", line, h.complaint, mend(h));
      return fmt::format("{}: {} of {} reads {}, which no thread of the block has written", line,
                         thread_name(h.block, h.later.thread), block_name(h.block),
                         place(h.offset, h.later.bytes, variables));
    case Finding::Kind::warp_mask:
      break;
  }
  return fmt::format(
      "{}: in warp {} of {}, the operation with mask 0x{:08x} counts on lane{} {}, which {} not "
      "take part: what it gives is undefined; let all lanes of the mask reach it, or name (and "
      "read) only those that do",
      line, h.later.thread / 32, block_name(h.block), h.mask,
      (h.absent & (h.absent - 1)) == 0 ? "" : "s", lane_list(h.absent),
      (h.absent & (h.absent - 1)) == 0 ? "does" : "do");
}

}  // namespace lab32::observe
