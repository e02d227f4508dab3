// Inline PTX: read-only vector loads, streaming stores, predicates instead of branches, and sectors
// counted without an inner loop, by a bit mask of the lanes not yet counted.
__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  int one;
  asm("{\n\t.reg .pred any;\n\tsetp.ne.u32 any, %1, 0;\n\tselp.s32 %0, 1, 0, any;\n\t}"
      : "=r"(one)
      : "r"(active));
  return one;
}

__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int count = 0;
  while (active != 0) {
    unsigned lowest;
    asm("bfind.u32 %0, %1;" : "=r"(lowest) : "r"(active));
    const unsigned long long sector = address[lowest] >> 5;
    // All lanes of this sector are done with, itself included.
    for (unsigned rest = active; rest != 0; rest &= rest - 1) {
      const int lane = __ffs(rest) - 1;
      if (address[lane] >> 5 == sector) active ^= 1u << lane;
    }
    ++count;
  }
  return count;
}

__device__ __forceinline__ float4 load_once(const float* p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}

__device__ __forceinline__ void store_once(float* p, float4 v) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w)
               : "memory");
}

__global__ void __launch_bounds__(256) scale(const float* in, float* out, float factor, int n) {
  unsigned block, thread;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = 4096 * block + 1024 * k + 4 * thread;
    if (i + 4 <= n) {
      float4 v = load_once(in + i);
      store_once(out + i, {factor * v.x, factor * v.y, factor * v.z, factor * v.w});
      continue;
    }
    for (; i < n; ++i) out[i] = factor * in[i];
  }
}

__device__ int slot(int field, int i, int n) {
  int padded, at;
  asm("add.s32 %0, %1, 31;" : "=r"(padded) : "r"(n));
  asm("and.b32 %0, %0, -32;" : "+r"(padded));
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(at) : "r"(field), "r"(padded), "r"(i));
  return at;
}

__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n) {
    float4 from = load_once(x + i), to;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to.x), "=f"(to.y), "=f"(to.z), "=f"(to.w)
                 : "l"(y + i)
                 : "memory");
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(to.x) : "f"(a), "f"(from.x));
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(to.y) : "f"(a), "f"(from.y));
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(to.z) : "f"(a), "f"(from.z));
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(to.w) : "f"(a), "f"(from.w));
    store_once(y + i, to);
    return;
  }
  for (; i < n; ++i) y[i] = fmaf(a, x[i], y[i]);
}
