// Times the host's part of a reduction: cudaMalloc and cudaMemcpy, which the Reduce Tutorial lists with
// its kernels' times. Pageable memory, 10^8 ints, ten times each; CSV on stdout.
#include <chrono>

#include "../../../tools/measure/timing.cuh"

int main() {
  const size_t bytes = 400000000;
  std::vector<char> host(bytes, 1);
  std::vector<double> allocate, to_device, to_host;
  auto clock = [](std::vector<double>& times, const std::function<void()>& work) {
    auto start = std::chrono::steady_clock::now();
    work();
    CHECK(cudaDeviceSynchronize());
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  };
  for (int k = 0; k < 10; ++k) {
    void* p = nullptr;
    clock(allocate, [&] { CHECK(cudaMalloc(&p, bytes)); });
    clock(to_device, [&] { CHECK(cudaMemcpy(p, host.data(), bytes, cudaMemcpyHostToDevice)); });
    clock(to_host, [&] { CHECK(cudaMemcpy(host.data(), p, 4, cudaMemcpyDeviceToHost)); });
    CHECK(cudaFree(p));
  }
  printf("what,bytes,first_ms,median_ms,min_ms,max_ms\n");
  auto print = [](const char* what, size_t size, std::vector<double> times) {
    const double first = times[0];
    std::sort(times.begin(), times.end());
    printf("%s,%zu,%.4f,%.4f,%.4f,%.4f\n", what, size, first, times[times.size() / 2], times[0],
           times.back());
  };
  print("cudaMalloc", bytes, allocate);
  print("cudaMemcpy to the device", bytes, to_device);
  print("cudaMemcpy to the host", 4, to_host);
}
