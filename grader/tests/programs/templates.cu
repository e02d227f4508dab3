// Templates over types and numbers, functors, device lambdas' substitute, overloads, a class.
//! stdout| int 10, float 5.0, double 0.0625
//! stdout| unrolled 4: 1 3 5 7
//! stdout| pair 3 4, length 5.0
#include <cstdio>

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Times {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};

template <class T, class Op>
__global__ void fold(const T* in, int n, T* out, Op op) {
  T value = in[0];
  for (int i = 1; i < n; ++i) value = op(value, in[i]);
  *out = value;
}

template <int N>
__global__ void odd_numbers(int* out) {
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = 2 * i + 1;
}

struct Vector {
  float x, y;
  __host__ __device__ Vector(float a, float b) : x(a), y(b) {}
  __device__ float length() const { return sqrtf(x * x + y * y); }
};

__global__ void measure(Vector v, float* out) { *out = v.length(); }

template <class T, class Op>
T fold_on_device(T a, T b, T c, T d, Op op) {
  T host[4] = {a, b, c, d}, *device, result;
  cudaMalloc(&device, 5 * sizeof(T));
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  fold<<<1, 1>>>(device, 4, device + 4, op);
  cudaMemcpy(&result, device + 4, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return result;
}

int main() {
  std::printf("int %d, float %.1f, double %.4f\n", fold_on_device(1, 2, 3, 4, Plus()),
              fold_on_device(0.5f, 1.0f, 1.5f, 2.0f, Plus()),
              fold_on_device(0.5, 0.5, 0.5, 0.5, Times()));
  int *out, v[4];
  cudaMalloc(&out, sizeof v);
  odd_numbers<4><<<1, 1>>>(out);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("unrolled 4: %d %d %d %d\n", v[0], v[1], v[2], v[3]);
  const Vector pair(3, 4);
  float length;
  measure<<<1, 1>>>(pair, reinterpret_cast<float*>(out));
  cudaMemcpy(&length, out, sizeof length, cudaMemcpyDeviceToHost);
  std::printf("pair %.0f %.0f, length %.1f\n", pair.x, pair.y, length);
  return 0;
}
