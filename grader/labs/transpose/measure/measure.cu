// Measures the versions of the transpose lab on a real GPU, with the variants that the handout
// mentions.
//
//   measure time       CSV on stdout: median times with a cold L2, and those of a device-to-device copy
//   measure counters   launches each kernel once under ncu
//
// measure.sh runs both. The kernels of the lab are those of solutions/ themselves.
#include <cuda_profiler_api.h>

#include <cstring>
#include <string>

#include "../../../../solutions/transpose/transpose.cu"
#include "../../../tools/measure/timing.cuh"
#include "lab32.cuh"

// Forms that the lab does not have.
namespace variant {

// Lanes follow a column of `in`: the stores are coalesced and the loads are not.
template <class T>
__global__ void columns(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.y;
  int y = blockIdx.y * kTile + threadIdx.x;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}

// The SYSU Lecture's question: the tile is read along its rows and written down the columns of `out`.
template <class T>
__global__ void tile_to_columns(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  if (x < m && y < n) out[x * n + y] = tile[threadIdx.y][threadIdx.x];
}

// The SYSU Lecture's kernel: tiles 16 wide, blocks of 16 x 16 threads, whole tiles only. Row y of the
// tile begins at word kPitch * y.
template <int kPitch>
__global__ void lecture(const float* in, float* out, int n, int m) {
  __shared__ float tile[16 * kPitch];
  int bx = blockIdx.x * 16, by = blockIdx.y * 16, tx = threadIdx.x, ty = threadIdx.y;
  tile[ty * kPitch + tx] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  out[(bx + ty) * n + by + tx] = tile[tx * kPitch + ty];
}

// Shorts with one short of padding: rows of 16.5 words.
template <class T>
__global__ void padded_by_one(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// Blocks of 32 x 8: each thread moves four rows of the 32 x 32 tile. kPad: words; kTurn: swizzled.
template <class T, int kPad, bool kTurn>
__global__ void four_rows(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + kPad * 4 / sizeof(T)];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += 8) {
    int row = threadIdx.y + j;
    if (x < m && y + j < n) {
      tile[row][threadIdx.x ^ (kTurn ? row : 0)] = in[(y + j) * m + x];
    }
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += 8) {
    int row = threadIdx.y + j;
    if (x < n && y + j < m) {
      out[(y + j) * n + x] = tile[threadIdx.x][row ^ (kTurn ? threadIdx.x : 0)];
    }
  }
}

// B4's path without vectors: the same tile, threads and elements per thread, one element at a time.
template <class T>
__global__ void best_by_elements(const T* in, T* out, int n, int m) {
  __shared__ T tile[kBestRows * kBestColumns];
  turn_by_elements(tile, in, out, n, m, corner());
}

// B4's path with vectors and tiles in row order: concurrent blocks read whole
// rows of `in`, and write pieces of many rows of `out`.
template <class T>
__global__ void best_along_rows(const T* in, T* out, int n, int m) {
  __shared__ Four<T> tile[kBestColumns][kDown];
  int2 first = {int(blockIdx.x) * kBestColumns, int(blockIdx.y) * kBestRows};
  turn_by_vectors(tile, in, out, n, m, first);
}

// A copy with the same grid: the time that remains without transposing.
template <class T>
__global__ void copy(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[y * m + x] = in[y * m + x];
}

}  // namespace variant

namespace {

char *in, *out, *expected;
unsigned* wrong;

__global__ void compare(const unsigned* a, const unsigned* b, size_t words, unsigned* wrong) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words; i += step) {
    if (a[i] != b[i]) atomicAdd(wrong, 1);
  }
}

struct Case {
  std::string task, form;
  int n, m;
  int tile_x, tile_y;
  dim3 block;
  size_t element;
  std::function<void(dim3 grid, dim3 block)> launch;
  size_t useful() const { return 2 * element * n * m; }
};

template <class T>
void add(std::vector<Case>& list, const char* task, int n, int m) {
  auto one = [&](const char* form, auto kernel, dim3 block, int wide = kTile, int high = kTile) {
    list.push_back({task, form, n, m, wide, high, block, sizeof(T), [=](dim3 grid, dim3 threads) {
                      kernel<<<grid, threads>>>((const T*)in, (T*)out, n, m);
                    }});
  };
  const dim3 square(32, 32), flat(32, 8), line(256);
  one("naive", transpose_naive<T>, square);
  one("naive, lanes down columns", variant::columns<T>, square);
  one("tile to columns", variant::tile_to_columns<T>, square);
  one("tiled", transpose_tiled<T>, square);
  one("padded", transpose_padded<T>, square);
  one("swizzled", transpose_swizzled<T>, square);
  if (sizeof(T) == 2) one("padded by one", variant::padded_by_one<T>, square);
  one("tiled, 4 rows per thread", variant::four_rows<T, 0, false>, flat);
  one("padded, 4 rows per thread", variant::four_rows<T, 1, false>, flat);
  one("swizzled, 4 rows per thread", variant::four_rows<T, 0, true>, flat);
  one("best", transpose_best<T>, line, kBestColumns, kBestRows);
  one("best, by elements", variant::best_by_elements<T>, line, kBestColumns, kBestRows);
  if (n % 4 == 0 && m % 4 == 0)
    one("best, along rows", variant::best_along_rows<T>, line, kBestColumns, kBestRows);
  if constexpr (sizeof(T) == 4) {
    if (n % 16 != 0 || m % 16 != 0) return;  // whole tiles only
    one("16 wide, pitch 16", variant::lecture<16>, dim3(16, 16), 16, 16);
    one("16 wide, pitch 17", variant::lecture<17>, dim3(16, 16), 16, 16);
  }
}

