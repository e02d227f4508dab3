// Which blocks the multiprocessor gets that is the last to finish.
#pragma once

#include <cstdint>
#include <vector>

namespace lab32::model {

// A block goes to the multiprocessor where one has ended. `work[i]`: instructions of block i;
// empty: all the same, `blocks` of them. `warps`: of a block.
std::vector<uint64_t> blocks_of_the_last(uint32_t multiprocessors, uint32_t resident,
                                         uint64_t blocks, uint32_t warps,
                                         const std::vector<uint64_t>& work);

}  // namespace lab32::model
