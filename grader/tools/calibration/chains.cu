// Chains: one warp in which each result waits for the one before. The difference between two lengths is
// the time of an instruction, a branch or a pair (data/measured/model/README.md); set
// *micro* of launches.csv. The signature and the contents of the arrays are those of kernel_kit.h.
#include <cstdint>

#define KERNEL(name)                                                                        \
  extern "C" __global__ void name(const float* __restrict__ a, const float* __restrict__ b, \
                                  float* __restrict__ c, unsigned n, unsigned p, unsigned q)

namespace {

__device__ unsigned word(const float* from, unsigned i) {
  return reinterpret_cast<const unsigned*>(from)[i];
}

}  // namespace

KERNEL(chain_loop) {  // a counter, a product-sum, a branch back
  float x = a[threadIdx.x], y = b[threadIdx.x];
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5f;
  c[threadIdx.x] = x;
}
KERNEL(chain_leave) {  // with an exit that no lane takes
  float x = a[threadIdx.x], y = b[threadIdx.x] * 0.25f;
  unsigned k = 0;
#pragma unroll 1
  for (; k < q; ++k) {
    x = x * y + 0.5f;
    if (x > 1e20f) break;
  }
  c[threadIdx.x] = x + static_cast<float>(k);
}
KERNEL(chain_split) {  // p lanes take the other branch
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) {
    if (threadIdx.x < p) {
      x = x * 5 + 1;
      if (x == 12345) c[0] = 2;
    } else {
      x = x * 7 + 3;
      if (x == 54321) c[0] = 1;
    }
  }
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_guard) {  // p lanes do the work, the others skip it
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) {
    x = x * 5 + 1;
    if ((x & 31) < p) {
      x = x * 7 + 3;
      if (x == 54321) c[0] = 1;
    }
  }
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_divide) {
  float x = a[threadIdx.x];
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = 3.0f / x + 0.5f;
  c[threadIdx.x] = x;
}
KERNEL(chain_divide_fast) {
  float x = a[threadIdx.x];
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = __fdividef(3.0f, x) + 0.5f;
  c[threadIdx.x] = x;
}
KERNEL(chain_root) {
  float x = a[threadIdx.x];
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = sqrtf(x) + 0.5f;
  c[threadIdx.x] = x;
}
KERNEL(chain_wave) {
  float x = a[threadIdx.x];
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = __sinf(x) + 0.5f;
  c[threadIdx.x] = x;
}
KERNEL(chain_remainder) {
  unsigned x = word(a, threadIdx.x) | 1, y = word(b, threadIdx.x) | 3;
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = (x ^ k) % y + 77777;
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_convert) {
  float x = a[threadIdx.x];
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = static_cast<float>(static_cast<int>(x * 1.5f)) + 0.5f;
  c[threadIdx.x] = x;
}
KERNEL(chain_count) {
  unsigned x = word(a, threadIdx.x);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x += __popc(x) + 1;
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_choose) {  // a comparison and a choice
  unsigned x = word(a, threadIdx.x), y = word(b, threadIdx.x);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = x > y ? x - 12345 : x + 54321;
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_shuffle) {
  unsigned x = word(a, threadIdx.x);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = __shfl_xor_sync(0xffffffffu, x, 1) + 1;
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_vote) {
  unsigned x = word(a, threadIdx.x);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x += __ballot_sync(0xffffffffu, x & 1);
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_double) {
  double x = static_cast<double>(a[threadIdx.x]);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = x * 0.5 + 0.25;
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_double_divide) {
  double x = static_cast<double>(a[threadIdx.x]);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) x = 3.0 / x + 0.25;
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_shared) {  // a word stored, then loaded
  __shared__ unsigned words[1024];
  unsigned x = word(a, threadIdx.x);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) {
    words[threadIdx.x] = x;
    __syncwarp();
    x += words[threadIdx.x ^ 1];
    __syncwarp();
  }
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_shared_quad) {  // the next load's place comes with this one
  __shared__ uint4 words[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    words[i] = make_uint4(i + 1 & 255, 0, 0, 0);
  __syncthreads();
  unsigned at = threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) {
    const uint4 v = words[at];
    at = v.x + v.y + v.z;
  }
  c[threadIdx.x] = static_cast<float>(at);
}
KERNEL(chain_barrier) {  // a store, a barrier, a load, a barrier
  __shared__ unsigned words[1024];
  unsigned x = word(a, threadIdx.x);
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) {
    words[threadIdx.x] = x;
    __syncthreads();
    x += words[threadIdx.x ^ 32];
    __syncthreads();
  }
  c[threadIdx.x] = static_cast<float>(x);
}
KERNEL(chain_load) {  // device memory's words, from L1
  unsigned at = threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) at = word(a, at & 1023);
  c[threadIdx.x] = static_cast<float>(at);
}
