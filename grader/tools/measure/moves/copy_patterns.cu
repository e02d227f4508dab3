// Launches one asynchronous bulk copy, or one access of a warp to its cluster's shared memory, at a time. Under
// ncu, each launch measures how the hardware counts one pattern. Reads a CSV (op, mask, numbers; make_patterns.py
// writes it) and launches its rows [FROM, TO) in order.
//
// load, store, block, prefetch, many: bytes, offset in device memory, offset in shared memory, and for
//   `many` the target blocks; each lane of the mask copies the bytes after the previous lane's.
// box_load, box_store, box_many: bytes of an element, dimensions, then sizes, boxes and first
//   coordinates of each, the swizzle (0 to 3), the blocks.
// d_ld4, d_st4, ...: each lane's offset in shared memory, plus 2^20 times the block's rank; the accessing
//   warp is in rank 0.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

constexpr int kBlocks = 4, kShared = 40960;
constexpr size_t kBytes = size_t{4} << 20;
constexpr uint32_t kNever = 0x5bd1e995u;

#define CHECK(call)                                                                     \
  do {                                                                                  \
    if (const cudaError_t e = (call); e != cudaSuccess) {                               \
      std::fprintf(stderr, "copy_patterns: %s: %s\n", #call, cudaGetErrorString(e));    \
      std::exit(2);                                                                     \
    }                                                                                   \
  } while (0)

struct Copy {
  uint32_t mask, bytes, from, to, blocks;
  int at[5];
};
struct Offsets {
  uint32_t at[32];
  uint32_t mask;
};

__device__ uint32_t here(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ uint32_t my_rank() {
  uint32_t r;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ void start(uint32_t barrier, uint32_t bytes) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
  }
}
__device__ void wait_for(uint32_t barrier) {
  int done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
}

// The source of a copy from shared memory must be written and visible to the copy engine.
__device__ void fill(char* window) {
  for (int i = threadIdx.x; i < kShared / 4; i += 32) reinterpret_cast<uint32_t*>(window)[i] = i;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncwarp();
}

enum Kind { kLoad, kStore, kBlock, kPrefetch, kMany, kNothing };

template <int kind>
__global__ void __cluster_dims__(kBlocks) bulk(Copy c, char* base) {
  extern __shared__ __align__(1024) char window[];
  __shared__ __align__(8) uint64_t arrived;
  const uint32_t barrier = here(&arrived), lane = threadIdx.x, rank = my_rank();
  const uint32_t lanes = __popc(c.mask);
  const bool waits = kind == kMany      ? (c.blocks >> rank & 1) != 0
                     : kind == kBlock   ? rank == 1
                                        : kind == kLoad && rank == 0;
  if (kind == kStore || kind == kBlock) fill(window);
  if (waits) start(barrier, lanes * c.bytes);
  cluster_sync();
  if (rank == 0 && (c.mask >> lane & 1) != 0) {
    const uint32_t before = __popc(c.mask & ((1u << lane) - 1)) * c.bytes;
    const uint32_t to = here(window) + c.to + before;
    char* const from = base + c.from + before;
    if constexpr (kind == kLoad)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
          ::"r"(to), "l"(from), "r"(c.bytes), "r"(barrier) : "memory");
    if constexpr (kind == kMany)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1], %2, [%3], %4;"
          ::"r"(to), "l"(from), "r"(c.bytes), "r"(barrier), "h"(uint16_t(c.blocks)) : "memory");
    if constexpr (kind == kStore)
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(from), "r"(to),
                   "r"(c.bytes) : "memory");
    if constexpr (kind == kPrefetch)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(c.bytes) : "memory");
    if constexpr (kind == kBlock) {
      uint32_t there, its;
      asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(here(window) + c.from + before));
      asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(its) : "r"(barrier));
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(there), "r"(to), "r"(c.bytes), "r"(its) : "memory");
    }
    if constexpr (kind == kStore)
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
  if (waits) wait_for(barrier);
  cluster_sync();
}

