// Measures additions to shared memory that ptxas compiles to compare-and-swap loops, and for comparison
// those of integers, which the hardware supports:
//
//   nvcc -std=c++17 -O3 -arch=native spins.cu -o spins && ./spins     prints rows of h200-spins.csv
//   ncu --csv --clock-control none --metrics A,B ./spins once         its counts, in the same order
//
// One block runs; in a round each of its threads adds once. The cycles of a round are the minimum of
// five launches of 200 rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr unsigned kRounds = 200, kWords = 4096;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__device__ unsigned hashed(unsigned i) {
  i = i * 747796405u + 2891336453u;
  i = ((i >> ((i >> 28) + 4)) ^ i) * 277803737u;
  return i >> 22 ^ i;
}

// m lanes of a warp to one word, with words per warp or one word for
// all; m lanes to as many words of one bank; each lane to a random one of m words.
enum Place : unsigned { own, same, bank, lot };

}  // namespace

template <class T, bool USED>
__global__ void additions(T* out, long long* cycles, Place place, unsigned m) {
  __shared__ T words[kWords];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 0;
  unsigned at = lane / m;
  if (place == own) at += warp * 32;
  if (place == bank) at = lane / m + lane % m * 32;
  T sum = 0;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (unsigned r = 0; r < kRounds; ++r) {
    if (place == lot) at = hashed(threadIdx.x * kRounds + r) % m;
    const T was = atomicAdd(&words[at], T{3});
    if (USED) sum += was;
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin;
  out[threadIdx.x] = words[threadIdx.x] + sum;
}

namespace {

template <class T, bool USED>
void print(const char* type, Place place, unsigned warps, unsigned m, bool once) {
  static void* out = nullptr;
  static long long* cycles = nullptr;
  if (out == nullptr) {
    check(cudaMalloc(&out, 8192));
    check(cudaMalloc(&cycles, sizeof *cycles));
  }
  long long least = 1ll << 60;
  for (int launch = 0; launch < (once ? 1 : 5); ++launch) {
    additions<T, USED><<<1, warps * 32>>>(static_cast<T*>(out), cycles, place, m);
    long long now = 0;
    check(cudaMemcpy(&now, cycles, sizeof now, cudaMemcpyDeviceToHost));
    least = std::min(least, now);
  }
  const char* const places[] = {"own", "same", "bank", "lot"};
  std::printf("%s%s,%s warps=%u m=%u,\"cycles=%.1f\"\n", type, USED ? " used" : "", places[place],
              warps, m, static_cast<double>(least) / kRounds);
}

template <class T, bool USED>
void print_few(const char* type, bool once) {
  for (const Place place : {own, same})
    for (const unsigned warps : {1u, 32u})
      for (unsigned m = 1; m <= 32; m *= 2) print<T, USED>(type, place, warps, m, once);
}

}  // namespace

int main(int count, char** argument) {
  const bool once = count > 1 && std::strcmp(argument[1], "once") == 0;
  for (const Place place : {own, same})
    for (unsigned warps = 1; warps <= 32; warps *= 2)
      for (unsigned m = 1; m <= 32; m *= 2) print<float, false>("float", place, warps, m, once);
  for (const unsigned warps : {1u, 8u})
    for (unsigned m = 1; m <= 32; m *= 2) print<float, false>("float", bank, warps, m, once);
  for (const unsigned warps : {1u, 8u, 32u})
    for (unsigned m = 1; m <= 4096; m *= 4) print<float, false>("float", lot, warps, m, once);
  print_few<float, true>("float", once);
  print_few<double, false>("double", once);
  print_few<unsigned, false>("int", once);
  print_few<unsigned, true>("int", once);
  return 0;
}
