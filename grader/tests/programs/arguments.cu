// Arguments, standard input and the exit status are the program's own.
//! case 10 20
//! stdin| 1 2 3
//! stdin| 4
//! stdout| 2 arguments, 4 numbers, sum of all 40
//! status: 40
//! case
//! stdout| 0 arguments, 0 numbers, sum of all 0
//! status: 0
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void sum_up(const int* in, int n, int* out) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(out, in[i]);
}

int main(int argc, char** argv) {
  std::vector<int> numbers;
  for (int i = 1; i < argc; ++i) numbers.push_back(std::atoi(argv[i]));
  const size_t arguments = numbers.size();
  int x;
  while (std::scanf("%d", &x) == 1) numbers.push_back(x);
  int *in, *out, sum = 0;
  cudaMalloc(&in, (numbers.size() + 1) * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(out, &sum, sizeof sum, cudaMemcpyHostToDevice);
  sum_up<<<1, 32>>>(in, static_cast<int>(numbers.size()), out);
  cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%zu arguments, %zu numbers, sum of all %d\n", arguments, numbers.size() - arguments,
              sum);
  return sum;
}
