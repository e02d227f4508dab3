// Records where the bulk tensor copy (TMA) of a GPU of compute capability 9.0 or more puts each element of
// a box in shared memory, for every swizzle mode: measured, not computed.
//
//   tensor_maps    CSV on stdout; a line for each row of each box
//
// Columns: mode (bytes; 0: none), element_bytes, columns and rows of the box, base (offset of the box in
// bytes from a multiple of 1024 in shared memory), y, and landing: for each element of row y its
// first byte, counted from that multiple of 1024.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "../../../tools/measure/timing.cuh"

namespace {

constexpr int kBytes = 8192;  // bytes of shared memory that are copied out

// Copies the box to shared memory by one bulk tensor copy, then the shared memory to `out`.
__global__ void copy_box(const __grid_constant__ CUtensorMap map, int base, int bytes,
                         unsigned char* out) {
  extern __shared__ __align__(1024) unsigned char buffer[];
  __shared__ __align__(8) uint64_t arrived;
  const unsigned to = unsigned(__cvta_generic_to_shared(buffer)) + base;
  const unsigned barrier = unsigned(__cvta_generic_to_shared(&arrived));
  for (int i = threadIdx.x; i < kBytes; i += blockDim.x) buffer[i] = 0xff;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  // The copy engine accesses shared memory through another proxy than the stores above.
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %3}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(0)
        : "memory");
  }
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kBytes; i += blockDim.x) out[i] = buffer[i];
  // Lets the reader verify the address of `buffer`.
  if (threadIdx.x == 0) out[kBytes] = (unsigned(__cvta_generic_to_shared(buffer)) % 1024) != 0;
}

struct Box {
  int mode, element_bytes, columns, rows, base;
  int row_bytes() const { return columns * element_bytes; }
  int bytes() const { return row_bytes() * rows; }
};

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encoder() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found));
  if (found != cudaDriverEntryPointSuccess) {
    fprintf(stderr, "the driver has no cuTensorMapEncodeTiled\n");
    exit(1);
  }
  return reinterpret_cast<Encode>(entry);
}

CUtensorMap map_of(Encode encode, const Box& box, void* from) {
  const CUtensorMapDataType type = box.element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : box.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : box.element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                            : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const CUtensorMapSwizzle swizzle = box.mode == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : box.mode == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : box.mode == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                      : CU_TENSOR_MAP_SWIZZLE_NONE;
  const cuuint64_t size[] = {cuuint64_t(box.columns), cuuint64_t(box.rows)};
  const cuuint64_t pitch[] = {cuuint64_t(box.row_bytes())};
  const cuuint32_t part[] = {cuuint32_t(box.columns), cuuint32_t(box.rows)}, step[] = {1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, type, 2, from, size, pitch, part, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fprintf(stderr, "mode %d, %d x %d of %d bytes: cuTensorMapEncodeTiled gives %d\n", box.mode,
            box.rows, box.columns, box.element_bytes, int(result));
    exit(1);
  }
  return map;
}

// A byte cannot number all bytes of a box, so the box is copied twice: with the low half of each byte's
// offset, and with the high half.
void dump(Encode encode, const Box& box) {
  unsigned char *in, *out;
  CHECK(cudaMalloc(&in, box.bytes()));
  CHECK(cudaMalloc(&out, kBytes + 1));
  const CUtensorMap map = map_of(encode, box, in);
  std::vector<unsigned char> halves[2];
  for (int half = 0; half < 2; ++half) {
    std::vector<unsigned char> from(box.bytes());
    for (int i = 0; i < box.bytes(); ++i) from[i] = (i >> (8 * half)) & 0xff;
    CHECK(cudaMemcpy(in, from.data(), from.size(), cudaMemcpyHostToDevice));
    copy_box<<<1, 128, kBytes>>>(map, box.base, box.bytes(), out);
    CHECK(cudaGetLastError());
    halves[half].resize(kBytes + 1);
    CHECK(cudaMemcpy(halves[half].data(), out, kBytes + 1, cudaMemcpyDeviceToHost));
    if (halves[half][kBytes]) {
      fprintf(stderr, "shared memory does not begin at a multiple of 1024\n");
      exit(1);
    }
  }
  std::vector<int> landing(box.bytes(), -1);
  for (int at = 0; at < kBytes; ++at) {
    const int byte = halves[0][at] | halves[1][at] << 8;
    if (byte == 0xffff) continue;  // poison: no box has 65535 bytes
    if (byte >= box.bytes() || landing[byte] != -1) {
      fprintf(stderr, "byte %d of the buffer holds %d\n", at, byte);
      exit(1);
    }
    landing[byte] = at;
  }
  for (int y = 0; y < box.rows; ++y) {
    printf("%d,%d,%d,%d,%d,%d,", box.mode, box.element_bytes, box.columns, box.rows, box.base, y);
    for (int x = 0; x < box.columns; ++x) {
      const int first = y * box.row_bytes() + x * box.element_bytes;
      for (int b = 0; b < box.element_bytes; ++b) {
        if (landing[first + b] == -1 || landing[first + b] != landing[first] + b) {
          fprintf(stderr, "an element is torn or missing\n");
          exit(1);
        }
      }
      printf(x ? " %d" : "%d", landing[first]);
    }
    printf("\n");
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}

}  // namespace

int main() {
  const Encode encode = encoder();
  CHECK(cudaFuncSetAttribute(copy_box, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  printf("mode,element_bytes,columns,rows,base,y,landing\n");
  const int rows = 16;
  for (int mode : {128, 64, 32}) {
    // Rows as wide as the mode, of each element size; then narrower rows; then other bases.
    for (int bytes : {1, 2, 4, 8}) dump(encode, {mode, bytes, mode / bytes, rows, 0});
    for (int row = mode - 16; row >= 16; row -= 16) {
      if (row == mode / 2 || row == 16 || row == 48) dump(encode, {mode, 2, row / 2, rows, 0});
    }
    for (int base : {128, 256, 384, 640}) dump(encode, {mode, 2, mode / 2, rows, base});
  }
  dump(encode, {0, 2, 64, rows, 0});
  dump(encode, {0, 2, 32, rows, 128});
  return 0;
}
