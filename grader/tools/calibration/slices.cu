// Measures where warps run, and where additions to device memory go:
//
//   nvcc -std=c++17 -O3 -arch=native slices.cu -o slices && ./slices         prints rows of
//   h200-atomics.csv; with the word `map` those of h200-slices.csv: of each 256 bytes of 2 MiB, the
//   first of those that lie in the same slice of L2
//
// Two addresses to which all warps add alternately take 1.8 times as long in one slice as in two. Times
// are medians of nine launches, measured with events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Without a result, so that ptxas cannot aggregate, as it does for atomicAdd of integers.
__device__ void add(unsigned* to, bool is_float) {
  if (is_float)
    asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(to) : "memory");
  else
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(to) : "memory");
}

__device__ unsigned hashed(unsigned i) {
  i = i * 747796405u + 2891336453u;
  i = ((i >> ((i >> 28) + 4)) ^ i) * 277803737u;
  return i >> 22 ^ i;
}

// One lane of each warp to one word; the lanes of a warp to the words of one of m lines; each lane
// to a random one of m words.
enum Kind { lone, line, lot };
__global__ void additions(unsigned* to, Kind kind, bool is_float, unsigned m) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, warp = i / 32;
  if (kind == lone && lane == 0) add(to, is_float);
  if (kind == line) add(to + warp % m * 32 + lane, is_float);
  if (kind == lot) add(to + hashed(i) % m, is_float);
}

// A sum whose warps add to one word at the end, or not.
__global__ void sum(const float* from, unsigned* to, unsigned n, bool adds) {
  float s = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    s += from[i];
  for (unsigned k = 16; k > 0; k /= 2) s += __shfl_down_sync(~0u, s, k);
  if (adds ? threadIdx.x % 32 == 0 : s == 1.5f) add(to, true);
}

// The two halves of each sector alternately; and whole sectors.
__global__ void halves(const float4* from, float4* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 u = from[2 * i], v = from[2 * i + 1];
  to[2 * i] = make_float4(u.x + 1, u.y, u.z, u.w);
  to[2 * i + 1] = make_float4(v.x + 1, v.y, v.z, v.w);
}
__global__ void wholes(const float4* from, float4* to) {
  const unsigned i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  const float4 u = from[i], v = from[i + blockDim.x];
  to[i] = make_float4(u.x + 1, u.y, u.z, u.w);
  to[i + blockDim.x] = make_float4(v.x + 1, v.y, v.z, v.w);
}

// Records each warp's multiprocessor and warp slot, whose last two bits are its scheduler.
__global__ void places(unsigned* to, long long cycles) {
  unsigned sm, place;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
  const unsigned warps = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) to[blockIdx.x * warps + threadIdx.x / 32] = sm << 8 | place;
  for (const long long start = clock64(); clock64() - start < cycles;) continue;
}

__global__ void in_turn(unsigned* a, unsigned* b) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 32 != 0) return;
#pragma unroll
  for (int k = 0; k < 16; ++k) add(i / 32 % 2 == 0 ? a : b, false);
}

__global__ void read_all(const float4* from, size_t n, unsigned* sink) {
  float x = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x += from[i].x;
  if (x == 1.5f) *sink = 1;
}

constexpr size_t kBytes = size_t{512} << 20;
unsigned* words = nullptr;
float4* other = nullptr;

