// Measures stores and additions spread over memory:
//
//   nvcc -std=c++17 -O3 -arch=native spread.cu -o spread && ./spread    prints rows of
//   h200-spread.csv
//
// Microseconds are the best of five launches, measured with events, each after 512 MiB
// of other memory were read.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__device__ unsigned sink;

enum Order { hashed, golden, reversed, strided };

// The k-th of 2^bits positions.
template <int ORDER>
__device__ unsigned place(unsigned k, unsigned bits, unsigned stride) {
  const unsigned mask = (1u << bits) - 1;
  if (ORDER == golden) return k * 2654435761u & mask;
  if (ORDER == reversed) return __brev(k) >> (32 - bits);
  if (ORDER == strided) return k * stride & mask;
  unsigned h = k;  // hashed: a permutation of all words
  h ^= h >> 16, h *= 0x7feb352du, h ^= h >> 15, h *= 0x846ca68bu, h ^= h >> 16;
  return h & mask;
}

// `lanes` neighbouring lanes write neighbouring words.
template <int ORDER>
__global__ void put(unsigned* to, unsigned n, unsigned bits, unsigned stride, unsigned lanes) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[place<ORDER>(i / lanes, bits, stride) * lanes + i % lanes] = i;
}

template <class T>
__global__ void add(T* to, unsigned n, unsigned bits, unsigned apart) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(to + size_t{place<hashed>(i, bits, 1)} * apart, T(1));
}

__global__ void read_all(const uint4* from, size_t n) {
  unsigned x = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x ^= from[i].x;
  if (x == 0x12345678u) sink = x;
}

uint4* other = nullptr;
int turns = 5;  // under Nsight Compute, one is enough
constexpr size_t kOther = size_t{512} << 20;

template <class Launch>
void best_of(const char* part, const char* what, unsigned n, Launch launch) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start)), check(cudaEventCreate(&stop));
  float best = 1e9f;
  for (int turn = 0; turn < turns; ++turn) {
    read_all<<<1056, 256>>>(other, kOther / sizeof(uint4));
    check(cudaEventRecord(start));
    launch();
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop));
    best = std::min(best, ms);
  }
  check(cudaGetLastError());
  std::printf("%s,%s,\"n=%u,event_us=%.2f,per_ns=%.2f\"\n", part, what, n, best * 1e3,
              n / ((best * 1e3 - 3) * 1e3));
}

template <int ORDER>
void puts_of(unsigned* to, const char* name, unsigned n, unsigned bits, unsigned stride,
             unsigned lanes) {
  char what[80];
  std::snprintf(what, sizeof what, "%s lanes=%u bits=%u stride=%u", name, lanes, bits, stride);
  best_of("put", what, n, [&] { put<ORDER><<<n / 256, 256>>>(to, n, bits, stride, lanes); });
}

template <class T>
void adds_of(void* to, const char* name, unsigned n, unsigned bits, unsigned apart) {
  char what[80];
  std::snprintf(what, sizeof what, "%s words=%u apart=%u", name, 1u << bits, apart);
  best_of("add", what, n, [&] { add<<<n / 256, 256>>>(static_cast<T*>(to), n, bits, apart); });
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) turns = 1;
  unsigned* to = nullptr;
  check(cudaMalloc(&to, size_t{1} << 30));
  check(cudaMemset(to, 0, size_t{1} << 30));
  check(cudaMalloc(&other, kOther));
  std::printf("part,case,figures\n");
  for (const unsigned bits : {22u, 24u, 26u, 28u})
    for (const unsigned n : {1u << 20, 1u << 22}) {
      puts_of<hashed>(to, "hashed", n, bits, 0, 1);
      puts_of<golden>(to, "golden", n, bits, 0, 1);
      puts_of<reversed>(to, "reversed", n, bits, 0, 1);
    }
  puts_of<reversed>(to, "reversed", 1u << 24, 24, 0, 1);
  puts_of<golden>(to, "golden", 1u << 24, 24, 0, 1);
  puts_of<hashed>(to, "hashed", 1u << 24, 28, 0, 1);
  for (const unsigned lanes : {2u, 4u, 8u, 16u, 32u}) {
    puts_of<golden>(to, "golden", 1u << 24, 26 - __builtin_ctz(lanes), 0, lanes);
    puts_of<reversed>(to, "reversed", 1u << 24, 26 - __builtin_ctz(lanes), 0, lanes);
  }
  for (const unsigned stride : {8u, 16u, 32u, 64u, 128u, 256u, 1024u, 8192u})
    for (const unsigned n : {1u << 20, 1u << 22})
      puts_of<strided>(to, "strided", n, 28, stride + (stride > 128 ? 32 : 0), 1);
  for (const unsigned bits : {6u, 8u, 10u, 12u, 13u, 14u, 16u, 18u, 20u}) {
    adds_of<unsigned>(to, "integers", 1u << 22, bits, 1);
    adds_of<float>(to, "floats", 1u << 22, bits, 1);
    adds_of<unsigned>(to, "integers", 1u << 22, bits, 32);
  }
  return 0;
}
