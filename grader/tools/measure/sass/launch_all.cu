// Launches every kernel of grader/tests/fixtures/sass, to compare a profiler's counts with the
// simulator's. `launch_all list` prints the kernels' names.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../../../grader/tests/fixtures/sass/kernels.cu"
#include "launches.inc"

namespace {

using namespace inputs;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "launch_all: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

// A pointer that converts to the type of the kernel's parameter.
struct Any {
  char* address;
  template <class T>
  operator T*() const {
    return reinterpret_cast<T*>(address);
  }
};
Any at(Any buffer, int bytes) { return {buffer.address + bytes}; }

template <class T>
Any buffer(T (*value)(unsigned)) {
  T* host = static_cast<T*>(std::malloc(kBytes));
  for (unsigned i = 0; i < kBytes / sizeof(T); ++i) host[i] = value(i);
  char* device = nullptr;
  check(cudaMalloc(&device, kBytes), "cudaMalloc");
  check(cudaMemcpy(device, host, kBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  std::free(host);
  return {device};
}

}  // namespace

int main(int argc, char** argv) {
  const bool listing = argc > 1 && std::strcmp(argv[1], "list") == 0;
  Any bytes = buffer(byte_at), shorts = buffer(short_at), ints = buffer(int_at);
  Any floats = buffer(float_at), doubles = buffer(double_at), longs = buffer(long_at);
  Any out = buffer(zero_at), out2 = buffer(zero_at);
#define LAUNCH(kernel, grid, block, shared, ...)     \
  if (listing) std::printf("%s\n", #kernel);         \
  kernel<<<grid, block, shared>>>(__VA_ARGS__);      \
  check(cudaGetLastError(), #kernel);                \
  check(cudaDeviceSynchronize(), #kernel);
#define CLEAR(buffer, bytes) check(cudaMemset(buffer.address, 0, bytes), "cudaMemset");
#include "launches.inc"
  return 0;
}
