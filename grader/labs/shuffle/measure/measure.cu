// Measures the kernels of the shuffle lab on a real GPU, with the variants that the handout
// mentions.
//
//   measure time       CSV on stdout: median times with a cold L2, and those of a device-to-device copy
//   measure results    CSV on stdout: sums of floats in several orders
//   measure counters   launches each kernel once under ncu
//
// measure.sh runs all three. The kernels of the lab are those of solutions/ themselves.
#include <cuda_profiler_api.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "../../../tools/measure/timing.cuh"
#include "variants.cuh"

namespace {

constexpr int kTotals = 1 << 20;

size_t most = size_t{1} << 28;  // elements of `in`: 1 GiB

float *in, *out, *more;  // in: noise; out: as large; more: a second buffer for passes
int* keys;
int* ints;

// A form of a task: its launch, and the result, which all forms of the task share.
struct Case {
  std::string task, form;
  int n, block;
  size_t useful;  // bytes the task must move
  std::function<void()> launch;
  size_t results = 0;  // number of floats at `out` to compare; 0: none
};

// Inputs: [-1, 1), whole numbers from -3 to 3, ones; keys of several kinds.
__global__ void make_noise(float* to, size_t n) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < n; i += gridDim.x * size_t{256}) {
    unsigned h = unsigned(i) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    to[i] = float(int(h >> 8) - (1 << 23)) * 0x1p-23f;
  }
}
__global__ void make_whole(float* to, int* also, size_t n) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < n; i += gridDim.x * size_t{256}) {
    unsigned h = unsigned(i) * 2654435761u;
    also[i] = int((h ^ h >> 15) % 7) - 3;
    to[i] = float(also[i]);
  }
}
__global__ void make_constant(float* to, size_t n, float value) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < n; i += gridDim.x * size_t{256})
    to[i] = value;
}

enum class Keys { four, runs, scattered };
__global__ void make_keys(int* to, size_t n, Keys kind) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < n; i += gridDim.x * size_t{256}) {
    unsigned h = unsigned(i) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    to[i] =
        kind == Keys::four
            ? int((i % 32 < 4 ? i % 32 : h % 4) * 8 + i / 32 % 8)  // four of 32 totals in each warp
        : kind == Keys::runs ? int(i / 32 % kTotals)               // one of a million
                             : int(h % kTotals);                   // almost all different
  }
}

void noise() { make_noise<<<1024, 256>>>(in, most); }
void whole() { make_whole<<<1024, 256>>>(in, ints, most); }

// Passes until one number is left, as in the Shuffle Lesson; the result is in `out`.
template <class Kernel>
void passes(Kernel kernel, int n, int block) {
  const float* from = in;
  float *to = out, *next = more;
  do {
    int blocks = ceil_div(n, 2 * block);
    kernel<<<blocks, block>>>(from, to, n);
    from = to;
    n = blocks;
    std::swap(to, next);
  } while (n > 1);
  if (from != out) CHECK(cudaMemcpyAsync(out, from, 4, cudaMemcpyDeviceToDevice));
}

// These kernels add to totals, so zeroing the totals is part of their time.
template <class Kernel, class... Arguments>
std::function<void()> adding(Kernel kernel, int blocks, size_t bytes, Arguments... arguments) {
  return [=] {
    CHECK(cudaMemsetAsync(out, 0, bytes));
    kernel<<<blocks, kBlock>>>(arguments...);
  };
}

