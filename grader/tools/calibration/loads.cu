// Loads that hit L1, alone and mixed with arithmetic, in as many blocks as there are multiprocessors or
// two each, which repeat the same work (data/measured/model/README.md); set *micro* of launches.csv. The
// signature and the contents of the arrays are those of kernel_kit.h; q is the
// number of repetitions.
#include <cstdint>

#define KERNEL(name)                                                                        \
  extern "C" __global__ void name(const float* __restrict__ a, const float* __restrict__ b, \
                                  float* __restrict__ c, unsigned n, unsigned p, unsigned q)

namespace {

enum Width { none, words, pairs, quads };

struct Kept {
  float f[8];
  unsigned r[8];
  float4 got[8];
};

// Alternates 16 loads, FMAS multiply-adds and LEAST comparisons.
template <Width WIDTH, int FMAS, int LEAST>
__device__ void turn_of(const float* from, Kept& kept) {
  constexpr int kLoads = WIDTH == none ? 0 : 16;
  constexpr int kMore = kLoads > FMAS ? kLoads : FMAS, kMost = kMore > LEAST ? kMore : LEAST;
  int load = 0, fma = 0, least = 0;
#pragma unroll
  for (int s = 0; s < kMost; ++s) {
    for (; load * kMost < (s + 1) * kLoads; ++load) {
      float4& to = kept.got[load % 8];
      const float* at = from + load * 32;
      if (WIDTH == words) asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(to.x) : "l"(at));
      if (WIDTH == pairs)
        asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(to.x), "=f"(to.y) : "l"(at));
      if (WIDTH == quads)
        asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w)
                     : "l"(at));
    }
    for (; fma * kMost < (s + 1) * FMAS; ++fma) {
      const float4 got = kept.got[((WIDTH == quads ? fma / 2 : fma) + 4) % 8];
      const float by = WIDTH == pairs   ? got.y
                       : WIDTH == words ? 1.5f
                       : fma % 2 != 0   ? got.y
                                        : got.w;
      asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                   : "+f"(kept.f[fma % 8])
                   : "f"(by), "f"(WIDTH == quads && fma % 2 != 0 ? got.z : got.x));
    }
    for (; least * kMost < (s + 1) * LEAST; ++least)
      asm volatile("max.u32 %0, %0, %1;" : "+r"(kept.r[least % 8]) : "r"(kept.r[(least + 3) % 8]));
  }
}

template <Width WIDTH, int FMAS, int LEAST>
__device__ void turns(const float* a, float* c, unsigned p, unsigned q) {
  constexpr unsigned kWide = WIDTH == quads ? 4 : WIDTH == pairs ? 2 : 1;
  Kept kept;
  for (int i = 0; i < 8; ++i)
    kept.f[i] = i, kept.r[i] = threadIdx.x + i, kept.got[i] = make_float4(0, 0, 0, 0);
  const float* from = a + threadIdx.x % 32 * kWide + p;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) turn_of<WIDTH, FMAS, LEAST>(from + turn % 8 * 32, kept);
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += kept.f[i] + kept.r[i] + kept.got[i].x + kept.got[i].y + kept.got[i].z + kept.got[i].w;
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace

#define TURNS(name, ...) \
  KERNEL(name) { turns<__VA_ARGS__>(a, c, p, q); }

// p: distance in words of the first lane's word from the start of a line.
TURNS(l1_words_fma_1, words, 16, 0)
TURNS(l1_pairs_fma_1, pairs, 16, 0)
TURNS(l1_quads_fma_2, quads, 32, 0)
TURNS(l1_words_fma_2, words, 32, 0)
TURNS(l1_words_fma_4, words, 64, 0)
TURNS(l1_words_fma_8, words, 128, 0)
TURNS(l1_words_fma_1_max_1, words, 16, 16)
TURNS(l1_words_fma_1_max_2, words, 16, 32)
TURNS(l1_words_fma_2_max_1, words, 32, 16)
TURNS(l1_words_fma_2_max_2, words, 32, 32)

// Loops of a few instructions measure the overhead of an iteration.
template <int FMAS>
__device__ void loop(float* c, unsigned p, unsigned q) {
  float f[4];
  for (int i = 0; i < 4; ++i) f[i] = threadIdx.x + i;
  const float u = 0.5f * p;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) {
#pragma unroll
    for (int i = 0; i < FMAS; ++i)
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i % 4]) : "f"(u));
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = f[0] + f[1] + f[2] + f[3];
}
KERNEL(loop_fma_4) { loop<4>(c, p, q); }
KERNEL(loop_fma_8) { loop<8>(c, p, q); }
KERNEL(loop_fma_16) { loop<16>(c, p, q); }
KERNEL(loop_fma_32) { loop<32>(c, p, q); }

// Sixteen words, n apart, each with an address of its own.
KERNEL(l1_box) {
  const unsigned first = threadIdx.x + p;
  float sum = 0;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) {
    const unsigned from = first + turn % 8 * 32;
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) sum = sum * 0.5f + a[from + k * n];
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Mixed with FILL additions and as many comparisons.
template <int FILL>
__device__ void box(const float* __restrict__ a, float* c, unsigned n, unsigned p, unsigned q) {
  const unsigned first = threadIdx.x + p;
  float sum = 0, f[4];
  unsigned r[4];
  for (int i = 0; i < 4; ++i) f[i] = r[i] = threadIdx.x + i;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) {
    const unsigned from = first + turn % 8 * 32;
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
      sum = sum * 0.5f + a[from + k * n];
#pragma unroll
      for (int i = 0; i < FILL; ++i) {
        asm volatile("add.rn.f32 %0, %0, 0f3FC00000;" : "+f"(f[i % 4]));
        asm volatile("max.u32 %0, %0, %1;" : "+r"(r[i % 4]) : "r"(r[(i + 1) % 4]));
      }
    }
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] =
      sum + f[0] + f[1] + f[2] + f[3] + (r[0] ^ r[1] ^ r[2] ^ r[3]);
}
KERNEL(l1_box_fill_1) { box<1>(a, c, n, p, q); }
KERNEL(l1_box_fill_2) { box<2>(a, c, n, p, q); }

