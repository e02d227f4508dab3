// Two threads add to one word under a lock: in different blocks, in different warps of a block, or in
// one warp. The lock has too narrow a scope, lacks a fence, or is bypassed; beside each fault is the
// correct version. scoped_races.cu explains the source of the patterns and the suffixes.
//
// ---- races
//! case interblock_lock_of_block
//! check: race 3
//! case interblock_lock_block_fence_first
//! check: race 1
//! case interblock_lock_block_fence_second
//! check: race 1
//! case interblock_lock_no_leading_fence_first
//! check: race 1
//! case interblock_lock_no_leading_fence_second
//! check: race 1
//! case interblock_lock_no_trailing_fence
//! check: race 1
//! case interblock_store_after_unlock
//! check: race 1
//! case interblock_store_unlocked
//! check: race 1
//! case interwarp_block_lock_no_leading_fence_first
//! check: race 1
//! case interwarp_block_lock_no_leading_fence_second
//! check: race 1
//! case interwarp_block_lock_no_trailing_fence
//! check: race 1
//! case interwarp_mixed_lock_no_leading_fence_first
//! check: race 1
//! case interwarp_mixed_lock_no_leading_fence_second
//! check: race 1
//! case interwarp_mixed_lock_no_trailing_fence
//! check: race 1
//! case interwarp_block_lock_store_unlocked
//! check: race 1
//! case interwarp_lock_store_unlocked
//! check: race 1
//! case intrawarp_lock_no_trailing_fence
//! check: race 1
//! case intrawarp_lock_no_leading_fence
//! check: race 1
// ---- none
//! case interblock_lock
//! stdout| 7
//! case interwarp_block_lock
//! stdout| 7
//! case interwarp_mixed_lock
//! stdout| 7
//! case intrawarp_lock_no_trailing_fence_alone
//! stdout| 2
//! case intrawarp_lock_alone
//! stdout| 2
//! case intrawarp_lock
//! stdout| 7
// ---- races of volatile words
//! case interblock_lock_block_fence_volatile
//! check: race 1
//! case interblock_lock_no_leading_fence_volatile
//! check: race 1
//! case interblock_lock_no_trailing_fence_volatile
//! check: race 1
//! case interblock_store_after_unlock_volatile
//! check: race 1
//! case interblock_store_unlocked_volatile
//! check: race 1
//! case interwarp_block_lock_no_leading_fence_volatile
//! check: race 1
//! case interwarp_block_lock_no_trailing_fence_volatile
//! check: race 1
//! case interwarp_mixed_lock_no_leading_fence_volatile
//! check: race 1
//! case interwarp_mixed_lock_no_trailing_fence_volatile
//! check: race 1
//! case interwarp_block_lock_store_unlocked_volatile
//! check: race 1
//! case interwarp_lock_store_unlocked_volatile
//! check: race 1
#include "parts/scoped.h"

// ---- a lock

template <Scope scope>
__device__ void take(int* lock) {
  while ((scope == kBlock ? atomicCAS_block(lock, 0, 1) : atomicCAS(lock, 0, 1)) != 0) {
  }
}

template <Scope lock, Scope entering, Scope leaving, class Data>
__device__ void locked_add(Words* w, int value) {
  take<lock>(&w->lock);
  fence<entering>();
  *static_cast<Data*>(&w->data) = *static_cast<Data*>(&w->data) + value;
  fence<leaving>();
  exchange<lock>(&w->lock, 0);
}

// Each of the two with a lock of some scope, and fences of some scope behind it and before its end.
template <Place place, Scope lock0, Scope in0, Scope out0, Scope lock1, Scope in1, Scope out1,
          class Data>
__global__ void both_locked(Words* w) {
  if (who<place>() == 0) locked_add<lock0, in0, out0, Data>(w, 3);
  if (who<place>() == 1) locked_add<lock1, in1, out1, Data>(w, 4);
}

template <Place place, Scope lock, class Data>
__global__ void one_locked(Words* w) {
  if (who<place>() == 0) {
    take<lock>(&w->lock);
    __threadfence();
    *static_cast<Data*>(&w->data) = 1;
    __threadfence();
    exchange<lock>(&w->lock, 0);
  }
  if (who<place>() == 1) *static_cast<Data*>(&w->data) = 2;
}

template <class Data>
__global__ void store_after_unlock(Words* w) {
  if (who<kBlocks>() == 2) return;
  Data* data = &w->data;
  take<kDevice>(&w->lock);
  __threadfence();
  w->seen[who<kBlocks>()] = *data;
  __threadfence();
  atomicExch(&w->lock, 0);
  if (who<kBlocks>() == 0) *data = 1;
}

// Lanes of one warp. A lane that waits for its neighbour must let it go on, so none waits in a
// loop of its own.
template <Scope entering, Scope leaving>
__global__ void lanes_locked(Words* w) {
  if (who<kLanes>() == 2) return;
  for (bool done = false; !done;) {
    if (atomicCAS_block(&w->lock, 0, 1) != 0) continue;
    fence<entering>();
    w->data += 3 + static_cast<int>(threadIdx.x);
    fence<leaving>();
    atomicExch_block(&w->lock, 0);
    done = true;
  }
}

// One thread: its own order is enough.
template <Scope leaving>
__global__ void alone_locked(Words* w) {
  if (threadIdx.x != 0) return;
  take<kBlock>(&w->lock);
  __threadfence_block();
  w->data = 1;
  fence<leaving>();
  atomicExch_block(&w->lock, 0);
  w->data = 2;
}

// ---- the cases

