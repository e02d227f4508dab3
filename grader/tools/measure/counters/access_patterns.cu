// One warp, one memory instruction, one launch: run under ncu, each launch measures how the hardware
// counts one access pattern. Reads patterns.csv (op, mask, 32 byte offsets; make_patterns.py writes
// it) and launches patterns [from, to) in order.
//
// The offsets are a kernel argument, since reading them costs no global request. The result of a load is stored
// only if it has a value that never occurs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

struct Pattern {
  uint32_t offset[32];
  uint32_t mask;
};

constexpr uint32_t kNever = 0x5bd1e995u;
constexpr int kSharedBytes = 32768;
constexpr size_t kGlobalBytes = size_t{20} << 20;

#define LANE                            \
  const uint32_t lane = threadIdx.x;    \
  const uint32_t at = p.offset[lane];   \
  if ((p.mask >> lane & 1) == 0) return;

#define GLOBAL(name, code)                                                                  \
  __global__ void name(__grid_constant__ const Pattern p, char* base, uint32_t* sink) {     \
    LANE;                                                                                   \
    char* a = base + at;                                                                    \
    uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0;                                                \
    uint64_t d = lane;                                                                      \
    code;                                                                                   \
    if (((r0 | r1 | r2 | r3) ^ uint32_t(d)) == kNever) *sink = 1;                           \
  }

#define SHARED(name, code)                                                                  \
  __global__ void name(__grid_constant__ const Pattern p, char*, uint32_t* sink) {          \
    __shared__ __align__(1024) char window[kSharedBytes];                                   \
    LANE;                                                                                   \
    uint32_t a = uint32_t(__cvta_generic_to_shared(window)) + at;                           \
    uint32_t r0 = lane, r1 = 1, r2 = 2, r3 = 3;                                             \
    uint64_t d = lane;                                                                      \
    code;                                                                                   \
    if (((r0 | r1 | r2 | r3) ^ uint32_t(d)) == kNever) *sink = 1;                           \
  }

#define A(text, ...) asm volatile(text __VA_ARGS__ : "memory")

GLOBAL(g_ld1, A("ld.global.u8 %0, [%1];", : "=r"(r0) : "l"(a)))
GLOBAL(g_ld2, A("{.reg .u16 t; ld.global.u16 t, [%1]; cvt.u32.u16 %0, t;}", : "=r"(r0) : "l"(a)))
GLOBAL(g_ld4, A("ld.global.u32 %0, [%1];", : "=r"(r0) : "l"(a)))
GLOBAL(g_ld8, A("ld.global.v2.u32 {%0, %1}, [%2];", : "=r"(r0), "=r"(r1) : "l"(a)))
GLOBAL(g_ld16, A("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];",
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(a)))
GLOBAL(g_ld_v4u8, A("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];",
                    : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(a)))
GLOBAL(g_ld_v2u16, A("ld.global.v2.u16 {%0, %1}, [%2];", : "=r"(r0), "=r"(r1) : "l"(a)))
GLOBAL(g_ld_v4u16, A("ld.global.v4.u16 {%0, %1, %2, %3}, [%4];",
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(a)))
GLOBAL(g_ld_v2u64, A("{.reg .u64 t; ld.global.v2.u64 {%0, t}, [%1]; xor.b64 %0, %0, t;}",
                     : "=l"(d) : "l"(a)))
GLOBAL(g_st1, A("st.global.u8 [%0], %1;", : : "l"(a), "r"(lane)))
GLOBAL(g_st2, A("{.reg .u16 t; cvt.u16.u32 t, %1; st.global.u16 [%0], t;}", : : "l"(a), "r"(lane)))
GLOBAL(g_st4, A("st.global.u32 [%0], %1;", : : "l"(a), "r"(lane)))
GLOBAL(g_st8, A("st.global.v2.u32 [%0], {%1, %1};", : : "l"(a), "r"(lane)))
GLOBAL(g_st16, A("st.global.v4.u32 [%0], {%1, %1, %1, %1};", : : "l"(a), "r"(lane)))
GLOBAL(g_st_v4u8, A("st.global.v4.u8 [%0], {%1, %1, %1, %1};", : : "l"(a), "r"(lane)))
GLOBAL(g_st_v2u16, A("st.global.v2.u16 [%0], {%1, %1};", : : "l"(a), "r"(lane)))
GLOBAL(g_st_v4u16, A("st.global.v4.u16 [%0], {%1, %1, %1, %1};", : : "l"(a), "r"(lane)))
GLOBAL(g_st_v2u64, A("st.global.v2.u64 [%0], {%1, %1};", : : "l"(a), "l"(d)))
GLOBAL(g_red_add_u32, A("red.global.add.u32 [%0], %1;", : : "l"(a), "r"(lane)))
GLOBAL(g_red_add_f32, A("red.global.add.f32 [%0], %1;", : : "l"(a), "f"(1.0f)))
GLOBAL(g_red_add_u64, A("red.global.add.u64 [%0], %1;", : : "l"(a), "l"(d)))
GLOBAL(g_red_add_f64, A("red.global.add.f64 [%0], %1;", : : "l"(a), "d"(1.0)))
GLOBAL(g_red_max_s32, A("red.global.max.s32 [%0], %1;", : : "l"(a), "r"(lane)))
GLOBAL(g_atom_add_u32, A("atom.global.add.u32 %0, [%1], %2;", : "=r"(r0) : "l"(a), "r"(lane)))
GLOBAL(g_atom_add_f32, A("{.reg .f32 t; atom.global.add.f32 t, [%1], %2; mov.b32 %0, t;}",
                         : "=r"(r0) : "l"(a), "f"(1.0f)))
