// Measures the cycles per instruction of a multiprocessor, for one kind or for several mixed:
//
//   nvcc -std=c++17 -O3 -arch=native mix.cu -o mix && ./mix     prints rows of h200-mix.csv
//
// The cycles are per scheduler, of which a multiprocessor has four. 64 instructions are in a loop, which
// costs three more.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

__device__ unsigned long long starts[264], ends[264];
__device__ unsigned where[264], sink;
__device__ float buffer[1 << 20];

__device__ void note(unsigned long long began, unsigned result) {
  __syncthreads();
  const unsigned long long now = clock64();
  if (threadIdx.x == 0) {
    asm volatile("mov.u32 %0, %%smid;" : "=r"(where[blockIdx.x]));
    starts[blockIdx.x] = began, ends[blockIdx.x] = now;
  }
  if (result == 0x12345678u) sink = 1;
}

enum Kind {
  product,
  high,
  banks,
  outer,
  fma64,
  add64,
  mul64,
  both64,
  beside64,
  mandelbrot,
  from64,
  to64,
  root,
  least
};

template <int KIND>
__global__ void one(int n, unsigned p, unsigned q) {
  unsigned r[8];
  uint64_t w[8];
  float f[8], u[8], v[8], sum[64];
  double d[8], x = 0, y = 0;
  const double cu = 0.1 * p, cv = 0.1 * q;
  for (int i = 0; i < 8; ++i) r[i] = threadIdx.x + i * p, w[i] = f[i] = d[i] = r[i];
  if (KIND == outer) {
    for (int i = 0; i < 8; ++i) u[i] = p * (i + 1), v[i] = q * i + threadIdx.x;
    for (int i = 0; i < 64; ++i) sum[i] = i;
  }
  __syncthreads();
  const unsigned long long began = clock64();
  int k = 0;
  if (KIND == mandelbrot) {
    for (; k < n && x * x + y * y <= 4e30; ++k) {
      const double next = x * x - y * y + cu;
      y = 2 * x * y + cv, x = next;
    }
  } else {
#pragma unroll 1
    for (int turn = 0; turn < n; ++turn) {
#pragma unroll
      for (int j = 0; j < 64; ++j) {
        const int i = j % 8;
        if (KIND == product)
          asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(r[i]) : "r"(p), "r"(q));
        if (KIND == high) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(r[i]) : "r"(p));
        if (KIND == banks)  // three operands, of two banks
          asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                       : "+f"(f[i])
                       : "f"(f[(i + 3) % 8]), "f"(f[(i + 5) % 8]));
        if (KIND == outer)
          asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum[j]) : "f"(u[j / 8]), "f"(v[i]));
        if (KIND == fma64 || (KIND == beside64 && i % 2 != 0))
          asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(d[i]) : "d"(cu), "d"(cv));
        if (KIND == add64 || (KIND == both64 && i % 2 == 0))
          asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(d[i]) : "d"(cu));
        if (KIND == mul64 || (KIND == both64 && i % 2 != 0))
          asm volatile("mul.rn.f64 %0, %0, %1;" : "+d"(d[i]) : "d"(cu));
        if (KIND == from64)
          asm volatile("{.reg .f32 a; cvt.rp.f32.u64 a, %0; mov.b64 %0, {a, a};}" : "+l"(w[i]));
        if (KIND == to64)
          asm volatile("{.reg .f32 a, b; mov.b64 {a, b}, %0; cvt.rzi.u64.f32 %0, a;}" : "+l"(w[i]));
        if (KIND == root) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));
        if (KIND == least || (KIND == beside64 && i % 2 == 0))
          asm volatile("max.u32 %0, %0, %1;" : "+r"(r[i]) : "r"(r[(i + 2) % 8]));
      }
    }
  }
  unsigned s = k ^ static_cast<unsigned>(__double_as_longlong(x + y));
  for (int i = 0; i < 8; ++i)
    s ^= r[i] ^ static_cast<unsigned>(w[i]) ^ __float_as_int(f[i]) ^
         static_cast<unsigned>(__double_as_longlong(d[i]));
  if (KIND == outer)
    for (int i = 0; i < 64; ++i) s ^= __float_as_int(sum[i]);
  note(began, s);
}

enum From { own_words, one_word, line, sector, own_quads, one_quad };

// Alternates LOADS from shared memory or L1, FMAS multiply-adds and LEAST comparisons.
template <int FROM, int LOADS, int FMAS, int LEAST>
__global__ void mix(int n, unsigned p) {
  __shared__ float4 tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = make_float4(0, 0, 0, 0);
  float f[8];
  unsigned r[8];
  float4 got[8];
  for (int i = 0; i < 8; ++i) f[i] = i, r[i] = threadIdx.x + i, got[i] = make_float4(0, 0, 0, 0);
  const unsigned lane = threadIdx.x % 32;
  const unsigned base =
      static_cast<unsigned>(__cvta_generic_to_shared(tile)) + (FROM == own_words   ? lane * 4
                                                               : FROM == own_quads ? lane * 16
                                                                                   : 0);
  const float* g = buffer + (FROM == line ? lane : 0);
  float junk = 0;
  for (int i = 0; i < 17; ++i) junk += __ldca(g + i * 32);
  __syncthreads();
  const unsigned long long began = clock64();
#pragma unroll 1
  for (int turn = 0; turn < n; ++turn) {
    constexpr int kMore = LOADS > FMAS ? LOADS : FMAS, kMost = kMore > LEAST ? kMore : LEAST;
    int load = 0, fma = 0, least = 0;
#pragma unroll
    for (int s = 0; s < kMost; ++s) {
      for (; load * kMost < (s + 1) * LOADS; ++load) {
        float4& to = got[load % 8];
        if (FROM == own_words || FROM == one_word)
          asm volatile("ld.volatile.shared.f32 %0, [%1];"
                       : "=f"(to.x)
                       : "r"(base + load % 8 * 128));
        else if (FROM == own_quads || FROM == one_quad)
          asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                       : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w)
                       : "r"(base + load % 8 * 512));
        else
          asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(to.x) : "l"(g + (turn & 7) + load * 32));
      }
      for (; fma * kMost < (s + 1) * FMAS; ++fma)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                     : "+f"(f[fma % 8])
                     : "f"(1.5f), "f"(got[(fma + 4) % 8].x));
      for (; least * kMost < (s + 1) * LEAST; ++least)
        asm volatile("max.u32 %0, %0, %1;" : "+r"(r[least % 8]) : "r"(r[(least + 3) % 8]));
    }
  }
  unsigned s = __float_as_int(junk) ^ p;
  for (int i = 0; i < 8; ++i)
    s ^= r[i] ^ __float_as_int(f[i]) ^ __float_as_int(got[i].x + got[i].y + got[i].z + got[i].w);
  note(began, s);
}

