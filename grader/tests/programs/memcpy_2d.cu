// Pitched rows: cudaMallocPitch, cudaMemcpy2D in both directions, cudaMemset2D.
//! stdout| pitch holds a row and is a multiple of 32: 1 1
//! stdout| 0 10 20
//! stdout| 1 11 21
//! stdout| 2 12 22
//! stdout| 3 13 23
//! stdout| window -1 -1 | 13
#include <cstdio>

// Transposes a matrix of 3 rows of 4 into one of 4 rows of 3.
__global__ void transpose(const char* in, size_t pitch, int* out, size_t out_pitch) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int value = reinterpret_cast<const int*>(in + y * pitch)[x];
  *reinterpret_cast<int*>(reinterpret_cast<char*>(out) + x * out_pitch + y * sizeof(int)) = value;
}

int main() {
  int matrix[3][4], result[4][3];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) matrix[y][x] = 10 * y + x;
  char* in;
  int* out;
  size_t in_pitch, out_pitch;
  cudaMallocPitch(&in, &in_pitch, 4 * sizeof(int), 3);
  cudaMallocPitch(&out, &out_pitch, 3 * sizeof(int), 4);
  std::printf("pitch holds a row and is a multiple of 32: %d %d\n", in_pitch >= 16,
              in_pitch % 32 == 0);
  cudaMemcpy2D(in, in_pitch, matrix, 16, 16, 3, cudaMemcpyHostToDevice);
  transpose<<<1, dim3(4, 3)>>>(in, in_pitch, out, out_pitch);
  cudaMemcpy2D(result, 12, out, out_pitch, 12, 4, cudaMemcpyDeviceToHost);
  for (auto& row : result) std::printf("%d %d %d\n", row[0], row[1], row[2]);
  cudaMemset2D(out, out_pitch, 0xff, 8, 4);
  cudaMemcpy2D(result, 12, out, out_pitch, 12, 4, cudaMemcpyDeviceToHost);
  std::printf("window %d %d | %d\n", result[3][0], result[0][1], result[3][2] - 10);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
