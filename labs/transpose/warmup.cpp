// The warm-up, on the CPU: the same work in two orders, and what a cache line is.
//
//   g++ -O1 labs/transpose/warmup.cpp -o warmup && ./warmup
//
// It runs for some seconds and prints CSV; report.ipynb runs it too, and draws it beside the SYSU
// Lecture's times. With -O3 some compilers exchange the loops for you: look at both.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

// The SYSU Lecture has N = 50000 for the walks and 3000 for the product. What counts is that a
// column does not stay in a cache: 256 MB, and for the product three matrices of 4 MB.
constexpr size_t kWalk = 8000, kProduct = 1000;
constexpr int kRepeats = 3;
constexpr double kLongMs = 500;  // what takes longer is done once: little disturbs it

// The best of some repeats, in ms: other programs can only make it slower.
template <class Work>
double best_ms(Work work) {
  double best = 1e30;
  for (int k = 0; k < kRepeats && (k == 0 || best < kLongMs); ++k) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void print(const char* what, const char* form, size_t size, double ms, size_t accesses) {
  std::printf("%s,%s,%zu,%.3f,%.3f\n", what, form, size, ms, ms * 1e6 / accesses);
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::printf("what,form,size,ms,ns_each\n");
  std::vector<int> mat(kWalk * kWalk, 1);
  volatile long long sink = 0;  // or the compiler need not compute the sum

  print("walk", "row by row", kWalk, best_ms([&] {
          long long sum = 0;
          for (size_t i = 0; i < kWalk; ++i)
            for (size_t j = 0; j < kWalk; ++j) sum += mat[i * kWalk + j];
          sink = sum;
        }),
        mat.size());
  print("walk", "column by column", kWalk, best_ms([&] {
          long long sum = 0;
          for (size_t i = 0; i < kWalk; ++i)
            for (size_t j = 0; j < kWalk; ++j) sum += mat[j * kWalk + i];
          sink = sum;
        }),
        mat.size());

  // C += A * B, with the two inner loops in either order. The innermost index runs through B down a
  // column in the first form, and along a row of B and of C in the second.
  const size_t n = kProduct;
  std::vector<int> a(n * n, 1), b(n * n, 2), c(n * n, 0);
  print("product", "ijk", n, best_ms([&] {
          for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
              for (size_t k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }),
        n * n * n);
  print("product", "ikj", n, best_ms([&] {
          for (size_t i = 0; i < n; ++i)
            for (size_t k = 0; k < n; ++k)
              for (size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }),
        n * n * n);
  sink = c[n + 1];

  // Every stride-th int of the same memory: as long as several of them share a line, the line comes
  // once for all of them.
  for (size_t stride : {1, 2, 4, 8, 16, 32, 64}) {
    const size_t touched = mat.size() / stride;
    print("stride", "ints", stride, best_ms([&] {
            long long sum = 0;
            for (size_t i = 0; i < touched; ++i) sum += mat[i * stride];
            sink = sum;
          }),
          touched);
  }
  return 0;
}
