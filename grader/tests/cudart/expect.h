// For programs that check themselves: what does not hold is printed, and counted for main().
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

static int expected = 0, failed = 0;

#define EXPECT(condition)                                         \
  do {                                                            \
    ++expected;                                                   \
    if (!(condition)) {                                           \
      ++failed;                                                   \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                             \
  } while (false)

#define EXPECT_ERROR(call, error)                                                       \
  do {                                                                                  \
    const cudaError_t got = (call);                                                     \
    ++expected;                                                                         \
    if (got != (error)) {                                                               \
      ++failed;                                                                         \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got)); \
    }                                                                                   \
  } while (false)

#define WORKS(call) EXPECT_ERROR(call, cudaSuccess)

inline int result() {
  std::printf("%s\n", failed ? "failed" : "all as expected");
  return failed ? 1 : 0;
}
