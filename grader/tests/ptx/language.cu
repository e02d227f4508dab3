// What CUDA C++ turns into in PTX, a kernel a feature. Compiled, parsed and printed; never run.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cassert>
#include <cstdint>
#include <cstdio>

// --- variables and their initialisers
__constant__ int c_table[4] = {1, 2, 3, 0};
__device__ int g_array[10] = {1, 2};
__device__ int g_matrix[2][3] = {{1, 2, 3}, {4}};
__device__ double g_doubles[3] = {1.5, 2};
__device__ short g_shorts[3] = {-1, 2};
__device__ long long g_negative = -5;
__device__ bool g_bool = true;
__device__ const char* g_text = "hello";
__device__ int* g_pointer = &g_array[3];
__constant__ int* c_pointer = g_array;
__managed__ int g_managed = 3;
template <class T>
__device__ T g_template = T(3);

struct Tagged {
  int tag;
  int* pointer;
  const char* text;
};
__device__ Tagged g_tagged = {7, &g_array[2], "abc"};

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int (*g_functions[2])(int, int) = {add, subtract};

struct __attribute__((packed)) Packed {  // addresses that are not aligned
  char c;
  int* data;
  int (*code)(int, int);
  short s;
};
__device__ Packed g_packed = {1, &g_array[2], add, 5};

// --- calls
struct Large {
  float v[10];
  double d;
};
struct Small {
  int a;
  double b;
  char c;
};
__device__ __noinline__ Large combine(Large x, Small y) {
  x.v[0] += static_cast<float>(y.b);
  x.d = y.a;
  return x;
}
extern "C" __global__ void structs_by_value(int* o, Large x, Small y) {
  const Large z = combine(x, y);
  o[0] = static_cast<int>(z.v[0] + z.d);
}

__global__ void function_pointer(int* o, int i) { o[threadIdx.x] = g_functions[i](o[0], o[1]); }

struct Base {
  __device__ virtual int f(int x) { return x; }
  __device__ virtual ~Base() {}
};
struct Derived : Base {
  int q;
  __device__ explicit Derived(int q) : q(q) {}
  __device__ int f(int x) override { return x * q; }
};
__global__ void virtual_function(int* o, int i) {
  Base* b = i ? new Derived(3) : new Base;
  o[0] = b->f(o[1]);
  delete b;
}

__device__ int fibonacci(int n) { return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(int* o) { o[0] = fibonacci(o[1]); }

__global__ void formatted(float* o) { printf("%d %f %s\n", threadIdx.x, o[0], g_text); }
__global__ void asserted(int* o) { assert(o[0] == 2); }

// --- control flow
__global__ void dense_switch(int* o, int k) {
  switch (k) {
#define CASE(n)                        \
  case n:                              \
    o[n] = o[n + 1] * n + k / (n + 3); \
    __syncthreads();                   \
    break;
    CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9)
    default: o[77] = g_template<int>;
  }
}

__global__ void loops(int* o, int n) {
  for (int i = 0; i < n; ++i) {
    if (o[i] == 3) continue;
    for (int j = i;; j += 2) {
      if (o[j] == 5) break;
      if (o[j] == 7) return;
      o[j] += o[i];
    }
  }
  if (n == 9) __trap();
  while (o[0] != 1) o[1] = 2;
}

__global__ void forever(volatile int* o) {
  for (;;) {
    if (o[0]) o[1] = 3;
  }
}