const Case cases[] = {
    {"interblock_lock_of_block",
     both_locked<kBlocks, kBlock, kBlock, kBlock, kBlock, kBlock, kBlock, int>, kBlocks},
    {"interblock_lock_block_fence_first",
     both_locked<kBlocks, kDevice, kBlock, kDevice, kDevice, kDevice, kDevice, int>, kBlocks},
    {"interblock_lock_block_fence_second",
     both_locked<kBlocks, kDevice, kDevice, kDevice, kDevice, kBlock, kDevice, int>, kBlocks},
    {"interblock_lock_no_leading_fence_first",
     both_locked<kBlocks, kDevice, kNone, kDevice, kDevice, kDevice, kDevice, int>, kBlocks},
    {"interblock_lock_no_leading_fence_second",
     both_locked<kBlocks, kDevice, kDevice, kDevice, kDevice, kNone, kDevice, int>, kBlocks},
    {"interblock_lock_no_trailing_fence",
     both_locked<kBlocks, kDevice, kDevice, kNone, kDevice, kDevice, kNone, int>, kBlocks},
    {"interblock_store_after_unlock", store_after_unlock<int>, kBlocks},
    {"interblock_store_unlocked", one_locked<kBlocks, kDevice, int>, kBlocks},
    {"interwarp_block_lock_no_leading_fence_first",
     both_locked<kWarps, kBlock, kNone, kBlock, kBlock, kBlock, kBlock, int>, kWarps},
    {"interwarp_block_lock_no_leading_fence_second",
     both_locked<kWarps, kBlock, kBlock, kBlock, kBlock, kNone, kBlock, int>, kWarps},
    {"interwarp_block_lock_no_trailing_fence",
     both_locked<kWarps, kBlock, kBlock, kNone, kBlock, kBlock, kNone, int>, kWarps},
    {"interwarp_mixed_lock_no_leading_fence_first",
     both_locked<kWarps, kDevice, kNone, kDevice, kBlock, kBlock, kBlock, int>, kWarps},
    {"interwarp_mixed_lock_no_leading_fence_second",
     both_locked<kWarps, kDevice, kDevice, kDevice, kBlock, kNone, kBlock, int>, kWarps},
    {"interwarp_mixed_lock_no_trailing_fence",
     both_locked<kWarps, kDevice, kDevice, kNone, kBlock, kBlock, kNone, int>, kWarps},
    {"interwarp_block_lock_store_unlocked", one_locked<kWarps, kBlock, int>, kWarps},
    {"interwarp_lock_store_unlocked", one_locked<kWarps, kDevice, int>, kWarps},
    {"intrawarp_lock_no_trailing_fence", lanes_locked<kBlock, kNone>, kLanes},
    {"intrawarp_lock_no_leading_fence", lanes_locked<kNone, kBlock>, kLanes},
    {"interblock_lock",
     both_locked<kBlocks, kDevice, kDevice, kDevice, kDevice, kDevice, kDevice, int>, kBlocks,
     &Words::data},
    {"interwarp_block_lock",
     both_locked<kWarps, kBlock, kBlock, kBlock, kBlock, kBlock, kBlock, int>, kWarps,
     &Words::data},
    {"interwarp_mixed_lock",
     both_locked<kWarps, kDevice, kDevice, kDevice, kBlock, kBlock, kBlock, int>, kWarps,
     &Words::data},
    {"intrawarp_lock_no_trailing_fence_alone", alone_locked<kNone>, kLanes, &Words::data},
    {"intrawarp_lock_alone", alone_locked<kBlock>, kLanes, &Words::data},
    {"intrawarp_lock", lanes_locked<kBlock, kBlock>, kLanes, &Words::data},
    {"interblock_lock_block_fence_volatile",
     both_locked<kBlocks, kDevice, kBlock, kDevice, kDevice, kDevice, kDevice, Volatile>, kBlocks},
    {"interblock_lock_no_leading_fence_volatile",
     both_locked<kBlocks, kDevice, kNone, kDevice, kDevice, kDevice, kDevice, Volatile>, kBlocks},
    {"interblock_lock_no_trailing_fence_volatile",
     both_locked<kBlocks, kDevice, kDevice, kNone, kDevice, kDevice, kNone, Volatile>, kBlocks},
    {"interblock_store_after_unlock_volatile", store_after_unlock<Volatile>, kBlocks},
    {"interblock_store_unlocked_volatile", one_locked<kBlocks, kDevice, Volatile>, kBlocks},
    {"interwarp_block_lock_no_leading_fence_volatile",
     both_locked<kWarps, kBlock, kNone, kBlock, kBlock, kBlock, kBlock, Volatile>, kWarps},
    {"interwarp_block_lock_no_trailing_fence_volatile",
     both_locked<kWarps, kBlock, kBlock, kNone, kBlock, kBlock, kNone, Volatile>, kWarps},
    {"interwarp_mixed_lock_no_leading_fence_volatile",
     both_locked<kWarps, kDevice, kNone, kDevice, kBlock, kBlock, kBlock, Volatile>, kWarps},
    {"interwarp_mixed_lock_no_trailing_fence_volatile",
     both_locked<kWarps, kDevice, kDevice, kNone, kBlock, kBlock, kNone, Volatile>, kWarps},
    {"interwarp_block_lock_store_unlocked_volatile", one_locked<kWarps, kBlock, Volatile>, kWarps},
    {"interwarp_lock_store_unlocked_volatile", one_locked<kWarps, kDevice, Volatile>, kWarps},
};

int main(int argc, char** argv) { return run_case(cases, argc, argv); }