GLOBAL(g_atom_add_u64, A("atom.global.add.u64 %0, [%1], %2;", : "=l"(d) : "l"(a), "l"(d)))
GLOBAL(g_atom_exch_b32, A("atom.global.exch.b32 %0, [%1], %2;", : "=r"(r0) : "l"(a), "r"(lane)))
GLOBAL(g_atom_cas_b32, A("atom.global.cas.b32 %0, [%1], %2, %3;",
                         : "=r"(r0) : "l"(a), "r"(0), "r"(lane)))
GLOBAL(g_atom_cas_b64, A("atom.global.cas.b64 %0, [%1], %2, %3;",
                         : "=l"(d) : "l"(a), "l"(uint64_t{0}), "l"(d)))
// Several elements per lane in one update.
#define F4 "{%1, %1, %1, %1}"
GLOBAL(g_red_v2f32, A("red.global.add.v2.f32 [%0], {%1, %1};", : : "l"(a), "f"(1.0f)))
GLOBAL(g_red_v4f32, A("red.global.add.v4.f32 [%0], " F4 ";", : : "l"(a), "f"(1.0f)))
GLOBAL(g_red_v2f16x2, A("red.global.add.noftz.v2.f16x2 [%0], {%1, %1};", : : "l"(a), "r"(lane)))
GLOBAL(g_red_v4f16x2, A("red.global.add.noftz.v4.f16x2 [%0], " F4 ";", : : "l"(a), "r"(lane)))
GLOBAL(g_atom_v2f32, A("{.reg .f32 t<2>; atom.global.add.v2.f32 {t0, t1}, [%1], {%2, %2}; "
                       "mov.b32 %0, t0; mov.b32 t0, t1;}",
                       : "=r"(r0) : "l"(a), "f"(1.0f)))
GLOBAL(g_atom_v4f32, A("{.reg .f32 t<4>; atom.global.add.v4.f32 {t0, t1, t2, t3}, [%1], "
                       "{%2, %2, %2, %2}; mov.b32 %0, t0;}",
                       : "=r"(r0) : "l"(a), "f"(1.0f)))

SHARED(s_ld1, A("ld.shared.u8 %0, [%1];", : "=r"(r0) : "r"(a)))
SHARED(s_ld2, A("{.reg .u16 t; ld.shared.u16 t, [%1]; cvt.u32.u16 %0, t;}", : "=r"(r0) : "r"(a)))
SHARED(s_ld4, A("ld.shared.u32 %0, [%1];", : "=r"(r0) : "r"(a)))
SHARED(s_ld8, A("ld.shared.v2.u32 {%0, %1}, [%2];", : "=r"(r0), "=r"(r1) : "r"(a)))
SHARED(s_ld16, A("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];",
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)))
SHARED(s_ld_v4u8, A("ld.shared.v4.u8 {%0, %1, %2, %3}, [%4];",
                    : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)))
SHARED(s_ld_v2u16, A("ld.shared.v2.u16 {%0, %1}, [%2];", : "=r"(r0), "=r"(r1) : "r"(a)))
SHARED(s_ld_v4u16, A("ld.shared.v4.u16 {%0, %1, %2, %3}, [%4];",
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)))
SHARED(s_ld_v2u64, A("{.reg .u64 t; ld.shared.v2.u64 {%0, t}, [%1]; xor.b64 %0, %0, t;}",
                     : "=l"(d) : "r"(a)))