std::vector<Case> sums(int n) {
  const size_t useful = size_t{4} * n;
  const int blocks = ceil_div(n, kBlock);
  const std::string task = "sum";
  std::vector<Case> list = {
      {task, "reduce_atomic", n, 256, useful, adding(reduce_atomic<float>, blocks, 4, in, out, n),
       1},
      {task, "reduce_shared", n, 256, useful, [=] { passes(reduce_shared, n, 256); }, 1},
      {task, "reduce_shuffle", n, 256, useful, [=] { passes(reduce_shuffle, n, 256); }, 1},
      {task, "reduce_shared, 1024 threads", n, 1024, useful,
       [=] { passes(variant::tree, n, 1024); }, 1},
      {task, "reduce_shuffle, 1024 threads", n, 1024, useful,
       [=] { passes(reduce_shuffle, n, 1024); }, 1},
      {task, "sum_by_warps", n, 256, useful, adding(sum_by_warps, blocks, 4, in, out, n), 1},
      {task, "sum_by_blocks", n, 256, useful, adding(sum_by_blocks, blocks, 4, in, out, n), 1},
      {task, "lanes to block to total", n, 256, useful,
       adding(variant::lanes_to_block, blocks, 4, in, out, n), 1},
      {task, "warps to block to total", n, 256, useful,
       adding(variant::warps_to_block, blocks, 4, in, out, n), 1}};
  int* total = (int*)out;
  list.push_back({"int sum", "reduce_atomic", n, 256, useful,
                  adding(reduce_atomic<int>, blocks, 4, ints, total, n), 1});
  list.push_back({"int sum", "by warps", n, 256, useful,
                  adding(variant::int_by_warps, blocks, 4, ints, total, n), 1});
  return list;
}

std::vector<Case> by_key(const std::string& task, int n, size_t totals) {
  const int blocks = ceil_div(n, kBlock);
  const size_t useful = size_t{8} * n;
  return {{task, "an add per lane", n, 256, useful,
           adding(variant::add_by_key, blocks, 4 * totals, keys, in, out, n), totals},
          {task, "sum_by_key", n, 256, useful,
           adding(sum_by_key, blocks, 4 * totals, keys, in, out, n), totals}};
}

std::vector<Case> counts(int n) {
  const int blocks = ceil_div(n, variant::kShare);
  int* bins = (int*)out;
  return {{"count", "one level", n, 256, size_t{4} * n,
           adding(variant::count_one_level, blocks, 1024, keys, bins, n), 256},
          {"count", "two levels", n, 256, size_t{4} * n,
           adding(variant::count_two_levels, blocks, 1024, keys, bins, n), 256}};
}

std::vector<Case> rows(int elements, int columns) {
  const int count = elements / columns, warps = ceil_div(count, 4);
  const size_t read = size_t{4} * elements;
  float *second = out + count, *weight = more, *bias = more + 4096;
  std::vector<Case> list;
  const auto moments = [&](const char* form, auto kernel) {
    list.push_back({"moments", form, columns, 128, read,
                    [=] { kernel<<<warps, 128>>>(in, out, second, count, columns); },
                    size_t(2) * count});
  };
  list.push_back({"range", "row_range", columns, 128, read,
                  [=] { row_range<<<warps, 128>>>(in, out, second, count, columns); }});
  moments("row_moments", row_moments);
  moments("one by one", variant::moments_one_by_one);
  moments("two passes", variant::moments_twice);
  moments("sums of squares", variant::moments_of_squares);
  const size_t all = elements;
  list.push_back({"softmax", "softmax", columns, 256, 2 * read,
                  [=] { softmax<<<count, 256>>>(in, out, columns); }, all});
  list.push_back({"softmax", "three passes", columns, 256, 2 * read,
                  [=] { variant::softmax_thrice<<<count, 256>>>(in, out, columns); }, all});
  if (columns <= 1024) {
    list.push_back({"softmax", "a warp per row", columns, 128, 2 * read,
                    [=] { variant::softmax_by_warps<<<warps, 128>>>(in, out, count, columns); },
                    all});
  }
  list.push_back({"layer_norm", "layer_norm", columns, 256, 2 * read,
                  [=] { layer_norm<<<count, 256>>>(in, weight, bias, out, columns, 1e-5f); }, all});
  list.push_back(
      {"layer_norm", "three passes", columns, 256, 2 * read,
       [=] { variant::layer_norm_thrice<<<count, 256>>>(in, weight, bias, out, columns, 1e-5f); },
       all});
  return list;
}

