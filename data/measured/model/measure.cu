// Runs the launches of launches.csv on a GPU.
//
//   measure LAUNCHES KERNELS.cubin time       times each, with a cold and with a warm L2
//   measure LAUNCHES KERNELS.cubin counters   launches each once, for Nsight Compute
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../timing.cuh"

namespace {

struct Launch {
  std::string set, kernel;
  unsigned grid_x, grid_y, block_x, block_y, shared, n, p, q;
  size_t words_a, words_b, words_c;
  int id;
};

std::vector<Launch> read_launches(const char* path) {
  std::ifstream in(path);
  if (!in) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  std::vector<Launch> launches;
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    Launch l;
    fields >> l.id >> l.set >> l.kernel >> l.grid_x >> l.grid_y >> l.block_x >> l.block_y >>
        l.shared >> l.words_a >> l.words_b >> l.words_c >> l.n >> l.p >> l.q;
    if (!fields) {
      fprintf(stderr, "%s: cannot read `%s`\n", path, line.c_str());
      exit(1);
    }
    launches.push_back(l);
  }
  return launches;
}

// Word i is a hash of i below 2^30; the simulator's runs of the same table fill alike.
__global__ void fill_hash(unsigned* to, size_t words, unsigned seed) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words; i += step) {
    unsigned h = unsigned(i) * 2654435761u ^ seed;
    h = (h ^ h >> 15) * 2246822519u;
    to[i] = ((h ^ h >> 13) * 3266489917u) & 0x3fffffffu;
  }
}

float* buffer(size_t words, unsigned seed) {
  void* p;
  CHECK(cudaMalloc(&p, words * 4));
  fill_hash<<<1024, 256>>>(static_cast<unsigned*>(p), words, seed);
  CHECK(cudaGetLastError());
  return static_cast<float*>(p);
}

// The median of `rounds` times of `times` launches one behind the other, in microseconds a launch.
double warm(const std::function<void()>& work, int rounds, int times) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> us;
  for (int k = 0; k < rounds + 1; ++k) {
    work();  // keeps the GPU busy while the host is getting ahead of it
    work();
    CHECK(cudaEventRecord(start));
    for (int i = 0; i < times; ++i) work();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (k > 0) us.push_back(1000 * ms / times);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: measure LAUNCHES KERNELS.cubin time|counters\n");
    return 2;
  }
  const auto launches = read_launches(argv[1]);
  const bool timed = std::strcmp(argv[3], "time") == 0;
  cudaLibrary_t library;
  CHECK(cudaLibraryLoadFromFile(&library, argv[2], nullptr, nullptr, 0, nullptr, nullptr, 0));
  size_t words_a = 0, words_b = 0, words_c = 0;
  for (const Launch& l : launches) {
    words_a = std::max(words_a, l.words_a);
    words_b = std::max(words_b, l.words_b);
    words_c = std::max(words_c, l.words_c);
  }
  float *a = buffer(words_a, 1), *b = buffer(words_b, 2), *c = buffer(words_c, 3);
  CHECK(cudaDeviceSynchronize());
  if (timed) printf("id,set,kernel,warm_us,cold_us\n");
  else CHECK(cudaProfilerStart());
  for (const Launch& l : launches) {
    cudaKernel_t kernel;
    CHECK(cudaLibraryGetKernel(&kernel, library, l.kernel.c_str()));
    const void* function = reinterpret_cast<const void*>(kernel);
    if (l.shared > 48 * 1024)
      CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(l.shared)));
    unsigned n = l.n, p = l.p, q = l.q;
    void* args[] = {&a, &b, &c, &n, &p, &q};
    const auto work = [&] {
      CHECK(cudaLaunchKernel(function, dim3(l.grid_x, l.grid_y), dim3(l.block_x, l.block_y), args,
                             l.shared, nullptr));
    };
    work();
    CHECK(cudaDeviceSynchronize());
    if (!timed) continue;
    const double first = warm(work, 1, 1);
    const double warm_us = warm(work, 7, std::clamp(static_cast<int>(500 / first), 1, 50));
    const double cold_us = 1000 * timing::measure(15, work).median_ms;
    printf("%d,%s,%s,%.3f,%.3f\n", l.id, l.set.c_str(), l.kernel.c_str(), warm_us, cold_us);
    fflush(stdout);
  }
  if (!timed) CHECK(cudaProfilerStop());
  return 0;
}
