// This kernel has a file of its own: the sine's slow path has a table in device memory, which would move
// the allocations of other kernels in the file, and so change what the caches hold.
#include "kernel_kit.h"

KERNEL(integral_of_sine) {  // by the trapezoidal rule, q pieces a thread
  const float from = a[first() & (n - 1)];
  float s = 0;
  for (unsigned k = 0; k < q; ++k) s += sinf(from + 0.001f * static_cast<float>(k));
  c[first()] = 0.001f * s;
}
