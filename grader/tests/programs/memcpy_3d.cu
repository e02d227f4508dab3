// cudaMalloc3D, cudaMemcpy3D and a grid of three dimensions.
//! stdout| extent 16 3 2
//! stdout| 0 1 2 3 | 230 231 232 233
//! stdout| wrong 0
#include <cstdio>

__global__ void number(cudaPitchedPtr box, int3 size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= size.x) return;
  char* row = static_cast<char*>(box.ptr) + (z * size.y + y) * box.pitch;
  reinterpret_cast<int*>(row)[x] += 100 * z + 10 * y + x;
}

int main() {
  const int3 size = make_int3(4, 3, 2);
  int host[2][3][4], back[2][3][4];
  for (auto& plane : host)
    for (auto& row : plane)
      for (int& v : row) v = 100;
  const cudaExtent extent = make_cudaExtent(size.x * sizeof(int), size.y, size.z);
  cudaPitchedPtr box;
  cudaMalloc3D(&box, extent);
  std::printf("extent %zu %zu %d\n", box.xsize, box.ysize, size.z);
  cudaMemcpy3DParms in = {};
  in.srcPtr = make_cudaPitchedPtr(host, 16, 4, 3);
  in.dstPtr = box;
  in.extent = extent;
  in.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&in);
  number<<<dim3(2, 3, 2), 2>>>(box, size);
  cudaMemcpy3DParms out = {};
  out.srcPtr = box;
  out.dstPtr = make_cudaPitchedPtr(back, 16, 4, 3);
  out.extent = extent;
  out.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3D(&out);
  int wrong = 0;
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) wrong += back[z][y][x] != 100 + 100 * z + 10 * y + x;
  const int *a = back[0][0], *b = back[1][2];
  std::printf("%d %d %d %d | %d %d %d %d\n", a[0] - 100, a[1] - 100, a[2] - 100, a[3] - 100,
              b[0] + 10, b[1] + 10, b[2] + 10, b[3] + 10);
  std::printf("wrong %d\n", wrong);
  cudaFree(box.ptr);
  return 0;
}