// Reports the median multiprocessor.
double cycles(int blocks) {
  unsigned long long start[264], end[264];
  unsigned on[264];
  cudaMemcpyFromSymbol(start, starts, sizeof start);
  cudaMemcpyFromSymbol(end, ends, sizeof end);
  cudaMemcpyFromSymbol(on, where, sizeof on);
  std::vector<unsigned long long> least(256, ~0ull), most(256, 0);
  for (int b = 0; b < blocks; ++b) {
    least[on[b]] = std::min(least[on[b]], start[b]);
    most[on[b]] = std::max(most[on[b]], end[b]);
  }
  std::vector<double> all;
  for (int i = 0; i < 256; ++i)
    if (most[i] != 0) all.push_back(static_cast<double>(most[i] - least[i]));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Skips shapes that do not fit into the register file.
template <class Launch>
void run(const char* part, const char* name, Launch launch, double instructions) {
  constexpr int kTurns = 200;
  for (const int warps : {4, 8, 16, 32, 64}) {
    const int blocks = warps > 32 ? 264 : 132, threads = std::min(warps, 32) * 32;
    launch(blocks, threads, kTurns);
    launch(blocks, threads, kTurns);
    if (cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess) continue;
    const double took = cycles(blocks);
    printf("%s,%s,\"warps=%d,cycles_per_instruction=%.3f,cycles=%.0f\"\n", part, name, warps,
           took / (kTurns * instructions * warps / 4), took);
  }
}

template <int KIND>
void run_one(const char* name, double instructions = 64) {
  run(
      "one", name, [](int b, int t, int n) { one<KIND><<<b, t>>>(n, 3, 5); }, instructions);
}

template <int FROM, int LOADS, int FMAS, int LEAST>
void run_mix(const char* from) {
  char name[80];
  snprintf(name, sizeof name, "%s loads=%d fma=%d max=%d", from, LOADS, FMAS, LEAST);
  run(
      "mix", name, [](int b, int t, int n) { mix<FROM, LOADS, FMAS, LEAST><<<b, t>>>(n, 3); },
      LOADS + FMAS + LEAST);
}

}  // namespace

int main() {
  run_one<product>("IMAD"), run_one<high>("IMAD.HI");
  run_one<banks>("FFMA of three registers"), run_one<outer>("FFMA of an outer product");
  run_one<fma64>("DFMA"), run_one<add64>("DADD"), run_one<mul64>("DMUL");
  run_one<both64>("DADD and DMUL"), run_one<beside64>("DFMA and VIMNMX");
  run_one<mandelbrot>("a round of Mandelbrot's set in doubles", 1);
  run_one<from64>("I2F.U64"), run_one<to64>("F2I.U64"), run_one<root>("MUFU");
  run_one<least>("VIMNMX");
  run_mix<own_words, 0, 32, 32>("no"), run_mix<own_words, 0, 48, 16>("no");
  run_mix<own_words, 0, 16, 48>("no");
  run_mix<own_words, 16, 0, 0>("own words"), run_mix<own_words, 16, 16, 0>("own words");
  run_mix<own_words, 16, 32, 0>("own words"), run_mix<own_words, 16, 48, 0>("own words");
  run_mix<own_words, 16, 64, 0>("own words"), run_mix<own_words, 16, 96, 0>("own words");
  run_mix<own_words, 16, 24, 24>("own words"), run_mix<own_words, 16, 16, 32>("own words");
  run_mix<one_word, 16, 0, 0>("one word"), run_mix<one_word, 16, 48, 0>("one word");
  run_mix<one_word, 16, 16, 32>("one word");
  run_mix<own_quads, 16, 0, 0>("own quads"), run_mix<own_quads, 16, 128, 0>("own quads");
  run_mix<own_quads, 16, 240, 0>("own quads"), run_mix<one_quad, 16, 0, 0>("one quad");
  run_mix<one_quad, 16, 64, 0>("one quad");
  run_mix<line, 16, 16, 0>("a line of L1"), run_mix<line, 16, 48, 0>("a line of L1");
  run_mix<line, 16, 96, 0>("a line of L1"), run_mix<sector, 16, 16, 0>("a sector of L1");
  run_mix<sector, 16, 48, 0>("a sector of L1"), run_mix<sector, 16, 96, 0>("a sector of L1");
}
