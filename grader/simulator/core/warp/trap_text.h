// Words for faults. The only place where those of a running kernel become English.
#pragma once

#include <array>
#include <string>

#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// "shuffle", as JSON and records have it: by kind.
inline constexpr std::array kTrapKinds{
#define KIND(id, name, words) name,
#include "simulator/core/warp/traps.def"
};
const char* to_string(TrapKind kind);
// "missing lane", as people see it.
const char* words(TrapKind kind);
// "past_end", as JSON has it.
const char* to_string(TrapReason reason);

// "; the value becomes an address", behind what is said of a read; "": none.
const char* use_of_value(ValueUse use);

// "thread (32,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 bytes past its end (128
// bytes)". One sentence, without its full stop.
std::string describe(const TrapFacts& facts);

}  // namespace lab32::sim