template <class Launch>
double microseconds(Launch launch, bool cold) {
  cudaEvent_t from, to;
  check(cudaEventCreate(&from));
  check(cudaEventCreate(&to));
  std::vector<float> all;
  for (int turn = 0; turn < 9; ++turn) {
    if (cold) read_all<<<1056, 256>>>(other, kBytes / sizeof(float4), words);
    cudaEventRecord(from);
    launch();
    cudaEventRecord(to);
    check(cudaEventSynchronize(to));
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    all.push_back(ms * 1000);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Times per warp, from 8192 and 2048 blocks of eight.
void print_additions(const char* name, Kind kind, unsigned m) {
  for (const bool is_float : {false, true}) {
    double us[2];
    for (int many = 0; many < 2; ++many)
      us[many] = microseconds(
          [&] { additions<<<many == 0 ? 2048 : 8192, 256>>>(words, kind, is_float, m); }, false);
    std::printf("%s,%s m=%u,\"ns_per_warp=%.3f,us_2048=%.2f,us_8192=%.2f\"\n", name,
                is_float ? "float" : "int", m, (us[1] - us[0]) * 1e3 / (6144 * 8), us[0], us[1]);
  }
}

void print_places() {
  std::vector<unsigned> all(132 * 64 * 2);
  for (const unsigned warps : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u, 16u, 32u}) {
    const unsigned blocks = 132 * std::min(32u, 64 / warps);
    places<<<blocks, warps * 32>>>(words, 200000);
    check(cudaMemcpy(all.data(), words, blocks * warps * 4, cudaMemcpyDeviceToHost));
    std::printf("place,warps=%u,\"", warps);
    bool first = true;
    for (unsigned b = 0; b < blocks; ++b) {
      if (all[b * warps] >> 8 != all[0] >> 8) continue;
      std::printf("%sblock%u=%u", first ? "" : ",", b, all[b * warps] % 4);
      first = false;
    }
    std::printf("\"\n");
  }
}

void print_map() {
  constexpr int kGranules = 8192, kAtOnce = 512;
  constexpr float kSame = 24;  // 28 in one slice, 16 in two, 20 in two that share something
  std::vector<cudaEvent_t> events(kAtOnce + 1);
  for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
  const auto granule = [](int g) { return words + g * 64; };
  for (int turn = 0; turn < 200; ++turn) in_turn<<<132, 512>>>(words, words);
  const auto times = [&](int to, const std::vector<int>& of) {
    std::vector<float> all(of.size());
    for (size_t start = 0; start < of.size(); start += kAtOnce) {
      const size_t n = std::min<size_t>(kAtOnce, of.size() - start);
      for (size_t i = 0; i < n; ++i) {
        cudaEventRecord(events[i]);
        in_turn<<<132, 512>>>(granule(to), granule(of[start + i]));
      }
      cudaEventRecord(events[n]);
      check(cudaDeviceSynchronize());
      for (size_t i = 0; i < n; ++i) {
        float ms = 0;
        cudaEventElapsedTime(&ms, events[i], events[i + 1]);
        all[start + i] = ms * 1000;
      }
    }
    return all;
  };
  std::vector<int> slice(kGranules, -1);
  for (int first = 0; first < kGranules; ++first) {
    if (slice[first] >= 0) continue;
    slice[first] = first;
    std::vector<int> open, likely;
    for (int g = first + 1; g < kGranules; ++g)
      if (slice[g] < 0) open.push_back(g);
    const std::vector<float> once = times(first, open);
    for (size_t i = 0; i < open.size(); ++i)
      if (once[i] > kSame) likely.push_back(open[i]);
    const std::vector<float> twice = times(first, likely), again = times(first, likely);
    for (size_t i = 0; i < likely.size(); ++i)
      if (std::min(twice[i], again[i]) > kSame) slice[likely[i]] = first;
  }
  for (int g = 0; g < kGranules; ++g) std::printf("%d,%d\n", g, slice[g]);
}

}  // namespace

int main(int count, char** argument) {
  check(cudaMalloc(&words, kBytes));
  check(cudaMemset(words, 0, kBytes));
  check(cudaMalloc(&other, kBytes));
  check(cudaMemset(other, 0, kBytes));
  if (count > 1 && std::strcmp(argument[1], "map") == 0) {
    print_map();
    return 0;
  }
  print_places();
  print_additions("lone", lone, 1);
  for (unsigned m = 1; m <= 16384; m *= 2) print_additions("line", line, m);
  for (unsigned m = 32; m <= 1u << 22; m *= 2) print_additions("lot", lot, m);
  const auto* values = reinterpret_cast<const float*>(words + (kBytes >> 3));
  for (const unsigned blocks : {132u, 264u, 528u, 1056u, 2112u})
    for (const unsigned n : {0u, 1u << 20, 1u << 21, 1u << 23}) {
      double us[2];
      for (const bool adds : {false, true})
        us[adds] = microseconds([&] { sum<<<blocks, 256>>>(values, words, n, adds); }, true);
      std::printf("tail,blocks=%u n=%u,\"us_with=%.2f,us_without=%.2f\"\n", blocks, n, us[1],
                  us[0]);
    }
  const auto* from = reinterpret_cast<const float4*>(values);
  auto* to = reinterpret_cast<float4*>(words);
  for (unsigned n = 1u << 18; n <= 1u << 25; n *= 2) {
    const double half = microseconds([&] { halves<<<n / 1024, 128>>>(from, to); }, true);
    const double whole = microseconds([&] { wholes<<<n / 1024, 128>>>(from, to); }, true);
    std::printf("halves,n=%u,\"us_halves=%.2f,us_wholes=%.2f\"\n", n, half, whole);
  }
  return 0;
}
