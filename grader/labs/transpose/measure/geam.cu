// Times transpose_best, cuBLAS' geam and a device-to-device copy of floats alternately, so that changes of
// the clocks affect all three. CSV on stdout; measure.sh compiles it if cuBLAS is installed.
#include <cublas_v2.h>

#include "../../../../solutions/transpose/transpose.cu"
#include "../../../tools/measure/timing.cuh"
#include "lab32.cuh"

namespace {

constexpr int kRounds = 31, kInARow = 20;

struct Contestant {
  const char* name;
  std::function<void()> work;
  std::vector<double> cold_us = {}, warm_us = {};
};

void require(bool good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

double in_a_row(const std::function<void()>& work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  work();  // keeps the GPU busy while the host enqueues the launches
  work();
  CHECK(cudaEventRecord(start));
  for (int i = 0; i < kInARow; ++i) work();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return 1000 * ms / kInARow;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  printf("n,form,cold_us,warm_us,times_copy_cold,times_copy_warm\n");
  cublasHandle_t blas;
  require(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS, "no cuBLAS");
  for (const int n : {512, 1024, 2048, 4096, 8192}) {
    const size_t bytes = size_t{4} * n * n;
    auto* in = static_cast<float*>(timing::allocate(bytes, 1));
    auto* out = static_cast<float*>(timing::allocate(bytes, 2));
    auto* other = static_cast<float*>(timing::allocate(bytes, 3));
    const float one = 1, zero = 0;
    Contestant all[] = {
        {"copy", [&] { CHECK(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice)); }},
        {"transpose_best",
         [&] {
           transpose_best<<<dim3(n / kBestColumns, n / kBestRows), kBestThreads>>>(in, out, n, n);
         }},
        {"geam", [&] {
           require(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, in, n, &zero, other, n,
                               other, n) == CUBLAS_STATUS_SUCCESS,
                   "geam failed");
         }}};
    for (int k = 0; k < kRounds; ++k) {
      for (Contestant& c : all) {
        c.cold_us.push_back(1000 * timing::measure(1, c.work).median_ms);
        c.warm_us.push_back(in_a_row(c.work));
      }
    }
    all[1].work();
    std::vector<float> ours(size_t(n) * n), theirs(size_t(n) * n);
    CHECK(cudaMemcpy(ours.data(), out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(theirs.data(), other, bytes, cudaMemcpyDeviceToHost));
    // Some words are NaN as floats, which geam's multiplication would change.
    for (size_t i = 0; i < ours.size(); ++i)
      require(ours[i] == theirs[i] || !(ours[i] < INFINITY && ours[i] > -INFINITY) ||
                  (fabsf(ours[i]) < 1.2e-38f && theirs[i] == 0),
              "geam and transpose_best differ");
    for (const Contestant& c : all)
      printf("%d,%s,%.3f,%.3f,%.4f,%.4f\n", n, c.name, median(c.cold_us), median(c.warm_us),
             median(c.cold_us) / median(all[0].cold_us),
             median(c.warm_us) / median(all[0].warm_us));
    for (float* buffer : {in, out, other}) CHECK(cudaFree(buffer));
  }
  return 0;
}