template <int dims, int kind>
__global__ void __cluster_dims__(kBlocks) box(Copy c, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) char window[];
  __shared__ __align__(8) uint64_t arrived;
  const uint32_t barrier = here(&arrived), rank = my_rank(), to = here(window);
  const bool waits = kind == kMany ? (c.blocks >> rank & 1) != 0 : kind == kLoad && rank == 0;
  if (kind == kStore) fill(window);
  if (waits) start(barrier, c.bytes);
  cluster_sync();
  if (rank == 0 && threadIdx.x == 0) {
    const int *a = c.at;
    (void)a;
#define LOAD "cp.async.bulk.tensor."
#define SHAPE ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"
#define COPY_BOX(d, places, mask, ...)                                                                 \
    if constexpr (dims == d && kind == kLoad)                                                         \
      asm volatile(LOAD #d "d" SHAPE " [%0], [%1, {" places "}], [%2];" ::"r"(to), "l"(&map),         \
                   "r"(barrier), __VA_ARGS__ : "memory");                                             \
    if constexpr (dims == d && kind == kMany)                                                         \
      asm volatile(LOAD #d "d" SHAPE ".multicast::cluster [%0], [%1, {" places "}], [%2], %" mask ";" \
                   ::"r"(to), "l"(&map), "r"(barrier), __VA_ARGS__, "h"(uint16_t(c.blocks)) : "memory");
    COPY_BOX(1, "%3", "4", "r"(a[0]))
    COPY_BOX(2, "%3, %4", "5", "r"(a[0]), "r"(a[1]))
    COPY_BOX(3, "%3, %4, %5", "6", "r"(a[0]), "r"(a[1]), "r"(a[2]))
    COPY_BOX(4, "%3, %4, %5, %6", "7", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]))
    if constexpr (kind == kStore) {
#define STORE_BOX(d, places, ...)                                                                  \
      if constexpr (dims == d)                                                                     \
        asm volatile(LOAD #d "d.global.shared::cta.tile.bulk_group [%1, {" places "}], [%0];" ::   \
                         "r"(to), "l"(&map), __VA_ARGS__ : "memory");
      STORE_BOX(1, "%2", "r"(a[0]))
      STORE_BOX(2, "%2, %3", "r"(a[0]), "r"(a[1]))
      STORE_BOX(3, "%2, %3, %4", "r"(a[0]), "r"(a[1]), "r"(a[2]))
      STORE_BOX(4, "%2, %3, %4, %5", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]))
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
  if (waits) wait_for(barrier);
  cluster_sync();
}

#define REMOTE(name, code)                                                                       \
  __global__ void __cluster_dims__(kBlocks) name(__grid_constant__ const Offsets p, uint32_t* sink) { \
    extern __shared__ __align__(1024) char window[];                                             \
    for (int i = threadIdx.x; i < kShared / 4; i += 32) reinterpret_cast<uint32_t*>(window)[i] = i; \
    cluster_sync();                                                                              \
    const uint32_t lane = threadIdx.x;                                                           \
    uint32_t a, r0 = lane, r1 = 1, r2 = 2, r3 = 3;                                               \
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a)                                         \
        : "r"(here(window) + (p.at[lane] & 0xfffff)), "r"(p.at[lane] >> 20));                    \
    if (my_rank() == 0 && (p.mask >> lane & 1) != 0) {                                           \
      code;                                                                                      \
      if ((r0 ^ r1 ^ r2 ^ r3 ^ p.mask) == kNever) *sink = 1;                                              \
    }                                                                                            \
    __syncwarp();                                                                                \
    cluster_sync();                                                                              \
  }
#define A(text, ...) asm volatile(text __VA_ARGS__ : "memory")
#define S "shared::cluster."
REMOTE(d_none, (void)a)
REMOTE(d_ld1, A("ld." S "u8 %0, [%1];", : "=r"(r0) : "r"(a)))
REMOTE(d_ld2, A("{.reg .u16 t; ld." S "u16 t, [%1]; cvt.u32.u16 %0, t;}", : "=r"(r0) : "r"(a)))
REMOTE(d_ld4, A("ld." S "u32 %0, [%1];", : "=r"(r0) : "r"(a)))
REMOTE(d_ld8, A("ld." S "v2.u32 {%0, %1}, [%2];", : "=r"(r0), "=r"(r1) : "r"(a)))
REMOTE(d_ld16, A("ld." S "v4.u32 {%0, %1, %2, %3}, [%4];", : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)))
REMOTE(d_st1, A("st." S "u8 [%0], %1;", : : "r"(a), "r"(lane)))
REMOTE(d_st4, A("st." S "u32 [%0], %1;", : : "r"(a), "r"(lane)))
REMOTE(d_st8, A("st." S "v2.u32 [%0], {%1, %1};", : : "r"(a), "r"(lane)))
REMOTE(d_st16, A("st." S "v4.u32 [%0], {%1, %1, %1, %1};", : : "r"(a), "r"(lane)))
REMOTE(d_atom, A("atom." S "add.u32 %0, [%1], %2;", : "=r"(r0) : "r"(a), "r"(lane)))
REMOTE(d_red, A("red." S "add.u32 [%0], %1;", : : "r"(a), "r"(lane)))
REMOTE(d_cas, A("atom." S "cas.b32 %0, [%1], %2, %3;", : "=r"(r0) : "r"(a), "r"(0), "r"(lane)))
REMOTE(d_exch, A("atom." S "exch.b32 %0, [%1], %2;", : "=r"(r0) : "r"(a), "r"(lane)))