SHARED(s_st1, A("st.shared.u8 [%0], %1;", : : "r"(a), "r"(lane)))
SHARED(s_st2, A("{.reg .u16 t; cvt.u16.u32 t, %1; st.shared.u16 [%0], t;}", : : "r"(a), "r"(lane)))
SHARED(s_st4, A("st.shared.u32 [%0], %1;", : : "r"(a), "r"(lane)))
SHARED(s_st8, A("st.shared.v2.u32 [%0], {%1, %1};", : : "r"(a), "r"(lane)))
SHARED(s_st16, A("st.shared.v4.u32 [%0], {%1, %1, %1, %1};", : : "r"(a), "r"(lane)))
SHARED(s_st_v4u8, A("st.shared.v4.u8 [%0], {%1, %1, %1, %1};", : : "r"(a), "r"(lane)))
SHARED(s_st_v2u16, A("st.shared.v2.u16 [%0], {%1, %1};", : : "r"(a), "r"(lane)))
SHARED(s_st_v4u16, A("st.shared.v4.u16 [%0], {%1, %1, %1, %1};", : : "r"(a), "r"(lane)))
SHARED(s_st_v2u64, A("st.shared.v2.u64 [%0], {%1, %1};", : : "r"(a), "l"(d)))
SHARED(s_atom_add_u32, A("atom.shared.add.u32 %0, [%1], %2;", : "=r"(r0) : "r"(a), "r"(lane)))
SHARED(s_red_add_u32, A("red.shared.add.u32 [%0], %1;", : : "r"(a), "r"(lane)))
// ptxas has a special opcode for this one (ATOMS.POPC.INC), but not in inline assembly.
SHARED(s_atom_inc_u32, r0 = atomicAdd(reinterpret_cast<uint32_t*>(window + at), 1u); (void)a)
// The update above without a result.
SHARED(s_red_inc_u32, atomicAdd(reinterpret_cast<uint32_t*>(window + at), 1u); (void)a)
SHARED(s_atom_max_s32, A("atom.shared.max.s32 %0, [%1], %2;", : "=r"(r0) : "r"(a), "r"(lane)))
SHARED(s_atom_exch_b32, A("atom.shared.exch.b32 %0, [%1], %2;", : "=r"(r0) : "r"(a), "r"(lane)))
SHARED(s_atom_cas_b32, A("atom.shared.cas.b32 %0, [%1], %2, %3;",
                         : "=r"(r0) : "r"(a), "r"(0), "r"(lane)))
SHARED(s_atom_cas_b64, A("atom.shared.cas.b64 %0, [%1], %2, %3;",
                         : "=l"(d) : "r"(a), "l"(uint64_t{0}), "l"(d)))

// Asynchronous copies have an address in each space. In the space that is not tested, lanes have neighbouring addresses.
#define COPY(name, mode, bytes, to, from)                                                    \
  __global__ void name(__grid_constant__ const Pattern p, char* base, uint32_t*) {           \
    __shared__ __align__(1024) char window[kSharedBytes];                                    \
    LANE;                                                                                    \
    A("cp.async." mode ".shared.global [%0], [%1], " #bytes "; cp.async.wait_all;",          \
      : : "r"(uint32_t(__cvta_generic_to_shared(window)) + (to)), "l"(base + (from)));       \
  }
COPY(g_copy4, "ca", 4, lane * 4, at)
COPY(g_copy8, "ca", 8, lane * 8, at)
COPY(g_copy16, "ca", 16, lane * 16, at)
COPY(g_copy16cg, "cg", 16, lane * 16, at)
COPY(s_copy4, "ca", 4, at, lane * 4)
COPY(s_copy8, "ca", 8, at, lane * 8)
COPY(s_copy16, "ca", 16, at, lane * 16)
COPY(s_copy16cg, "cg", 16, at, lane * 16)
COPY(g_both16, "ca", 16, (at >> 20) * 16, at & 0xfffff)
COPY(g_both16cg, "cg", 16, (at >> 20) * 16, at & 0xfffff)
COPY(s_both16cg, "cg", 16, (at >> 20) * 16, at & 0xfffff)

// All 32 lanes must execute these; the mask selects the lanes whose addresses count.
#undef LANE
#define LANE                         \
  const uint32_t lane = threadIdx.x; \
  const uint32_t at = p.offset[lane];
#define LDM "ldmatrix.sync.aligned.m8n8."
#define STM "stmatrix.sync.aligned.m8n8."
SHARED(s_ldmatrix_x1, A(LDM "x1.shared.b16 {%0}, [%1];", : "=r"(r0) : "r"(a)))
SHARED(s_ldmatrix_x2, A(LDM "x2.shared.b16 {%0, %1}, [%2];", : "=r"(r0), "=r"(r1) : "r"(a)))
SHARED(s_ldmatrix_x4, A(LDM "x4.shared.b16 {%0, %1, %2, %3}, [%4];",
                        : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)))