// --- memory
__global__ void __launch_bounds__(256, 2) shared_memory(float* o) {
  __shared__ float fixed[256];
  extern __shared__ double dynamic[];
  fixed[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  dynamic[threadIdx.x] = fixed[255 - threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = static_cast<float>(dynamic[threadIdx.x ^ 1]);
}

__global__ void local_memory(int* o, int n) {
  int a[4] = {1, 2, 3, 4};
  char b[100];
  for (int i = 0; i < n; ++i) b[i] = static_cast<char>(i);
  o[0] = a[n & 3] + b[n];
}

__global__ void vectors(float4* f, int4* i, uchar4* c, short2* s, ulonglong2* u, __int128* q) {
  float4 a = f[0];
  a.x += a.w;
  f[1] = a;
  const int4 b = __ldg(i);
  i[1] = b;
  c[1] = c[0];
  s[1] = s[0];
  u[1] = u[0];
  q[1] = q[0] * q[2] + 1;
  f[5] = __ldcs(f + 9);
  __stcg(i + 3, b);
  volatile int* v = reinterpret_cast<volatile int*>(i);
  v[9] = v[8];
}

__global__ void grid_constant(const __grid_constant__ Small p, int* o) {
  const Small* q = &p;
  o[0] = p.a + g_managed + c_table[p.c & 3] + *c_pointer;
  o[1] = q[o[2]].a;
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* q, float* f, double* d) {
  atomicAdd(i, 1);
  atomicMin(i + 1, 2);
  atomicCAS(u, 1u, 2u);
  atomicInc(u + 1, 5);
  atomicExch(q, 3ull);
  i[5] = atomicOr(i + 2, 5);
  atomicAdd(f, 1.f);
  atomicAdd(d, 1.0);
  atomicMax(q + 1, 5ull);
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  i[8] = atomicAdd(&s, i[3]);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}

// --- a warp, a block
__global__ void warp_wide(int* o, float* f) {
  const unsigned m = __activemask();
  int v = o[threadIdx.x];
  for (int i = 16; i; i >>= 1) v += __shfl_xor_sync(m, v, i);
  o[0] = v;
  o[1] = __ballot_sync(~0u, v > 3);
  o[2] = __any_sync(~0u, v);
  o[3] = __all_sync(m, v == 2);
  o[4] = __match_any_sync(m, v);
  int all;
  o[5] = __match_all_sync(m, v, &all);
  o[6] = all;
  f[0] = __shfl_down_sync(~0u, f[1], 2, 8);
  __syncwarp();
  o[7] = __syncthreads_count(v);
  o[8] = __syncthreads_or(v > 1);
  o[9] = __syncthreads_and(v);
#if __CUDA_ARCH__ >= 800
  o[10] = __reduce_add_sync(~0u, v);
#endif
}

template <class T, int N>
__global__ void block_sum(T* o) {
  __shared__ T s[N];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int i = N / 2; i; i /= 2) {
    if (threadIdx.x < i) s[threadIdx.x] += s[threadIdx.x + i];
    __syncthreads();
  }
  o[0] = s[0];
}
template __global__ void block_sum<int, 128>(int*);
template __global__ void block_sum<double, 64>(double*);
template __global__ void block_sum<unsigned char, 64>(unsigned char*);

// --- arithmetic
__global__ void integers(int* o, long long* q, unsigned* u) {
  o[0] = __clz(o[1]);
  o[2] = __brev(o[3]);
  o[4] = __byte_perm(o[5], o[6], 0x1234);
  o[7] = __funnelshift_l(o[8], o[9], 3);
  o[10] = __mulhi(o[11], o[12]);
  q[0] = __mul64hi(q[1], q[2]);
  o[13] = __dp4a(o[14], o[15], o[16]);
  o[17] = __sad(o[18], o[19], u[0]);
  q[3] = q[4] / q[5];
  q[6] = q[7] % 7;
  o[20] = o[21] % o[22];
  u[5] = u[6] / 10;
  o[23] = clock();
  q[8] = clock64();
  o[24] = __vadd4(o[25], o[26]);
  o[29] = min(o[30], o[31]);
  o[32] = abs(o[33]);
}

__global__ void floats(float* f, double* d) {
  f[0] = sinf(f[1]);
  f[2] = __sinf(f[3]);
  f[4] = expf(f[5]);
  f[6] = logf(f[7]);
  f[8] = powf(f[9], f[10]);
  f[11] = tanhf(f[12]);
  f[13] = fmodf(f[14], f[15]);
  f[16] = rsqrtf(f[17]);
  d[0] = sin(d[1]);
  d[2] = exp(d[3]);
  d[4] = d[5] / d[6];
  d[7] = sqrt(d[8]);
  d[9] = pow(d[10], d[11]);
}

__global__ void halves(half* h, __nv_bfloat16* b, half2* h2) {
  h[0] = __hfma(h[1], h[2], h[3]);
  b[0] = b[1] * b[2] + b[3];
  h2[0] = __hadd2(h2[1], h2[2]);
  h[4] = hexp(h[5]);
  b[5] = hsqrt(b[6]);
  h[7] = __hmax(h[8], h[9]);
  h[10] = __float2half(__half2float(h[11]) + 1.f);
  h2[5] = __hgt2(h2[6], h2[7]);
  if (__hlt(h[1], h[2])) h[3] = __int2half_rn(5);
}

// --- inline assembly: scopes that repeat names, labels in scopes, pasted offsets
__global__ void assembly(int* o) {
  for (int i = 0; i < 2; ++i) {
    asm volatile(
        "{ .reg .pred p; .reg .b32 %%r1, t;\n setp.ne.b32 p, %0, 0;\n @p mov.b32 t, 5;\n"
        " @!p mov.b32 t, 7;\n mov.b32 %%r1, t;\n st.global.u32 [%1+%2], %%r1; }" ::"r"(o[22]),
        "l"(o + 3), "n"(8));
  }
  asm volatile("{\n again: bra done; done: \n}");
  asm volatile("{\n again: bra done; done: \n}");
  unsigned smid;
  asm("mov.u32 %0, %%smid;" : "=r"(smid));
  o[7] = smid;
  asm volatile("bar.red.popc.u32 %0, 0, 1;" : "=r"(smid));
  if (o[2]) asm("exit;");
}
