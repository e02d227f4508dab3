// How accesses through texture and surface objects are counted: the rules behind Nsight Compute's
// l1tex__t_{requests,sectors}_pipe_tex_mem_{texture,surface_op_ld,surface_op_st}.
//
// A warp's lanes go four or eight at a time, one request each; a request moves the distinct sectors
// that its lanes touch. Arrays lie in blocks of 64 bytes by 8 rows: a sector is 16 bytes of two
// rows, a line 32 bytes of four. Memory that the program laid out itself has the usual sectors.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

struct TexelRequests {
  bool known = true;              // false: no rule is known, and this is the least it can be
  std::vector<uint64_t> sectors;  // addresses, request by request; each one's are distinct
  std::vector<uint32_t> ends;     // of each request, in `sectors`
};

// Where the sectors of an array lie that a GPU keeps in its own order is made up, but no two of
// them lie in one place, and four make a line where they do on a GPU.
TexelRequests texel_requests(const sim::TexelAccess& access);

}  // namespace lab32::counters
