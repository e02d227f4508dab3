// Every atomic function, in global and in shared memory.
//! stdout| global 64 -36 99 0 127 96 1 7 64 32.0 16.0 64
//! stdout| shared the same: 1
//! stdout| exchange and compare-and-swap: each old value once: 1, maximum by hand 63
#include <cstdio>
#include <cstring>
#include <vector>

struct Cells {
  int add, sub, max, min;
  unsigned bit_or, bit_xor, bit_and, inc, dec;
  float sum;
  double precise;
  unsigned long long wide;
};

__device__ void update(Cells* c, int i) {
  atomicAdd(&c->add, 1);
  atomicSub(&c->sub, i % 2);
  atomicMax(&c->max, i);
  atomicMin(&c->min, i);
  atomicOr(&c->bit_or, static_cast<unsigned>(i) | 64u);
  atomicXor(&c->bit_xor, i == 5 ? 96u : 0u);
  atomicAnd(&c->bit_and, i == 3 ? 1u : 3u);
  atomicInc(&c->inc, 56);
  atomicDec(&c->dec, 1000);
  atomicAdd(&c->sum, 0.5f);
  atomicAdd(&c->precise, 0.25);
  atomicAdd(&c->wide, 1ull);
}

__global__ void both(Cells* global, Cells* copy, const Cells* start, int* olds, int* swap, int* most) {
  __shared__ Cells shared;
  const int i = threadIdx.x;
  if (i == 0) shared = *start;
  __syncthreads();
  update(global, i);
  update(&shared, i);
  olds[i] = atomicExch(swap, i);
  int seen = *reinterpret_cast<volatile int*>(most);
  while (seen < i) {
    const int before = atomicCAS(most, seen, i);
    if (before == seen) break;
    seen = before;
  }
  __syncthreads();
  if (i == 0) *copy = shared;
}

int main() {
  Cells start, g, s;
  std::memset(&start, 0, sizeof start);
  start.sub = -4;
  start.max = 99;
  start.min = 5;
  start.bit_and = 7;
  start.dec = 128;
  Cells* cells;
  int *olds, *swap, v[66] = {};
  cudaMalloc(&cells, 3 * sizeof start);
  cudaMalloc(&olds, 66 * sizeof(int));
  cudaMemset(olds, 0xff, 66 * sizeof(int));
  swap = olds + 64;
  cudaMemcpy(cells, &start, sizeof start, cudaMemcpyHostToDevice);
  cudaMemcpy(cells + 2, &start, sizeof start, cudaMemcpyHostToDevice);
  both<<<1, 64>>>(cells, cells + 1, cells + 2, olds, swap, swap + 1);
  cudaMemcpy(&g, cells, sizeof g, cudaMemcpyDeviceToHost);
  cudaMemcpy(&s, cells + 1, sizeof s, cudaMemcpyDeviceToHost);
  cudaMemcpy(v, olds, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("global %d %d %d %d %u %u %u %u %u %.1f %.1f %llu\n", g.add, g.sub, g.max, g.min,
              g.bit_or, g.bit_xor, g.bit_and, g.inc, g.dec, g.sum, g.precise, g.wide);
  std::printf("shared the same: %d\n", std::memcmp(&g, &s, offsetof(Cells, wide) + 8) == 0);
  std::vector<int> seen(65, 0);
  for (int i = 0; i <= 64; ++i) ++seen[v[i] + 1];  // -1 was there first; the last stays in the cell
  bool once = true;
  for (int c : seen) once &= c == 1;
  std::printf("exchange and compare-and-swap: each old value once: %d, maximum by hand %d\n", once,
              v[65]);
  return 0;
}