REMOTE(d_st2, A("{.reg .u16 t; cvt.u16.u32 t, %1; st." S "u16 [%0], t;}", : : "r"(a), "r"(lane)))
REMOTE(d_max, A("atom." S "max.s32 %0, [%1], %2;", : "=r"(r0) : "r"(a), "r"(lane)))
REMOTE(d_add64, A("{.reg .u64 t; cvt.u64.u32 t, %2; atom." S "add.u64 t, [%1], t; cvt.u32.u64 %0, t;}",
                  : "=r"(r0) : "r"(a), "r"(lane)))
REMOTE(d_exch64, A("{.reg .u64 t; cvt.u64.u32 t, %2; atom." S "exch.b64 t, [%1], t; cvt.u32.u64 %0, t;}",
                   : "=r"(r0) : "r"(a), "r"(lane)))

using MakeMap = decltype(&cuTensorMapEncodeTiled);

MakeMap maker() {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<MakeMap>(f);
}

bool launch_box(const std::string& op, const std::vector<long>& n, char* base) {
  size_t i = 0;
  const uint32_t bytes = uint32_t(n[i++]), dims = uint32_t(n[i++]);
  cuuint64_t size[5], stride[4];
  cuuint32_t extent[5], step[5] = {1, 1, 1, 1, 1};
  Copy c{1, bytes, 0, 0, 1, {}};
  for (uint32_t k = 0; k < dims; ++k) size[k] = cuuint64_t(n[i++]);
  for (uint32_t k = 0; k < dims; ++k) c.bytes *= extent[k] = cuuint32_t(n[i++]);
  for (uint32_t k = 0; k < dims; ++k) c.at[k] = int(n[i++]);
  const auto swizzle = CUtensorMapSwizzle(n[i++]);
  c.blocks = uint32_t(n[i++]);
  cuuint64_t row = size[0] * bytes;
  for (uint32_t k = 1; k < dims; ++k) {
    row = (row + 15) / 16 * 16;
    stride[k - 1] = row;
    row *= size[k];
  }
  const auto type = bytes == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                    : bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32 : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  CUtensorMap map;
  static const MakeMap make = maker();
  if (make(&map, type, dims, base, size, stride, extent, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return false;
#define BOX(d)                                                            \
  if (dims == d && op == "box_load") box<d, kLoad><<<kBlocks, 32, kShared>>>(c, map);   \
  if (dims == d && op == "box_store") box<d, kStore><<<kBlocks, 32, kShared>>>(c, map); \
  if (dims == d && op == "box_many") box<d, kMany><<<kBlocks, 32, kShared>>>(c, map);
  BOX(1) BOX(2) BOX(3) BOX(4)
  return true;
}

bool launch(const std::string& op, uint32_t mask, const std::vector<long>& n, char* base, uint32_t* sink) {
  if (op.rfind("box_", 0) == 0) return launch_box(op, n, base);
  if (op.rfind("d_", 0) == 0) {
    Offsets p{};
    p.mask = mask;
    for (size_t l = 0; l < 32 && l < n.size(); ++l) p.at[l] = uint32_t(n[l]);
#define D(name) \
  if (op == #name) return name<<<kBlocks, 32, kShared>>>(p, sink), true
    D(d_none); D(d_ld1); D(d_ld2); D(d_ld4); D(d_ld8); D(d_ld16); D(d_st1); D(d_st4); D(d_st8);
    D(d_st16); D(d_atom); D(d_red); D(d_cas); D(d_exch);
    D(d_st2); D(d_max); D(d_add64); D(d_exch64);
    return false;
  }
  const Copy c{mask, uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2]), uint32_t(n[3]), {}};
#define B(name, kind) \
  if (op == name) return bulk<kind><<<kBlocks, 32, kShared>>>(c, base), true
  B("load", kLoad); B("store", kStore); B("block", kBlock); B("prefetch", kPrefetch); B("many", kMany);
  B("nothing", kNothing);
  return false;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: copy_patterns PATTERNS.csv FROM TO\n");
    return 2;
  }
  const long from = std::atol(argv[2]), to = std::atol(argv[3]);
  char* base;
  uint32_t* sink;
  CHECK(cudaMalloc(&base, kBytes));
  CHECK(cudaMalloc(&sink, 4));
  CHECK(cudaMemset(base, 0, kBytes));
  std::ifstream in(argv[1]);
  std::string line;
  long row = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line.rfind("op,", 0) == 0) continue;
    if (row++ < from || row > to) continue;
    std::istringstream fields(line);
    std::string op, mask, numbers;
    std::getline(fields, op, ',');
    std::getline(fields, mask, ',');
    std::getline(fields, numbers, ',');
    std::istringstream list(numbers);
    std::vector<long> n;
    for (long v; list >> v;) n.push_back(v);
    if (!launch(op, uint32_t(std::strtoul(mask.c_str(), nullptr, 16)), n, base, sink)) {
      std::fprintf(stderr, "copy_patterns: bad row: %s\n", line.c_str());
      return 2;
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  return 0;
}
