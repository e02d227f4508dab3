// Words for accesses that could not be matched with the machine code. The only place for them.
#pragma once

#include <array>
#include <string>

#include "simulator/core/warp/unmatched.h"

namespace lab32::sim {

// "no_instruction", as JSON and records have it: by reason.
inline constexpr std::array kUnmatchedReasons{
#define REASON(id) #id,
#include "simulator/core/warp/unmatched.def"
};
const char* to_string(Unmatched::Reason reason);

// "shared load of 4 bytes"; empty where it is not known.
std::string access_name(const Unmatched& unmatched);

// "line 31", or where it is not known "PTX line 120".
std::string line_name(int line, int ptx_line);

// "ptxas duplicated the code around it"
std::string describe(const Unmatched& unmatched);

}  // namespace lab32::sim
