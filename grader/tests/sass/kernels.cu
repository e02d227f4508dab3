// All test kernels in one translation unit, so that a test compiles once a GPU architecture.
#include "atomics.cuh"
#include "global.cuh"
#include "hard.cuh"
#include "reductions.cuh"
#include "shared.cuh"