// Runs once on poisoned output and compares it with the first form of the task: exactly where sums are of
// whole numbers, else within a part in 10^4 (and 10^-6 near zero).
bool verified(const Case& c, std::map<std::string, std::vector<float>>& first, bool exact) {
  if (c.results == 0) return true;
  CHECK(cudaMemset(out, 0xff, 4 * c.results));
  c.launch();
  CHECK(cudaGetLastError());
  std::vector<float> got(c.results);
  CHECK(cudaMemcpy(got.data(), out, 4 * c.results, cudaMemcpyDeviceToHost));
  const auto [entry, fresh] = first.try_emplace(c.task, got);
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const float want = entry->second[i];
    const bool same = memcmp(&got[i], &want, 4) == 0;
    wrong += !(same || (!exact && std::abs(got[i] - want) <= 1e-4f * std::abs(want) + 1e-6f));
  }
  if (wrong)
    fprintf(stderr, "%s, %s, %d: %zu differ\n", c.task.c_str(), c.form.c_str(), c.n, wrong);
  return wrong == 0;
}

bool time_cases(const std::vector<Case>& list, bool exact) {
  std::map<std::string, std::vector<float>> first;
  bool good = true;
  for (const Case& c : list) {
    good &= verified(c, first, exact);
    const int repeats = c.form == "reduce_atomic" && c.useful > 100 << 20 ? 5 : 21;
    const timing::Time time = timing::measure(repeats, c.launch);
    CHECK(cudaGetLastError());
    const timing::Time copy = timing::measure(
        21, [&] { CHECK(cudaMemcpyAsync(out, in, c.useful / 2, cudaMemcpyDeviceToDevice)); });
    printf("%s,\"%s\",%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", c.task.c_str(), c.form.c_str(), c.n,
           c.block, time.median_ms, time.min_ms, c.useful, c.useful / time.median_ms / 1e6,
           copy.median_ms, time.median_ms / copy.median_ms);
  }
  return good;
}

int time_all() {
  bool good = true;
  printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
  whole();
  for (int n : {1 << 20, 1 << 24, 1 << 28}) good &= time_cases(sums(n), true);
  for (const auto& [task, kind, totals] : {std::tuple{"four keys per warp", Keys::four, size_t{32}},
                                           {"one key per warp", Keys::runs, size_t{kTotals}},
                                           {"scattered keys", Keys::scattered, size_t{kTotals}}}) {
    make_keys<<<1024, 256>>>(keys, most / 4, kind);
    good &= time_cases(by_key(task, 1 << 24, totals), true);
  }
  good &= time_cases(counts(1 << 26), true);  // the scattered keys
  noise();
  make_noise<<<64, 256>>>(more, 8192);
  for (int columns : {256, 1024, 4096}) good &= time_cases(rows(1 << 26, columns), false);
  return good ? 0 : 1;
}

// Repeats each of the lab's sums: counts different results, and their distance from the true sum.
int results() {
  printf("input,form,n,runs,different,first,lowest,highest,exact\n");
  std::vector<float> host(size_t{1} << 26);
  const auto show = [&](const char* input, int n) {
    CHECK(cudaMemcpy(host.data(), in, size_t{4} * n, cudaMemcpyDeviceToHost));
    double exact = 0;
    float serial = 0;
    for (int i = 0; i < n; ++i) exact += host[i], serial += host[i];
    printf("%s,one by one on the host,%d,1,1,%.9g,%.9g,%.9g,%.17g\n", input, n, serial, serial,
           serial, exact);
    for (const Case& c : sums(n)) {
      if (c.task != "sum" || c.block != 256) continue;
      std::set<float> seen;
      float first = 0;
      for (int run = 0; run < 20; ++run) {
        c.launch();
        float got;
        CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
        if (run == 0) first = got;
        seen.insert(got);
      }
      printf("%s,%s,%d,20,%zu,%.9g,%.9g,%.9g,%.17g\n", input, c.form.c_str(), n, seen.size(), first,
             *seen.begin(), *seen.rbegin(), exact);
    }
  };
  for (int n : {1 << 24, 1 << 25, 1 << 26}) {
    make_constant<<<1024, 256>>>(in, n, 1.0f);
    show("ones", n);
  }
  noise();
  for (int n : {1 << 20, 1 << 24}) show("noise", n);
  make_constant<<<1024, 256>>>(in, 1024, 1e-40f);
  show("1e-40", 1024);
  CHECK(cudaDeviceSynchronize());
  return 0;
}