// Sixteen words through a 64-bit pointer that advances by n words.
KERNEL(l1_pointers) {
  const float* const from = a + threadIdx.x + p;
  float sum = 0;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) {
    const float* at = from + turn % 8 * 32;
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
      float got;
      asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(got) : "l"(at));
      sum = sum * 0.5f + got;
      at += n;
    }
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Sixteen address computations (IMAD.WIDE), each with FILL additions, without loads.
template <int FILL>
__device__ void addresses(const float* a, float* c, unsigned n, unsigned q) {
  float f[4];
  for (int i = 0; i < 4; ++i) f[i] = threadIdx.x + i;
  uint64_t all[2] = {};
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) {
    const unsigned from = threadIdx.x + turn;
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
      all[k % 2] ^= reinterpret_cast<uint64_t>(a) + uint64_t{4} * (from + k * n);
#pragma unroll
      for (int i = 0; i < FILL; ++i)
        asm volatile("add.rn.f32 %0, %0, 0f3FC00000;" : "+f"(f[i % 4]));
    }
  }
  all[0] += all[1];
  c[blockIdx.x * blockDim.x + threadIdx.x] =
      f[0] + f[1] + f[2] + f[3] + static_cast<float>(all[0] ^ all[0] >> 32);
}
#define ADDRESSES(fill) \
  KERNEL(addresses_fill_##fill) { addresses<fill>(a, c, n, q); }
ADDRESSES(0)
ADDRESSES(1)
ADDRESSES(2)
ADDRESSES(3)
ADDRESSES(4)

// Sixteen integer products, each with FILL additions; the results are used.
enum Product { low, high, wide };

template <Product PRODUCT, int FILL>
__device__ void products(float* c, unsigned p, unsigned q) {
  unsigned r[8];
  float f[4];
  for (int i = 0; i < 8; ++i) r[i] = threadIdx.x + i;
  for (int i = 0; i < 4; ++i) f[i] = r[i];
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      unsigned &x = r[k % 8], &y = r[(k + 3) % 8];
      if (PRODUCT == low) x = x * p + y;
      if (PRODUCT == high) x = __umulhi(x, p) + y;
      if (PRODUCT == wide) {
        const uint64_t both = uint64_t{x} * p;
        x = static_cast<unsigned>(both) ^ static_cast<unsigned>(both >> 32) ^ y;
      }
#pragma unroll
      for (int i = 0; i < FILL; ++i)
        asm volatile("add.rn.f32 %0, %0, 0f3FC00000;" : "+f"(f[i % 4]));
    }
  }
  float sum = f[0] + f[1] + f[2] + f[3];
  for (int i = 0; i < 8; ++i) sum += r[i];
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
#define PRODUCTS(product, fill) \
  KERNEL(product##_fill_##fill) { products<product, fill>(c, p, q); }
PRODUCTS(low, 0)
PRODUCTS(low, 2)
PRODUCTS(low, 4)
PRODUCTS(high, 0)
PRODUCTS(high, 2)
PRODUCTS(high, 4)
PRODUCTS(wide, 0)
PRODUCTS(wide, 2)
PRODUCTS(wide, 4)

// A walk along a row: 64 words, p apart, with a different start for each lane; n must be 64.
KERNEL(walk_one) {
  const unsigned i = threadIdx.x + 4096;
  float most = 0;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn)
#pragma unroll 1
    for (unsigned k = 1; k <= 64 && k <= n; ++k) most = fmaxf(most, a[i - k * p]);
  c[blockIdx.x * blockDim.x + threadIdx.x] = most;
}
KERNEL(walk_none) {  // arithmetic, and no load
  const unsigned i = threadIdx.x + 4096;
  const float here = a[i], with = a[i + 2];
  float most = here, got = a[i + 1];
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn)
#pragma unroll 1
    for (unsigned k = 1; k <= 64 && k <= n; ++k) {
      most = fmaxf(most, (got - here) * with);
      got += with;
    }
  c[blockIdx.x * blockDim.x + threadIdx.x] = most;
}
KERNEL(walk_in_shared) {  // with two loads from shared memory
  __shared__ float tile[1024 + 4096], row[65];
  for (unsigned i = threadIdx.x; i < 1024 + 4096; i += blockDim.x) tile[i] = a[i];
  if (threadIdx.x < 65) row[threadIdx.x] = b[threadIdx.x];
  __syncthreads();
  const unsigned i = threadIdx.x + 4096;
  const float here = tile[i];
  float most = here;
#pragma unroll 1
  for (unsigned turn = 0; turn < q; ++turn)
#pragma unroll 1
    for (unsigned k = 1; k <= 64 && k <= n; ++k)
      most = fmaxf(most, (tile[i - k * p] - here) * row[k]);
  c[blockIdx.x * blockDim.x + threadIdx.x] = most;
}
