// ptxas merges accesses to neighbouring bytes into one instruction, and drops the parts of a vector
// that nobody reads. Both leave the same puzzle: some PTX accesses of a group (one basic block, one
// base, one guard) have SASS instructions, others have none; which bytes does each instruction
// take? It is solved by trying all placements; only a puzzle with exactly one solution is believed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lab32::sass {

struct Part {
  int64_t at = 0;  // bytes from the first part
  int bytes = 4;
  bool operator==(const Part& o) const { return at == o.at && bytes == o.bytes; }
};
using Shape = std::vector<Part>;  // the instructions that stand for one execution

struct Member {
  int64_t offset = 0;
  int bytes = 4;
  std::vector<bool> live;       // by byte
  std::vector<Shape> shapes;    // what its instructions could be; empty: it has none
  bool must_be_covered = true;  // without instructions: nothing else explains their absence
};

// Instructions of members i and j of one block whose addresses differ by a known constant.
struct Distance {
  int i = 0, j = 0;
  int64_t bytes = 0;  // first part of j minus first part of i
};

struct Placement {
  int64_t at = 0;  // offset of the first part, in the offsets of the members
  int shape = -1;  // -1: this member has no instructions
};

// Placements of the members, or nullopt if there is no solution or more than one. `distances` are
// used only if there is more than one: a base register may change between two instructions.
std::optional<std::vector<Placement>> place(const std::vector<Member>& members,
                                            const std::vector<Distance>& distances);

}  // namespace lab32::sass
