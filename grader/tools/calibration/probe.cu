// Microbenchmarks for figures of data/devices/h200.toml and grader/simulator. Prints lines
// of PART,CASE,NAME=VALUE: how blocks start, end and follow each other (life, turnaround), how long a
// load waits while others load (load, first), how long scattered loads keep L1 busy (scattered,
// missing), and how fast L2 serves lines that all multiprocessors request at once (hot2).
//
//   nvcc -O3 -std=c++17 -arch=native probe.cu -o probe && ./probe
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>
#define CHECK(x)                                                                       \
  do {                                                                                 \
    cudaError_t e = (x);                                                               \
    if (e != cudaSuccess) {                                                            \
      fprintf(stderr, "%s:%d %s %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e)); \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)
typedef unsigned long long u64;
__device__ __forceinline__ unsigned smid() {
  unsigned s;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
  return s;
}
__device__ __forceinline__ u64 clk() {
  u64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
__device__ __forceinline__ void wait(unsigned v, unsigned* to) {
  if (v == 0x7ffffff3u) *(volatile unsigned*)to = v;
}
__device__ __forceinline__ u64 gt() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
struct Log {
  u64 start, end;
  unsigned sm, block;
};
constexpr int SMS = 132;

__global__ void flush_read(const uint4* p, size_t n, unsigned* sink) {
  unsigned s = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    s += p[i].x;
  if (s == 1) *sink = s;
}
uint4* flush_p;
unsigned* sink;
void flush() { flush_read<<<1024, 256>>>(flush_p, (size_t(512) << 20) / 16, sink); }
unsigned *A, *B, *C;
Log* log_d;
u64* acc_d;

// ---- 1. life of blocks
template <int KIND>
__global__ void life(const unsigned* a, unsigned* c, Log* log, unsigned n) {
  extern __shared__ unsigned tile[];
  const u64 t0 = clk();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (KIND == 1) c[i] = a[i];
  if (KIND == 2) {
    tile[threadIdx.x] = a[i];
    __syncthreads();
    c[i] = tile[threadIdx.x ^ 32];
  }
  if (KIND == 3) {
    c[i] = i;
  }
  if (KIND == 4) {
    unsigned v = a[i];
    if (v == n) c[i] = v;
  }
  if (KIND == 5) {
    unsigned v = a[i];
    __syncthreads();
    if (v == n) c[i] = v;
  }
  if (KIND == 6) {
    tile[threadIdx.x] = i;
    __syncthreads();
    if (tile[threadIdx.x ^ 32] == 77) c[i] = 1;
  }
  const u64 t1 = clk();
  if (threadIdx.x % 32 == 0) {
    Log l;
    l.start = t0;
    l.end = t1;
    l.sm = smid();
    l.block = blockIdx.x;
    log[i / 32] = l;
  }
}
double med(std::vector<double>& v) {
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}
template <int KIND>
void lives(const char* name, int threads, int blocks_per_sm, bool cold) {
  const int blocks = SMS * blocks_per_sm;
  const unsigned warps = threads / 32;
  cudaEvent_t e0, e1;
  CHECK(cudaEventCreate(&e0));
  CHECK(cudaEventCreate(&e1));
  float ms = 0;
  for (int k = 0; k < 3; ++k) {
    if (cold) flush();
    CHECK(cudaEventRecord(e0));
    life<KIND>
        <<<blocks, threads, (KIND == 2 || KIND == 6) ? threads * 4 : 0>>>(A, C, log_d, 0x7fffffffu);
    CHECK(cudaEventRecord(e1));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventElapsedTime(&ms, e0, e1));
  }
  std::vector<Log> log(size_t(blocks) * warps);
  CHECK(cudaMemcpy(log.data(), log_d, log.size() * sizeof(Log), cudaMemcpyDeviceToHost));
  std::map<unsigned, std::vector<std::pair<u64, u64>>> per;  // by sm: block start, block end
  std::vector<double> spread, lifes, endspread, step, firstlast;
  std::map<unsigned, std::vector<u64>> starts;
  for (int b = 0; b < blocks; ++b) {
    u64 s = ~0ull, e = 0, sl = 0, ef = ~0ull;
    std::vector<u64> st;
    for (unsigned w = 0; w < warps; ++w) {
      const Log& l = log[size_t(b) * warps + w];
      s = std::min(s, l.start);
      sl = std::max(sl, l.start);
      e = std::max(e, l.end);
      ef = std::min(ef, l.end);
      st.push_back(l.start);
    }
    spread.push_back(double(sl - s));
    lifes.push_back(double(e - s));
    endspread.push_back(double(e - ef));
    std::sort(st.begin(), st.end());
    for (size_t i = 1; i < st.size(); ++i) step.push_back(double(st[i] - st[i - 1]));
    per[log[size_t(b) * warps].sm].push_back({s, e});
  }
  std::vector<double> gaps, total, meanlife;
  for (auto& [sm, v] : per) {
    std::sort(v.begin(), v.end());
    u64 last = 0;
    for (auto& x : v) last = std::max(last, x.second);
    total.push_back(double(last - v[0].first));
    // every later start is matched with the latest unmatched end before it
    std::vector<u64> ends;
    for (auto& x : v) ends.push_back(x.second);
    std::sort(ends.begin(), ends.end());
    const size_t resident = std::min<size_t>(v.size(), std::min(32, 2048 / threads));
    for (size_t i = resident; i < v.size(); ++i)
      gaps.push_back(double(v[i].first) - double(ends[i - resident]));
  }
  double sum = 0;
  for (double x : lifes) sum += x;
  double sumgap = 0;
  for (double x : gaps) sumgap += x;
  printf(
      "life,%s,threads=%d,blocks_per_sm=%d,cold=%d,event_us=%.2f,total_cycles=%.0f,life_median=%."
      "0f,life_mean=%.0f,start_spread=%.0f,end_spread=%.0f,warp_step=%.0f,gap_median=%.0f,gap_mean="
      "%.0f\n",
      name, threads, blocks_per_sm, cold, ms * 1000, med(total), med(lifes), sum / lifes.size(),
      med(spread), med(endspread), med(step), med(gaps), gaps.empty() ? 0 : sumgap / gaps.size());
}

// ---- 3. latency under load
template <int MODE, class T>
__global__ void load(const T* a, T* c, size_t n, unsigned* lat, u64* out) {
  u64 sum = 0, count = 0;
  const size_t step = size_t(gridDim.x) * blockDim.x;
  const u64 b0 = gt();
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += step) {
    const u64 t0 = clk();
    T v;
    if (MODE != 2) {
      v = __ldcg(a + i);
      asm volatile("" ::: "memory");
    }
    unsigned x = MODE != 2 ? *reinterpret_cast<unsigned*>(&v) : 0;
    if (x == 0xfffffff1u) *(volatile unsigned*)out = 1;  // waits
    const u64 t1 = clk();
    sum += t1 - t0;
    ++count;
    if (MODE == 1) c[i] = v;
    if (MODE == 2) {
      T z;
      memset(&z, 1, sizeof z);
      c[i] = z;
    }
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(out, sum);
    atomicAdd(out + 1, count);
    atomicMin(out + 2, b0);
    atomicMax(out + 3, gt());
  }
}
template <int MODE, class T>
void loads(const char* name, int blocks, int threads, size_t bytes, bool cold) {
  const size_t n = bytes / sizeof(T);
  u64 zero[4] = {0, 0, ~0ull, 0}, got[4];
  for (int k = 0; k < 3; ++k) {
    if (cold) flush();
    CHECK(cudaMemcpy(acc_d, zero, 32, cudaMemcpyHostToDevice));
    load<MODE, T><<<blocks, threads>>>((const T*)A, (T*)C, n, nullptr, acc_d);
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaMemcpy(got, acc_d, 32, cudaMemcpyDeviceToHost));
  const double us = double(got[3] - got[2]) / 1000;
  printf(
      "load,%s,word=%zu,blocks=%d,threads=%d,MiB=%.0f,cold=%d,us=%.1f,GB_s=%.0f,latency_cycles=%."
      "0f\n",
      name, sizeof(T), blocks, threads, bytes / 1048576.0, cold, us,
      (MODE == 1 ? 2 : 1) * bytes / us / 1000, double(got[0]) / double(got[1]));
}

// ---- 4. scattered loads, cycles of L1. Lane's line and word by table.
__global__ void scattered2(const unsigned* a, const unsigned* at, unsigned sets, unsigned rounds,
                           u64* out) {
  __shared__ unsigned off[64 * 32];
  for (unsigned i = threadIdx.x; i < sets * 32; i += blockDim.x) off[i] = at[i];
  __syncthreads();
  unsigned idx[8];
#pragma unroll
  for (int u = 0; u < 8; ++u)
    idx[u] = off[((threadIdx.x / 32 * 8 + u) % sets) * 32 + threadIdx.x % 32];
  unsigned s = 0, z = 0;
#pragma unroll
  for (int u = 0; u < 8; ++u) s += a[idx[u]];
  __syncthreads();
  const u64 t0 = clk();
  for (unsigned k = 0; k < rounds; ++k) {
    unsigned v[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) v[u] = __ldg(a + idx[u] + z);
#pragma unroll
    for (int u = 0; u < 8; ++u) s += v[u];
    z = s == 0x12345;
  }
  __syncthreads();
  const u64 t1 = clk();
  if (s == 1) out[1000] = s;
  if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
}
void scatters(const char* name, const std::vector<unsigned>& at, int blocks = SMS) {
  unsigned* d;
  CHECK(cudaMalloc(&d, at.size() * 4));
  CHECK(cudaMemcpy(d, at.data(), at.size() * 4, cudaMemcpyHostToDevice));
  const unsigned rounds = 64, threads = 1024;
  for (int k = 0; k < 2; ++k) {
    scattered2<<<blocks, threads>>>(A, d, at.size() / 32, rounds, acc_d);
    CHECK(cudaDeviceSynchronize());
  }
  std::vector<u64> v(blocks);
  CHECK(cudaMemcpy(v.data(), acc_d, blocks * 8, cudaMemcpyDeviceToHost));
  double s = 0;
  for (u64 x : v) s += x;
  printf("scattered,%s,cycles_per_load=%.2f\n", name,
         s / blocks / (double(rounds) * 8 * threads / 32));
  CHECK(cudaFree(d));
}

// ---- 5. first accesses of a multiprocessor
__global__ void firsts(const unsigned* a, const unsigned* b, unsigned* c, unsigned* out,
                       unsigned z) {
  unsigned t[6];
  unsigned s = 0;
  const size_t i = size_t(blockIdx.x) * 4096;
  u64 t0 = clk();
  s += __ldcg(a + i + z);
  wait(s, out + 100000);
  u64 t1 = clk();
  t[0] = t1 - t0 + (s & 0);
  t0 = clk();
  s += __ldcg(a + i + 1024 + z);
  wait(s, out + 100000);
  t1 = clk();
  t[1] = t1 - t0;
  t0 = clk();
  s += __ldcg(b + i + z);
  wait(s, out + 100000);
  t1 = clk();
  t[2] = t1 - t0;
  t0 = clk();
  s += __ldcg(b + i + 1024 + z);
  wait(s, out + 100000);
  t1 = clk();
  t[3] = t1 - t0;
  t0 = clk();
  s += __ldcg(a + i + z);
  wait(s, out + 100000);
  t1 = clk();
  t[4] = t1 - t0;  // L2 hit
  t0 = clk();
  s += __ldcg(c + i + z);
  wait(s, out + 100000);
  t1 = clk();
  t[5] = t1 - t0;
  for (int k = 0; k < 6; ++k) out[blockIdx.x * 6 + k] = t[k];
  if (s == 1) out[100000] = 1;
}

// ---- 6. from a block's end to the next one's start: blocks that only wait, without a log
template <int KIND>
__global__ void spin(unsigned* c, unsigned cycles, unsigned n) {
  unsigned t0 = (unsigned)clk();
  if (KIND == 2) c[blockIdx.x * blockDim.x + threadIdx.x] = n;
  while ((unsigned)clk() - t0 < cycles)
    ;
  if (KIND == 1) c[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
template <int KIND>
void spins(const char* name, int threads, int resident, unsigned cycles, size_t shared) {
  cudaEvent_t e0, e1;
  CHECK(cudaEventCreate(&e0));
  CHECK(cudaEventCreate(&e1));
  double t[2];
  CHECK(cudaFuncSetAttribute(spin<KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  for (int w = 0; w < 2; ++w) {
    const int rounds = w ? 40 : 8;
    float best = 1e9;
    for (int k = 0; k < 5; ++k) {
      CHECK(cudaEventRecord(e0));
      spin<KIND><<<SMS * resident * rounds, threads, shared>>>(C, cycles, 5);
      CHECK(cudaEventRecord(e1));
      CHECK(cudaDeviceSynchronize());
      float ms;
      CHECK(cudaEventElapsedTime(&ms, e0, e1));
      best = std::min(best, ms);
    }
    t[w] = best * 1000;
  }
  const double per = (t[1] - t[0]) / 32 * 1980;
  printf("turnaround,%s,threads=%d,resident=%d,spin=%u,shared=%zu,cycles_per_round=%.0f,gap=%.0f\n",
         name, threads, resident, cycles, shared, per, per - cycles);
}
// ---- 7. hot lines without a division
template <int U>
__global__ void hot2(const unsigned* a, unsigned mask, unsigned rounds, u64* out) {
  const unsigned W = blockDim.x / 32, w = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned s = 0, at = w;
  __syncthreads();
  const u64 t0 = clk();
  for (unsigned k = 0; k < rounds; k += U) {
    unsigned v[U];
#pragma unroll
    for (int u = 0; u < U; ++u) v[u] = __ldcg(a + (((at + u * W) & mask) * 32 + lane));
    at += U * W;
#pragma unroll
    for (int u = 0; u < U; ++u) s += v[u];
  }
  __syncthreads();
  const u64 t1 = clk();
  if (s == 1) out[1000] = s;
  if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
}
template <int U>
void hots2(int blocks, int threads, unsigned lines) {
  const unsigned rounds = 1024;
  for (int k = 0; k < 2; ++k) {
    hot2<U><<<blocks, threads>>>(A, lines - 1, rounds, acc_d);
    CHECK(cudaDeviceSynchronize());
  }
  std::vector<u64> v(blocks);
  CHECK(cudaMemcpy(v.data(), acc_d, blocks * 8, cudaMemcpyDeviceToHost));
  double s = 0;
  for (u64 x : v) s += x;
  const double n = double(rounds) * threads / 32;
  printf(
      "hot2,unroll=%d,blocks=%d,warps=%d,lines=%u,cycles_per_line_of_sm=%.2f,round_trip=%.0f,lines_"
      "per_clock_of_card=%.2f\n",
      U, blocks, threads / 32, lines, s / blocks / n, s / blocks / (rounds / U),
      blocks * n / (s / blocks));
}
// ---- 8. loads that miss L1: each lane its own sector, or lines of k lanes
__global__ void missing(const unsigned* a, unsigned mask, unsigned per_line, unsigned rounds,
                        u64* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 7919 + lane / per_line * 104729,
           s = 0;
  __syncthreads();
  const u64 t0 = clk();
  for (unsigned k = 0; k < rounds; k += 8) {
    unsigned v[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      x = x * 1664525u + 1013904223u;
      v[u] = __ldg(a + (((x >> 8) & mask) * 32 + lane % per_line * (32 / per_line)));
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) s += v[u];
  }
  __syncthreads();
  const u64 t1 = clk();
  if (s == 1) out[1000] = s;
  if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
}
int main() {
  const size_t big = size_t(256) << 20;
  CHECK(cudaMalloc(&A, big));
  CHECK(cudaMalloc(&B, big));
  CHECK(cudaMalloc(&C, big));
  CHECK(cudaMalloc(&flush_p, size_t(512) << 20));
  CHECK(cudaMalloc(&sink, 4));
  CHECK(cudaMalloc(&acc_d, 1 << 20));
  CHECK(cudaMalloc(&log_d, size_t(1) << 26));
  CHECK(cudaMemset(A, 1, big));
  CHECK(cudaMemset(B, 1, big));
  CHECK(cudaMemset(C, 1, big));
  CHECK(cudaMemset(flush_p, 1, size_t(512) << 20));
  for (int threads : {64, 128, 256, 512, 1024}) {
    const int resident = std::min(32, 2048 / threads);
    for (int rounds : {1, 8}) {
      lives<0>("nothing", threads, resident * rounds, true);
      lives<1>("copy", threads, resident * rounds, true);
      lives<1>("copy", threads, resident * rounds, false);
      lives<2>("tile", threads, resident * rounds, true);
      lives<2>("tile", threads, resident * rounds, false);
      lives<3>("store", threads, resident * rounds, false);
      lives<4>("load", threads, resident * rounds, true);
      lives<4>("load", threads, resident * rounds, false);
      lives<5>("load_barrier", threads, resident * rounds, false);
      lives<6>("shared_barrier", threads, resident * rounds, false);
    }
    lives<1>("copy", threads, resident * 40, true);
    lives<2>("tile", threads, resident * 40, true);
  }
  fflush(stdout);
  for (int per : {1, 2, 4, 8})
    for (int threads : {64, 256}) {
      loads<0, unsigned>("read", SMS * per, threads, big / 8, true);
      loads<1, unsigned>("copy", SMS * per, threads, big / 8, true);
      loads<0, uint4>("read", SMS * per, threads, big, true);
      loads<1, uint4>("copy", SMS * per, threads, big, true);
      loads<0, unsigned>("read_l2", SMS * per, threads, big / 16, false);
      loads<1, unsigned>("copy_l2", SMS * per, threads, big / 32, false);
      loads<0, uint4>("read_l2", SMS * per, threads, big / 16, false);
      loads<1, uint4>("copy_l2", SMS * per, threads, big / 32, false);
    }
  fflush(stdout);
  {
    unsigned seed = 1;
    auto rnd = [&] {
      seed = seed * 1664525u + 1013904223u;
      return seed >> 8;
    };
    auto make = [&](unsigned sets, auto f) {
      std::vector<unsigned> v;
      for (unsigned s = 0; s < sets; ++s)
        for (unsigned l = 0; l < 32; ++l) v.push_back(f(s, l));
      return v;
    };
    scatters("one_line", make(16, [](unsigned s, unsigned l) { return s * 32 + l; }));
    for (unsigned lines : {2u, 4u, 8u, 16u, 32u}) {
      scatters(("lines=" + std::to_string(lines) + " own_banks").c_str(),
               make(4, [&](unsigned s, unsigned l) { return (s * 32 + l % lines) * 32 + l; }));
      scatters(
          ("lines=" + std::to_string(lines) + " one_bank_a_line").c_str(),
          make(4, [&](unsigned s, unsigned l) { return (s * 32 + l % lines) * 32 + (l / lines); }));
      scatters(
          ("lines=" + std::to_string(lines) + " random_words").c_str(),
          make(8, [&](unsigned s, unsigned l) { return (s * 32 + l % lines) * 32 + rnd() % 32; }));
      scatters(("lines=" + std::to_string(lines) + " random_rows_step_33").c_str(),
               make(8, [&](unsigned, unsigned l) { return (l % lines) * 33 * 32 + rnd() % 32; }));
    }
    for (unsigned words : {1024u, 4096u, 16384u, 32768u})
      scatters(("random in " + std::to_string(words)).c_str(),
               make(64, [&](unsigned, unsigned) { return rnd() % words; }));
    for (unsigned pitch :
         {2u, 4u, 8u, 9u, 16u, 17u, 24u, 32u, 33u, 40u, 48u, 64u, 65u, 72u, 128u, 136u})
      scatters(("pitch=" + std::to_string(pitch)).c_str(),
               make(8, [&](unsigned s, unsigned l) { return s + l * pitch; }));
    for (unsigned lines : {1u, 4u, 8u, 32u})
      scatters(("from L2, sectors of 32 lines, words in " + std::to_string(lines)).c_str(),
               make(64, [&](unsigned, unsigned) { return rnd() % (1u << 21); }));
    for (unsigned k : {1u, 2u, 4u, 8u, 16u, 32u})
      scatters(("from L2, lines=" + std::to_string(k)).c_str(),
               make(64, [&](unsigned s, unsigned l) {
                 return ((s * 32 + l % k) * 1237u % 65536) * 32 + l;
               }));
  }
  fflush(stdout);
  {
    unsigned* out;
    CHECK(cudaMalloc(&out, 1 << 20));
    for (int k = 0; k < 4; ++k) {
      flush();
      firsts<<<SMS, 1>>>(A + k * 4194304, B + k * 4194304, C + k * 4194304, out, 0);
      CHECK(cudaDeviceSynchronize());
      std::vector<unsigned> v(SMS * 6);
      CHECK(cudaMemcpy(v.data(), out, v.size() * 4, cudaMemcpyDeviceToHost));
      for (int j = 0; j < 6; ++j) {
        std::vector<double> x;
        double mx = 0, mn = 1e9;
        for (int b = 0; b < SMS; ++b)
          x.push_back(v[b * 6 + j]), mx = std::max(mx, double(v[b * 6 + j])),
                                     mn = std::min(mn, double(v[b * 6 + j]));
        printf("first,run=%d,access=%d,median=%.0f,least=%.0f,most=%.0f\n", k, j, med(x), mn, mx);
      }
    }
  }
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    const int r = std::min(32, 2048 / threads);
    for (unsigned cycles : {3000u, 8000u}) {
      spins<0>("nothing", threads, r, cycles, 0);
      spins<1>("store_last", threads, r, cycles, 0);
      spins<2>("store_first", threads, r, cycles, 0);
    }
    spins<0>("nothing", threads, r, 16000, 0);
    if (r > 1) {
      spins<0>("shared", threads, 2, 3000, 100 * 1024);
      spins<0>("shared_half", threads, r, 3000, 200 * 1024 / r);
    }
  }
  for (int blocks : {1, 33, 66, 132})
    for (unsigned lines : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 1024u, 8192u, 65536u}) {
      hots2<8>(blocks, 256, lines);
      if (blocks == 132) {
        hots2<8>(blocks, 1024, lines);
        hots2<1>(blocks, 256, lines);
      }
    }
  {
    unsigned seed = 1;
    auto rnd = [&] {
      seed = seed * 1664525u + 1013904223u;
      return seed >> 8;
    };
    auto make = [&](unsigned sets, auto f) {
      std::vector<unsigned> v;
      for (unsigned s = 0; s < sets; ++s)
        for (unsigned l = 0; l < 32; ++l) v.push_back(f(s, l));
      return v;
    };
    // lines whose numbers differ in one or two bits: which bits choose the part of the tags
    for (unsigned b0 = 0; b0 < 21; ++b0)
      for (unsigned b1 = b0 + 1; b1 < 21; ++b1)
        scatters(("four_lines_bits=" + std::to_string(b0) + "+" + std::to_string(b1)).c_str(),
                 make(1, [&](unsigned, unsigned l) {
                   return (((l & 1) << b0) | ((l >> 1 & 1) << b1)) * 32 + l;
                 }));
    for (unsigned b0 = 0; b0 < 19; ++b0)
      for (unsigned b1 = b0 + 1; b1 < 19; b1 += 3)
        scatters(
            ("eight_lines_bits=" + std::to_string(b0) + "+" + std::to_string(b1) + "+" +
             std::to_string(b1 + 1))
                .c_str(),
            make(1, [&](unsigned, unsigned l) {
              return (((l & 1) << b0) | ((l >> 1 & 1) << b1) | ((l >> 2 & 1) << (b1 + 1))) * 32 + l;
            }));
    for (unsigned p = 0; p < 12; ++p)
      scatters(("lines_step=" + std::to_string(1u << p)).c_str(),
               make(1, [&](unsigned, unsigned l) { return (l << p) * 32 + l; }));
    for (unsigned r : {1u << 20, 1u << 18})
      scatters(("random in " + std::to_string(r)).c_str(),
               make(16, [&](unsigned, unsigned) { return rnd() % r; }));
  }
  for (unsigned mask : {127u, 1023u, 65535u, 262143u})
    for (unsigned per : {1u, 4u, 8u, 32u})
      for (int threads : {256, 1024}) {
        for (int k = 0; k < 2; ++k) {
          missing<<<132, threads>>>(A, mask, per, 256, acc_d);
          CHECK(cudaDeviceSynchronize());
        }
        std::vector<u64> v(132);
        CHECK(cudaMemcpy(v.data(), acc_d, 132 * 8, cudaMemcpyDeviceToHost));
        double s = 0;
        for (u64 x : v) s += x;
        printf("missing,lines=%u,lanes_a_line=%u,warps=%d,cycles_per_load=%.2f\n", mask + 1, per,
               threads / 32, s / 132 / (256.0 * threads / 32));
      }
  CHECK(cudaDeviceSynchronize());
}