SHARED(s_ldmatrix_x4t, A(LDM "x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];",
                         : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a)))
SHARED(s_stmatrix_x1, A(STM "x1.shared.b16 [%0], {%1};", : : "r"(a), "r"(lane)))
SHARED(s_stmatrix_x2, A(STM "x2.shared.b16 [%0], {%1, %1};", : : "r"(a), "r"(lane)))
SHARED(s_stmatrix_x4, A(STM "x4.shared.b16 [%0], {%1, %1, %1, %1};", : : "r"(a), "r"(lane)))

using Kernel = void (*)(const Pattern, char*, uint32_t*);
#define K(name) {#name, reinterpret_cast<Kernel>(name)}
const std::map<std::string, Kernel> kKernels = {
    K(g_ld1), K(g_ld2), K(g_ld4), K(g_ld8), K(g_ld16), K(g_st1), K(g_st2), K(g_st4), K(g_st8),
    K(g_st16), K(g_red_add_u32), K(g_red_add_f32), K(g_red_add_u64), K(g_red_add_f64),
    K(g_red_max_s32), K(g_atom_add_u32), K(g_atom_add_f32), K(g_atom_add_u64), K(g_atom_exch_b32),
    K(g_atom_cas_b32), K(g_atom_cas_b64), K(s_ld1), K(s_ld2), K(s_ld4), K(s_ld8), K(s_ld16),
    K(s_st1), K(s_st2), K(s_st4), K(s_st8), K(s_st16), K(s_atom_add_u32), K(s_red_add_u32),
    K(s_atom_inc_u32), K(s_atom_max_s32), K(s_atom_exch_b32), K(s_atom_cas_b32), K(s_atom_cas_b64),
    K(s_ldmatrix_x1), K(s_ldmatrix_x2), K(s_ldmatrix_x4), K(s_ldmatrix_x4t), K(s_stmatrix_x1),
    K(s_stmatrix_x2), K(s_stmatrix_x4), K(g_ld_v4u8), K(g_ld_v2u16), K(g_ld_v4u16), K(g_ld_v2u64),
    K(g_st_v4u8), K(g_st_v2u16), K(g_st_v4u16), K(g_st_v2u64), K(s_ld_v4u8), K(s_ld_v2u16),
    K(s_ld_v4u16), K(s_ld_v2u64), K(s_st_v4u8), K(s_st_v2u16), K(s_st_v4u16), K(s_st_v2u64),
    K(s_red_inc_u32), K(g_copy4), K(g_copy8), K(g_copy16), K(g_copy16cg), K(s_copy4), K(s_copy8),
    K(s_copy16), K(s_copy16cg), K(g_both16), K(g_both16cg), K(s_both16cg),
    K(g_red_v2f32), K(g_red_v4f32), K(g_red_v2f16x2), K(g_red_v4f16x2), K(g_atom_v2f32),
    K(g_atom_v4f32)};

void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "access_patterns: %s: %s\n", what, cudaGetErrorString(e));
  std::exit(2);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: access_patterns PATTERNS.csv FROM TO\n");
    return 2;
  }
  const long from = std::atol(argv[2]), to = std::atol(argv[3]);
  char* base;
  uint32_t* sink;
  check(cudaMalloc(&base, kGlobalBytes), "allocating");
  check(cudaMalloc(&sink, 4), "allocating");
  check(cudaMemset(base, 0, kGlobalBytes), "clearing");

  std::ifstream in(argv[1]);
  std::string line;
  long row = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line.rfind("op,", 0) == 0) continue;
    if (row++ < from || row > to) continue;
    std::istringstream fields(line);
    std::string op, mask, offsets;
    std::getline(fields, op, ',');
    std::getline(fields, mask, ',');
    std::getline(fields, offsets, ',');
    Pattern p{};
    p.mask = uint32_t(std::strtoul(mask.c_str(), nullptr, 16));
    std::istringstream list(offsets);
    for (uint32_t& o : p.offset) list >> o;
    const auto kernel = kKernels.find(op);
    if (kernel == kKernels.end() || !list) {
      std::fprintf(stderr, "access_patterns: bad row: %s\n", line.c_str());
      return 2;
    }
    kernel->second<<<1, 32>>>(p, base, sink);
    check(cudaGetLastError(), op.c_str());
    check(cudaDeviceSynchronize(), op.c_str());
  }
  return 0;
}
