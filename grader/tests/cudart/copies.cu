// Copies and fills: kinds, dimensions, symbols, and what is refused.
#include <cstring>
#include <vector>

#include "expect.h"

__constant__ float table[8] = {1, 2, 3};
__device__ int counters[5];
namespace inner {
__device__ double counters = 2.5;
}

__global__ void use_symbols(float* out) {
  out[threadIdx.x] = table[threadIdx.x] + static_cast<float>(inner::counters);
  atomicAdd(&counters[threadIdx.x % 5], 1);
}

static void one_dimension() {
  std::vector<int> host(1000), back(1000);
  for (int i = 0; i < 1000; ++i) host[i] = 3 * i;
  int *a, *b;
  WORKS(cudaMalloc(&a, 4000));
  WORKS(cudaMalloc(&b, 4000));
  WORKS(cudaMemcpy(a, host.data(), 4000, cudaMemcpyHostToDevice));
  WORKS(cudaMemcpy(b, a, 4000, cudaMemcpyDeviceToDevice));
  WORKS(cudaMemcpy(back.data(), b, 4000, cudaMemcpyDeviceToHost));
  EXPECT(back == host);
  WORKS(cudaMemcpy(b + 10, b, 400, cudaMemcpyDefault));
  WORKS(cudaMemcpy(back.data(), b + 10, 400, cudaMemcpyDefault));
  EXPECT(back[99] == 3 * 99);
  std::vector<int> other(1000);
  WORKS(cudaMemcpy(other.data(), host.data(), 4000, cudaMemcpyHostToHost));
  EXPECT(other == host);
  WORKS(cudaMemcpyPeer(b, 0, a, 0, 4000));
  WORKS(cudaMemcpyAsync(back.data(), b, 4000, cudaMemcpyDeviceToHost));
  EXPECT(back == host);

  EXPECT_ERROR(cudaMemcpy(a, host.data(), 4004, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(a + 1, host.data(), 4000, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(host.data(), back.data(), 4, cudaMemcpyHostToDevice),
               cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(host.data(), b, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  // Addresses say where memory is: a kind may call device memory the host's.
  WORKS(cudaMemcpy(a, b, 4, cudaMemcpyHostToDevice));
  WORKS(cudaMemcpy(back.data(), b, 4, cudaMemcpyHostToHost));
  EXPECT_ERROR(cudaMemcpy(nullptr, a, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(host.data(), a, 4, static_cast<cudaMemcpyKind>(9)),
               cudaErrorInvalidMemcpyDirection);
  WORKS(cudaMemcpy(nullptr, a, 0, cudaMemcpyDeviceToHost));
  WORKS(cudaFree(a));
  EXPECT_ERROR(cudaMemcpy(b, a, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  WORKS(cudaFree(b));
}

static void two_dimensions() {
  constexpr size_t kWidth = 70, kHeight = 9;
  std::vector<unsigned char> host(100 * kHeight), back(80 * kHeight, 0xaa);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7);
  unsigned char* rows;
  size_t pitch;
  WORKS(cudaMallocPitch(&rows, &pitch, kWidth, kHeight));
  WORKS(cudaMemset2D(rows, pitch, 0x11, pitch, kHeight));
  WORKS(cudaMemcpy2D(rows, pitch, host.data(), 100, kWidth, kHeight, cudaMemcpyHostToDevice));
  WORKS(cudaMemset2D(rows + 2 * pitch + 5, pitch, 0x22, 3, 2));
  WORKS(cudaMemcpy2D(back.data(), 80, rows, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost));
  bool right = true;
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < 80; ++x) {
      const bool filled = (y == 2 || y == 3) && x >= 5 && x < 8;
      const unsigned char want = x >= kWidth ? 0xaa : filled ? 0x22 : host[100 * y + x];
      right &= back[80 * y + x] == want;
    }
  EXPECT(right);
  EXPECT_ERROR(cudaMemcpy2D(rows, pitch, host.data(), 60, kWidth, kHeight, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue);
  EXPECT_ERROR(
      cudaMemcpy2D(rows, pitch, host.data(), 100, kWidth, kHeight + 1, cudaMemcpyHostToDevice),
      cudaErrorInvalidValue);
  WORKS(cudaFree(rows));
}

static void three_dimensions() {
  constexpr size_t kX = 12, kY = 5, kZ = 4;  // bytes, rows, slices
  unsigned char host[kZ][kY][kX], back[kZ][kY][kX];
  for (size_t i = 0; i < sizeof host; ++i) (&host[0][0][0])[i] = static_cast<unsigned char>(i);
  cudaPitchedPtr box;
  WORKS(cudaMalloc3D(&box, make_cudaExtent(kX, kY, kZ)));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(host, kX, kX, kY);
  p.dstPtr = box;
  p.extent = make_cudaExtent(kX, kY, kZ);
  p.kind = cudaMemcpyHostToDevice;
  WORKS(cudaMemcpy3D(&p));
  // A piece from inside back to another place.
  std::memset(back, 0xee, sizeof back);
  cudaMemcpy3DParms q{};
  q.srcPtr = box;
  q.srcPos = make_cudaPos(2, 1, 1);
  q.dstPtr = make_cudaPitchedPtr(back, kX, kX, kY);
  q.dstPos = make_cudaPos(0, 2, 2);
  q.extent = make_cudaExtent(6, 3, 2);
  q.kind = cudaMemcpyDeviceToHost;
  WORKS(cudaMemcpy3DAsync(&q, 0));
  bool right = true;
  for (size_t z = 0; z < kZ; ++z)
    for (size_t y = 0; y < kY; ++y)
      for (size_t x = 0; x < kX; ++x) {
        const bool inside = x < 6 && y >= 2 && z >= 2;
        right &= back[z][y][x] == (inside ? host[z - 1][y - 1][x + 2] : 0xee);
      }
  EXPECT(right);
  WORKS(cudaFree(box.ptr));
}

static void symbols() {
  size_t bytes = 0;
  WORKS(cudaGetSymbolSize(&bytes, counters));
  EXPECT(bytes == 20);
  WORKS(cudaGetSymbolSize(&bytes, inner::counters));
  EXPECT(bytes == 8);
  const float tail[2] = {40, 50};
  WORKS(cudaMemcpyToSymbol(table, tail, sizeof tail, 6 * sizeof(float)));
  float* out;
  WORKS(cudaMalloc(&out, 32));
  use_symbols<<<1, 8>>>(out);
  float host[8];
  WORKS(cudaMemcpy(host, out, 32, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 3.5f && host[2] == 5.5f && host[3] == 2.5f && host[7] == 52.5f);
  int counted[5];
  WORKS(cudaMemcpyFromSymbol(counted, counters, sizeof counted));
  EXPECT(counted[0] == 2 && counted[2] == 2 && counted[3] == 1);
  int last;
  WORKS(cudaMemcpyFromSymbolAsync(&last, counters, 4, 4, cudaMemcpyDeviceToHost));
  EXPECT(last == 2);
  void* address;
  WORKS(cudaGetSymbolAddress(&address, counters));
  WORKS(cudaMemset(address, 0, 20));
  WORKS(cudaMemcpyFromSymbol(counted, counters, sizeof counted));
  EXPECT(counted[0] == 0);
  EXPECT_ERROR(cudaMemcpyToSymbol(table, host, 8, 28), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpyToSymbol(host, host, 4), cudaErrorInvalidSymbol);
  EXPECT_ERROR(cudaMemcpyToSymbol(table, host, 4, 0, cudaMemcpyDeviceToHost),
               cudaErrorInvalidMemcpyDirection);
  WORKS(cudaFree(out));
}

static void fills() {
  unsigned char *a, back[64];
  WORKS(cudaMalloc(&a, 64));
  WORKS(cudaMemset(a, 0x1ff, 64));
  WORKS(cudaMemset(a + 3, 5, 7));
  WORKS(cudaMemcpy(back, a, 64, cudaMemcpyDeviceToHost));
  EXPECT(back[2] == 0xff && back[3] == 5 && back[9] == 5 && back[10] == 0xff);
  EXPECT_ERROR(cudaMemset(a + 1, 0, 64), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemset(back, 0, 4), cudaErrorInvalidValue);
  WORKS(cudaFree(a));
}

int main() {
  one_dimension();
  two_dimensions();
  three_dimensions();
  symbols();
  fills();
  return result();
}
