// printf from a kernel: every conversion, strings, and what of it comes out when.
//! stdout| int -7 unsigned 42 hex ff octal 17 char x
//! stdout| long -1234567890123 size 99
//! stdout| float 3.25 2.500000e-01 0.0001
//! stdout| text [  right][left   ] 100%
//! stdout| lane 0
//! stdout| lane 1
//! stdout| lane 2
//! stdout| host
#include <cstdio>

__global__ void formats(const char*) {
  printf("int %d unsigned %u hex %x octal %o char %c\n", -7, 42u, 255, 15, 'x');
  printf("long %lld size %lu\n", -1234567890123ll, 99ul);
  printf("float %.2f %e %g\n", 3.25, 0.25, 1e-4);
  printf("text [%7s][%-7s] %d%%\n", "right", "left", 100);
}

__global__ void lanes() {
  if (threadIdx.x < 3) printf("lane %d\n", threadIdx.x);
}

int main() {
  formats<<<1, 1>>>("");
  lanes<<<1, 32>>>();
  cudaDeviceSynchronize();  // the kernels' output comes here, in order
  printf("host\n");
  return 0;
}
