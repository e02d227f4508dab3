// Device functions that are really called: recursion, function pointers, virtual functions.
//! stdout| fibonacci 0 1 1 2 3 5 8 13
//! stdout| by pointer 10 25 5 125
//! stdout| shapes 6 and 9
#include <cstdio>

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int keep(int a, int) { return a; }
__device__ __noinline__ int cube(int a, int b) { return a * a * b; }
using Function = int (*)(int, int);
__device__ Function functions[4] = {add, multiply, keep, cube};

struct Shape {
  __device__ virtual int area() const = 0;
};
struct Rectangle : Shape {
  int w, h;
  __device__ Rectangle(int a, int b) : w(a), h(b) {}
  __device__ int area() const override { return w * h; }
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int a) : side(a) {}
  __device__ int area() const override { return side * side; }
};

__global__ void numbers(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }
__global__ void by_pointer(int* out) { out[threadIdx.x] = functions[threadIdx.x](5, 5); }
__global__ void shapes(int* out) {
  const Rectangle r(2, 3);
  const Square s(3);
  const Shape* all[] = {&r, &s};
  out[threadIdx.x] = all[threadIdx.x % 2]->area();
}

int main() {
  int *out, v[8];
  cudaMalloc(&out, sizeof v);
  numbers<<<1, 8>>>(out);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("fibonacci %d %d %d %d %d %d %d %d\n", v[0], v[1], v[2], v[3], v[4], v[5], v[6],
              v[7]);
  by_pointer<<<1, 4>>>(out);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("by pointer %d %d %d %d\n", v[0], v[1], v[2], v[3]);
  shapes<<<1, 2>>>(out);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("shapes %d and %d\n", v[0], v[1]);
  return 0;
}