std::vector<Case> cases(int n, int m) {
  std::vector<Case> list;
  add<float>(list, "float", n, m);
  add<short>(list, "short", n, m);
  return list;
}

void launch(const Case& c) {
  c.launch(dim3(ceil_div(c.m, c.tile_x), ceil_div(c.n, c.tile_y)), c.block);
  CHECK(cudaGetLastError());
}

// Runs once onto poison and compares with the first form of the type.
bool verified(const Case& c, bool first) {
  const size_t bytes = c.useful() / 2;
  CHECK(cudaMemset(out, 0xff, bytes));
  launch(c);
  if (first) CHECK(cudaMemcpy(expected, out, bytes, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  compare<<<1024, 256>>>((const unsigned*)out, (const unsigned*)expected, bytes / 4, wrong);
  unsigned count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count) fprintf(stderr, "%s, %s: %u words differ\n", c.task.c_str(), c.form.c_str(), count);
  return count == 0;
}

// Compares the first form with plain code on the host, so that the other forms are compared with correct results.
template <class T>
bool first_is_right(int n, int m) {
  const size_t count = size_t(n) * m;
  std::vector<T> from(count), to(count);
  CHECK(cudaMemcpy(from.data(), in, count * sizeof(T), cudaMemcpyDeviceToHost));
  transpose_naive<T>
      <<<dim3(ceil_div(m, 32), ceil_div(n, 32)), dim3(32, 32)>>>((const T*)in, (T*)out, n, m);
  CHECK(cudaMemcpy(to.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost));
  for (size_t y = 0; y < size_t(n); ++y)
    for (size_t x = 0; x < size_t(m); ++x)
      if (memcmp(&to[x * n + y], &from[y * m + x], sizeof(T)) != 0) return false;
  return true;
}

void print_time(const Case& c) {
  const size_t bytes = c.useful() / 2;
  const timing::Time time = timing::measure(31, [&] { launch(c); });
  const timing::Time copy = timing::measure(
      31, [&] { CHECK(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice)); });
  printf("%s,\"%s\",%dx%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", c.task.c_str(), c.form.c_str(), c.n,
         c.m, int(c.block.x * c.block.y), time.median_ms, time.min_ms, c.useful(),
         c.useful() / time.median_ms / 1e6, copy.median_ms, time.median_ms / copy.median_ms);
}

int time_all() {
  bool good = first_is_right<float>(1000, 2003) && first_is_right<short>(1000, 2003);
  printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
  const int sizes[][2] = {{4096, 4096}, {8192, 8192}, {16384, 16384}, {8190, 8194}, {16380, 16388}};
  for (const auto& [n, m] : sizes) {
    std::string task;
    for (const Case& c : cases(n, m)) {
      good &= verified(c, c.task != task);
      task = c.task;
      print_time(c);
    }
    // The lab's grid without transposing.
    print_time({"float", "copy kernel", n, m, kTile, kTile, dim3(kTile, kTile), sizeof(float),
                [n = n, m = m](dim3 grid, dim3 block) {
                  variant::copy<<<grid, block>>>((const float*)in, (float*)out, n, m);
                }});
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters") {
    fprintf(stderr, "usage: measure time|counters\n");
    return 2;
  }
  // ncu saves and restores all memory that a kernel may write, so its runs use less.
  const size_t bytes = size_t{4} * (what == "time" ? 16400 * 16400 : 4096 * 4096);
  in = (char*)timing::allocate(bytes, 1);
  out = (char*)timing::allocate(bytes, 2);
  expected = (char*)timing::allocate(bytes, 3);
  CHECK(cudaMalloc(&wrong, sizeof *wrong));
  CHECK(cudaDeviceSynchronize());
  if (what == "time") return time_all();

  // The launch order is printed so that collect.py can label ncu's rows.
  int id = 0;
  const int sizes[][2] = {{1024, 1024}, {1000, 2003}, {4096, 4096}};
  CHECK(cudaProfilerStart());
  for (const auto& size : sizes) {
    for (const Case& c : cases(size[0], size[1])) {
      printf("launch,%d,%s,\"%s\",%dx%d,%d\n", id++, c.task.c_str(), c.form.c_str(), c.n, c.m,
             int(c.block.x * c.block.y));
      launch(c);
    }
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
