// Decides which bytes each SASS instruction of a group accesses. ptxas merges accesses to
// neighbouring bytes into one instruction, and omits the parts of a vector that no instruction
// reads. In a group of PTX accesses (one basic block, one base, one guard) some then have SASS
// instructions and others have none. place() tries all placements of the instructions and accepts a
// result only if exactly one placement is possible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lab32::sass {

// The bytes that one SASS instruction accesses.
struct MachineAccess {
  int64_t at = 0;  // offset from the first instruction of the execution, in bytes
  int bytes = 4;
  bool operator==(const MachineAccess& o) const { return at == o.at && bytes == o.bytes; }
};
using Shape = std::vector<MachineAccess>;  // the instructions of one execution of an access

// A PTX access of the group, whose instructions are to be placed.
struct PlacedAccess {
  int64_t offset = 0;
  int bytes = 4;
  std::vector<bool> live;  // by byte: whether it is read or written
  // The possible instructions of one execution; empty: the access has none.
  std::vector<Shape> shapes;
  bool must_be_covered = true;  // false: another reason explains why it has no instructions
};

// The known distance between the addresses of members i and j, which are in one block.
struct Distance {
  int i = 0, j = 0;
  int64_t bytes = 0;  // start of j minus start of i
};

struct Placement {
  int64_t at =
      0;  // offset of the first instruction, relative to the same base as PlacedAccess::offset
  int shape = -1;  // -1: this member has no instructions
};

// The placement of each member; nullopt if there is none or more than one. `distances` are used
// only if there is more than one, since a base register may change between two instructions.
std::optional<std::vector<Placement>> place(const std::vector<PlacedAccess>& members,
                                            const std::vector<Distance>& distances);

}  // namespace lab32::sass
