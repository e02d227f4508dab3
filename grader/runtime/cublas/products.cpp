#include "runtime/cublas/products.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "runtime/cublas/values.h"

namespace lab32::cublas {
namespace {

// ---- OpenBLAS, the CPU library that computes the products; loaded at the first product ---------

namespace fs = std::filesystem;

// The OpenBLAS version that expected results were made with: the one in grader/setup/openblas.txt,
// which a test compares.
constexpr char kPinned[] = "scipy-openblas32==0.3.34.481.3";
constexpr char kWheel[] = "scipy_openblas32/lib/libscipy_openblas.so";

// The paths at which OpenBLAS may be: a checkout has it in .venv, an installed lab32 wheel beside
// itself in site-packages; the last one is the system's library path.
std::vector<fs::path> possible_openblas_paths() {
  if (const std::string named = environment_value(variables::kOpenBlas); !named.empty())
    return {named};
  std::vector<fs::path> found;
  const fs::path top = lab32_root();
  std::error_code error;
  for (const auto& python : fs::directory_iterator(top / ".venv/lib", error))
    found.push_back(python.path() / "site-packages" / kWheel);
  if (top.filename() == "tree") found.push_back(top.parent_path().parent_path() / kWheel);
  found.emplace_back("libopenblas.so.0");
  return found;
}

std::string openblas_install_command() {
  std::error_code error;
  const fs::path top = lab32_root();
  if (fs::exists(top / "grader/setup/setup", error))
    return fmt::format("{} openblas", (top / "grader/setup/setup").string());
  const std::string pip = std::string("pip install ") + kPinned;
  if (top.filename() == "tree") return pip;
  return fmt::format(
      "apt-get install libopenblas0; or {}, with LAB32_OPENBLAS set to its libscipy_openblas.so",
      pip);
}

void* load_openblas() {
  // One thread and the kernels of one processor type make a product reproducible on every machine
  // that can run these kernels.
  const ScopedEnvironmentVariable one_thread(variables::kOpenBlasThreads, "1");
  std::optional<ScopedEnvironmentVariable> one_kind;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    one_kind.emplace(variables::kOpenBlasCore, "Haswell");
#else
  one_kind.emplace(variables::kOpenBlasCore, "ARMV8");
#endif
  std::string why;
  for (const fs::path& place : possible_openblas_paths()) {
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = dlerror();
  }
  throw Error(
      fmt::format("the CPU library OpenBLAS computes matrix products, but it is not installed "
                  "({}); install it with: "
                  "{}",
                  why, openblas_install_command()));
}

// The names in the wheel's library have the prefix `scipy_`.
void* openblas_function(const char* name) {
  static void* const library = load_openblas();
  if (void* found = dlsym(library, (std::string("scipy_") + name).c_str())) return found;
  if (void* found = dlsym(library, name)) return found;
  throw Error(fmt::format("the installed OpenBLAS has no function {}", name));
}

constexpr int kColumns = 102;  // CblasColMajor
int op(char c) { return c == 'N' ? 111 : c == 'T' ? 112 : 113; }

template <class T>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<float> = "cblas_sgemm";
template <>
constexpr const char* kName<double> = "cblas_dgemm";
template <>
constexpr const char* kName<std::complex<float>> = "cblas_cgemm";
template <>
constexpr const char* kName<std::complex<double>> = "cblas_zgemm";

// BLAS takes real scalars by value and complex scalars by address.
template <class T>
struct CblasScalarArgument {
  using Type = T;
  static T pass(const T& value) { return value; }
};
template <class T>
struct CblasScalarArgument<std::complex<T>> {
  using Type = const void*;
  static const void* pass(const std::complex<T>& value) { return &value; }
};

// The operations are 'N', 'T' or 'C'. Matrices are in column-major order.
template <class T>
struct OpenBlasGemmArguments {
  char op_a, op_b;
  int m, n, k;
  T alpha;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  T beta;
  T* c;
  int ldc;
};

// C = alpha op(A) op(B) + beta C. C is not read if beta is 0; A and B are not read if alpha or k is
// 0. Throws Error if OpenBLAS is missing; the message has the command that installs it.
template <class T>
void gemm(const OpenBlasGemmArguments<T>& g) {
  using ScalarFactor = typename CblasScalarArgument<T>::Type;
  using Function = void (*)(int, int, int, int, int, int, ScalarFactor, const T*, int, const T*,
                            int, ScalarFactor, T*, int);
  static const auto call = reinterpret_cast<Function>(openblas_function(kName<T>));
  call(kColumns, op(g.op_a), op(g.op_b), g.m, g.n, g.k, CblasScalarArgument<T>::pass(g.alpha), g.a,
       g.lda, g.b, g.ldb, CblasScalarArgument<T>::pass(g.beta), g.c, g.ldc);
}

// ---- products of all types and batches ----

// The status for wrong arguments, which are checked in the order in which an H100 checks them;
// nullopt if all arguments are right.
std::optional<cublasStatus_t> status_of_wrong_arguments(const XerblaArgumentPositions& at,
                                                        const CublasGemmArguments& p,
                                                        const GemmBatchLayout& batch) {
  const auto least = [](int64_t rows) { return std::max<int64_t>(1, rows); };
  if (!is_valid_operation(p.op_a)) return report_illegal_parameter(at.routine, 1);
  if (!is_valid_operation(p.op_b)) return report_illegal_parameter(at.routine, 2);
  if (p.m < 0) return report_illegal_parameter(at.routine, 3);
  if (p.n < 0) return report_illegal_parameter(at.routine, 4);
  if (p.k < 0) return report_illegal_parameter(at.routine, 5);
  if (p.lda < least(p.op_a == CUBLAS_OP_N ? p.m : p.k))
    return report_illegal_parameter(at.routine, at.lda);
  if (p.ldb < least(p.op_b == CUBLAS_OP_N ? p.k : p.n))
    return report_illegal_parameter(at.routine, at.ldb);
  if (p.ldc < least(p.m)) return report_illegal_parameter(at.routine, at.ldc);
  if (batch.count < 0)
    return at.count ? report_illegal_parameter(at.routine, at.count)
                    : CUBLAS_STATUS_EXECUTION_FAILED;
  return std::nullopt;
}

int int_or_throw(int64_t n) {
  if (n > std::numeric_limits<int>::max())
    throw Error(fmt::format("matrices with more than 2^31 - 1 rows or columns ({})", n));
  return static_cast<int>(n);
}

struct GemmOperandPointers {
  const void *a, *b;
  void* c;
};

// The operands of each product in the batch.
template <class T, class C>
std::vector<GemmOperandPointers> operands_of_batch(CheckedOperandAccess& access,
                                                   const CublasGemmArguments& p,
                                                   const GemmBatchLayout& batch) {
  std::vector<GemmOperandPointers> all;
  const auto list = [&](const char* name, const void* at) {
    return batch.listed ? access.pointer_to_read<const void*>(name, at, vector_of(batch.count, 1))
                        : nullptr;
  };
  const void* const* a = list("the list of A", p.a);
  const void* const* b = list("the list of B", p.b);
  const void* const* c = list("the list of C", p.c);
  for (int64_t i = 0; i < batch.count; ++i) {
    if (batch.listed)
      all.push_back({a[i], b[i], const_cast<void*>(c[i])});
    else
      all.push_back({static_cast<const T*>(p.a) + i * batch.step_a,
                     static_cast<const T*>(p.b) + i * batch.step_b,
                     static_cast<C*>(p.c) + i * batch.step_c});
  }
  return all;
}

// Returns a copy without gaps, converted to the type of the computation.
template <class To, class From>
std::vector<To> widened_copy(const From* from, const MatrixExtent& e) {
  std::vector<To> to(static_cast<size_t>(e.rows * e.columns));
  for (int64_t j = 0; from && j < e.columns; ++j)
    for (int64_t i = 0; i < e.rows; ++i)
      to[static_cast<size_t>(j * e.rows + i)] =
          static_cast<To>(promoted_for_arithmetic(from[j * e.leading + i]));
  return to;
}

template <class T>
struct MatrixView {
  const T* at;
  MatrixExtent extent;
};

// C = alpha op(A) op(B) + beta C. BLAS computes the types that it has; other types are converted
// first.
template <class T, class C, class S>
void compute_unbatched_gemm(const CublasGemmArguments& p, const MatrixView<T>& a,
                            const MatrixView<T>& b, C* c, S alpha, S beta) {
  const int m = int_or_throw(p.m), n = int_or_throw(p.n), k = int_or_throw(p.k);
  const char op_a = operation_letter(p.op_a), op_b = operation_letter(p.op_b);
  if constexpr (std::is_same_v<T, C> && std::is_same_v<T, S>) {
    gemm<T>({op_a, op_b, m, n, k, alpha, a.at, int_or_throw(p.lda), b.at, int_or_throw(p.ldb), beta,
             c, int_or_throw(p.ldc)});
  } else {
    using R = Reckoned<T>;
    // Sums of 8-bit integers are integers, which double precision holds exactly.
    constexpr bool whole = std::is_same_v<T, int8_t>;
    const std::vector<R> A = widened_copy<R>(a.at, a.extent), B = widened_copy<R>(b.at, b.extent);
    std::vector<R> sums(static_cast<size_t>(p.m * p.n));
    const bool adds = !whole && beta != S();
    if (adds) sums = widened_copy<R>(c, {p.m, p.n, p.ldc});
    gemm<R>({op_a, op_b, m, n, k, whole ? R(1) : R(alpha), A.data(),
             std::max(1, int_or_throw(a.extent.rows)), B.data(),
             std::max(1, int_or_throw(b.extent.rows)), adds ? R(beta) : R(0), sums.data(),
             std::max(1, m)});
    for (int64_t j = 0; j < p.n; ++j) {
      for (int64_t i = 0; i < p.m; ++i) {
        const R sum = sums[static_cast<size_t>(j * p.m + i)];
        C& to = c[j * p.ldc + i];
        if constexpr (!whole) {
          to = rounded<C>(sum);
        } else if constexpr (std::is_same_v<C, int32_t>) {
          // Overflow wraps around, as in a GPU's adders.
          const auto exact = static_cast<uint32_t>(static_cast<int64_t>(sum));
          const uint32_t old =
              beta == S() ? 0 : static_cast<uint32_t>(beta) * static_cast<uint32_t>(to);
          to = static_cast<int32_t>(static_cast<uint32_t>(alpha) * exact + old);
        } else {
          to = static_cast<C>(alpha * static_cast<S>(sum) + (beta == S() ? S() : beta * to));
        }
      }
    }
  }
}

// T is the type of A and B, C that of C, S that of alpha and beta.
template <class T, class C, class S, class GivenScalar = S>
cublasStatus_t submit_products(Runtime& r, cublasHandle_t handle, const char* name,
                               const CublasGemmArguments& p, const GemmBatchLayout& batch) {
  const ScalarFactor<GivenScalar> alpha(handle, "alpha", p.alpha), beta(handle, "beta", p.beta);
  if (p.m == 0 || p.n == 0 || batch.count == 0) return CUBLAS_STATUS_SUCCESS;
  if (alpha.is_null() || beta.is_null() || !p.c) return CUBLAS_STATUS_INVALID_VALUE;
  const std::optional<GivenScalar> known_alpha = alpha.value_if_known();
  const bool needed =
      p.k != 0 && !(known_alpha && static_cast<S>(promoted_for_arithmetic(*known_alpha)) == S());
  if (needed && (!p.a || !p.b)) return CUBLAS_STATUS_INVALID_VALUE;
  const auto misplaced = [&](const void* at, uint64_t bytes) {
    return reinterpret_cast<uint64_t>(at) % std::min<uint64_t>(bytes, 8) != 0;
  };
  if (misplaced(p.a, sizeof(T)) || misplaced(p.b, sizeof(T)) || misplaced(p.c, sizeof(C)))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  std::string arguments = fmt::format("{} {}, {} x {} x {}", operation_letter(p.op_a),
                                      operation_letter(p.op_b), p.m, p.n, p.k);
  if (batch.count > 1) arguments += fmt::format(", {} of them", batch.count);

  return run_or_capture(r, handle, name, arguments, [=](Runtime&, CheckedOperandAccess& access) {
    const auto factor = [&](const ScalarFactor<GivenScalar>& s) {
      return static_cast<S>(promoted_for_arithmetic(s.get(access)));
    };
    const S a = factor(alpha), b = factor(beta);
    const bool reads = p.k != 0 && a != S();
    const MatrixExtent rows_a =
        p.op_a == CUBLAS_OP_N ? MatrixExtent{p.m, p.k, p.lda} : MatrixExtent{p.k, p.m, p.lda};
    const MatrixExtent rows_b =
        p.op_b == CUBLAS_OP_N ? MatrixExtent{p.k, p.n, p.ldb} : MatrixExtent{p.n, p.k, p.ldb};
    if (batch.count > 1 && !batch.listed && batch.step_c == 0)
      throw Error(
          "two products of the batch are written to the same place, so the result is not defined");
    for (const GemmOperandPointers& one : operands_of_batch<T, C>(access, p, batch)) {
      const T* A = reads ? access.pointer_to_read<T>("A", one.a, rows_a) : nullptr;
      const T* B = reads ? access.pointer_to_read<T>("B", one.b, rows_b) : nullptr;
      C* to = access.pointer_to_update<C>("C", one.c, {p.m, p.n, p.ldc}, b != S());
      const MatrixExtent rows_c{p.m, p.n, p.ldc};
      if (reads && sizeof(T) == sizeof(C) &&
          (operands_overlap(one.a, rows_a, one.c, rows_c, sizeof(T)) ||
           operands_overlap(one.b, rows_b, one.c, rows_c, sizeof(T))))
        throw Error("C overlaps A or B, so the result is not defined");
      CublasGemmArguments of = p;
      if (!reads) of.k = 0;
      const MatrixExtent none{1, 0, 1};
      compute_unbatched_gemm<T, C, S>(of, {A, reads ? rows_a : none}, {B, reads ? rows_b : none},
                                      to, a, b);
      // On tensor cores, memory limits products of halves and bytes, so operations are counted only
      // for wider types.
      if (sizeof(T) >= 4)
        access.count_operations(2.0 * (kComplex<T> ? 4 : 1) * static_cast<double>(p.m) *
                                static_cast<double>(p.n) * static_cast<double>(of.k));
    }
  });
}

bool is_one_of(cublasComputeType_t type, std::initializer_list<int> list) {
  return std::find(list.begin(), list.end(), static_cast<int>(type)) != list.end();
}

}  // namespace

cublasStatus_t multiply(cublasHandle_t handle, const char* name,
                        const XerblaArgumentPositions& places, const CublasGemmArguments& p,
                        const ProductTypes& types, const GemmBatchLayout& batch) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (const auto status = status_of_wrong_arguments(places, p, batch)) return *status;
    // The types that an H100 accepts. A fast mode permits fewer bits; the simulator keeps all of
    // them.
    const bool half = is_one_of(types.compute, {64, 65});
    const bool single = is_one_of(types.compute, {68, 69, 74, 75, 77, 78});
    const bool twice = is_one_of(types.compute, {70, 71, 79});
    const bool whole = is_one_of(types.compute, {72, 73});
    const auto are = [&](cudaDataType ab, cudaDataType c) {
      return types.ab == ab && types.c == c;
    };
    using Complex = std::complex<float>;
    using DoubleComplex = std::complex<double>;
#define PRODUCTS(...) return submit_products<__VA_ARGS__>(r, handle, name, p, batch)
    if (half && are(CUDA_R_16F, CUDA_R_16F)) PRODUCTS(sim::F16, sim::F16, float, sim::F16);
    if (single && are(CUDA_R_16F, CUDA_R_16F)) PRODUCTS(sim::F16, sim::F16, float);
    if (single && are(CUDA_R_16F, CUDA_R_32F)) PRODUCTS(sim::F16, float, float);
    if (single && are(CUDA_R_16BF, CUDA_R_16BF)) PRODUCTS(sim::BF16, sim::BF16, float);
    if (single && are(CUDA_R_16BF, CUDA_R_32F)) PRODUCTS(sim::BF16, float, float);
    if (single && are(CUDA_R_8I, CUDA_R_32F)) PRODUCTS(int8_t, float, float);
    if (single && are(CUDA_R_32F, CUDA_R_32F)) PRODUCTS(float, float, float);
    if (single && are(CUDA_C_32F, CUDA_C_32F)) PRODUCTS(Complex, Complex, Complex);
    if (twice && are(CUDA_R_64F, CUDA_R_64F)) PRODUCTS(double, double, double);
    if (twice && are(CUDA_C_64F, CUDA_C_64F)) PRODUCTS(DoubleComplex, DoubleComplex, DoubleComplex);
    if (whole && are(CUDA_R_8I, CUDA_R_32I)) PRODUCTS(int8_t, int32_t, int32_t);
#undef PRODUCTS
    return CUBLAS_STATUS_NOT_SUPPORTED;
  });
}

}  // namespace lab32::cublas
