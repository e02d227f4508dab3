// The only header that a submission includes. It holds what the submission tells the grader as
// data, because the grader takes device code only: a main() in a submission is never run.
#pragma once

constexpr int kWarpSize = 32;

__host__ __device__ constexpr int ceil_div(int a, int b) { return a / b + (a % b != 0); }

// The launch configuration that a submission chooses for a kernel, where the task leaves it free:
//
//   LAB32_LAUNCH(reduce_v8, .block = 256, .items_per_thread = 16, .blocks_per_sm = 4);
//
// Fields are named in this order; one that is left out is 0: the task's own choice.
struct Lab32Launch {
  int block;             // threads per block
  int items_per_thread;  // the grid is ceil(n / (block * items_per_thread)) blocks,
  int blocks_per_sm;     // or this many for each multiprocessor, if that is fewer
  int dynamic_shared;    // bytes
};

// The grader reads these records from the module by name. extern "C" keeps the name as written, and
// with braces it is a definition for the host compiler too, so that the file also works in a whole
// program. Without const, since nvcc drops a __constant__ that is const and never read.
#define LAB32_LAUNCH(kernel, ...)                                 \
  extern "C" {                                                    \
  __constant__ Lab32Launch lab32_launch_##kernel = {__VA_ARGS__}; \
  }

// The part of a matrix that a block of a kernel processes, where the task leaves it free:
//
//   LAB32_TILE(transpose_best, .rows = 64, .columns = 64, .threads = 256);
//
// Blocks have `threads` x 1 x 1 threads; the grid covers a matrix of n rows and m columns with
// ceil(m / columns) x ceil(n / rows) blocks.
struct Lab32Tile {
  int rows, columns, threads;
};

#define LAB32_TILE(kernel, ...)                               \
  extern "C" {                                                \
  __constant__ Lab32Tile lab32_tile_##kernel = {__VA_ARGS__}; \
  }

// The answer to a question of a lab: LAB32_ANSWER(add2_sectors, 4.5). A negative value means "not
// answered yet".
#define LAB32_ANSWER(question, value)                 \
  extern "C" {                                        \
  __constant__ float lab32_answer_##question = value; \
  }
