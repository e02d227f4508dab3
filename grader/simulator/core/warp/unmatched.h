// Why the counts of an access are not the machine code's: which of its instructions stand for the
// access could not be found out. unmatched_text.h has the words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulator/core/memory/access_space.h"

namespace lab32::sim {

struct Unmatched {
  enum class Reason : uint8_t {
#define REASON(id) id,
#include "simulator/core/warp/unmatched.def"
  } reason = Reason::no_machine_code;
  // The access in the PTX. No space: it is generic. No bytes: nothing is known of the access.
  AccessKind kind = AccessKind::load;
  std::optional<AccessSpace> space;
  uint32_t bytes = 0;  // per lane
  // unmatched.def says which of these belong to which reason.
  std::string seen;  // instructions of the machine code
  uint32_t in_ptx = 0, in_machine_code = 0;
  int line = 0, ptx_line = 0;  // of another access; line 0: not known
};

}  // namespace lab32::sim