// For ncu: the kernels that the grader launches, at its sizes, one each.
int count_all() {
  whole();
  int id = 0;
  const auto one = [&](const char* task, const char* form, int n, int block, auto kernel, int grid,
                       auto... arguments) {
    printf("launch,%d,%s,\"%s\",%d,%d\n", id++, task, form, n, block);
    kernel<<<grid, block>>>(arguments...);
    CHECK(cudaGetLastError());
  };
  CHECK(cudaMemset(out, 0, 1 << 20));
  make_keys<<<1024, 256>>>(keys, 1 << 24, Keys::four);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStart());
  for (int n : {1 << 18, 1 << 24}) {
    one("sum", "reduce_shared", n, 256, reduce_shared, n / 512, in, out, n);
    one("sum", "reduce_shuffle", n, 256, reduce_shuffle, n / 512, in, out, n);
    one("sum", "reduce_atomic", n, 256, reduce_atomic<float>, n / 256, in, out, n);
    one("int sum", "reduce_atomic", n, 256, reduce_atomic<int>, n / 256, ints, (int*)out, n);
    one("int sum", "by warps", n, 256, variant::int_by_warps, n / 256, ints, (int*)out, n);
    one("sum", "sum_by_warps", n, 256, sum_by_warps, n / 256, in, out, n);
    one("sum", "sum_by_blocks", n, 256, sum_by_blocks, n / 256, in, out, n);
    one("sum", "lanes to block to total", n, 256, variant::lanes_to_block, n / 256, in, out, n);
    one("sum", "warps to block to total", n, 256, variant::warps_to_block, n / 256, in, out, n);
  }
  for (int n : {1 << 16, 1 << 24}) {
    one("four keys per warp", "an add per lane", n, 256, variant::add_by_key, n / 256, keys, in, out,
        n);
    one("four keys per warp", "sum_by_key", n, 256, sum_by_key, n / 256, keys, in, out, n);
  }
  const int n = 1 << 24;
  one("count", "one level", n, 256, variant::count_one_level, n / variant::kShare, keys, (int*)out,
      n);
  one("count", "two levels", n, 256, variant::count_two_levels, n / variant::kShare, keys,
      (int*)out, n);
  float *second = out + 64, *weight = more, *bias = more + 4096;
  one("range", "row_range", 4096, 128, row_range, 16, in, out, second, 64, 4096);
  one("moments", "row_moments", 4096, 128, row_moments, 16, in, out, second, 64, 4096);
  one("moments", "two passes", 4096, 128, variant::moments_twice, 16, in, out, second, 64, 4096);
  one("softmax", "softmax", 4096, 256, softmax, 64, in, out, 4096);
  one("softmax", "three passes", 4096, 256, variant::softmax_thrice, 64, in, out, 4096);
  one("layer_norm", "layer_norm", 4096, 256, layer_norm, 64, in, weight, bias, out, 4096, 1e-5f);
  one("layer_norm", "three passes", 4096, 256, variant::layer_norm_thrice, 64, in, weight, bias,
      out, 4096, 1e-5f);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "results" && what != "counters") {
    fprintf(stderr, "usage: measure time|results|counters\n");
    return 2;
  }
  if (what == "counters") most = 1 << 24;  // ncu saves and restores memory
  in = (float*)timing::allocate(4 * most, 1);
  out = (float*)timing::allocate(4 * most, 2);
  more = (float*)timing::allocate(4 * most, 3);
  ints = (int*)timing::allocate(4 * most, 4);
  keys = (int*)timing::allocate(4 * most, 5);
  CHECK(cudaDeviceSynchronize());
  return what == "time" ? time_all() : what == "results" ? results() : count_all();
}
