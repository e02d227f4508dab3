#include "runtime/cublas/blas.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "runtime/cublas/pinned.h"

namespace lab32::cublas {
namespace {

namespace fs = std::filesystem;

constexpr char kWheel[] = "scipy_openblas32/lib/libscipy_openblas.so";

// Of a checkout .venv has it; of a wheel of lab32's, the packages beside it; else the system's own.
std::vector<fs::path> places() {
  const char* named = std::getenv("LAB32_OPENBLAS");
  if (named && *named) return {named};
  std::vector<fs::path> found;
  const fs::path top = root();
  std::error_code error;
  for (const auto& python : fs::directory_iterator(top / ".venv/lib", error))
    found.push_back(python.path() / "site-packages" / kWheel);
  if (top.filename() == "tree") found.push_back(top.parent_path().parent_path() / kWheel);
  found.emplace_back("libopenblas.so.0");
  return found;
}

std::string remedy() {
  std::error_code error;
  const fs::path top = root();
  if (fs::exists(top / "grader/setup/setup", error))
    return fmt::format("{} openblas", (top / "grader/setup/setup").string());
  const std::string pip = std::string("pip install ") + kPinned;
  if (top.filename() == "tree") return pip;
  return fmt::format(
      "apt-get install libopenblas0, or {} and its libscipy_openblas.so named in LAB32_OPENBLAS",
      pip);
}

// What OpenBLAS reads when it is loaded. With one thread, and the kernels of one kind of processor,
// a product is the same on every machine that has them.
class Settings {
 public:
  Settings() {
    set("OPENBLAS_NUM_THREADS", "1");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      set("OPENBLAS_CORETYPE", "Haswell");
  }
  ~Settings() {
    for (const auto& [name, value] : before_) {
      if (value)
        setenv(name, value->c_str(), 1);
      else
        unsetenv(name);
    }
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  void set(const char* name, const char* value) {
    const char* old = std::getenv(name);
    before_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
    setenv(name, value, 1);
  }
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

void* load() {
  const Settings settings;
  std::string why;
  for (const fs::path& place : places()) {
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = dlerror();
  }
  throw Error(fmt::format(
      "a CPU library works matrix products out, OpenBLAS, and it is not here ({}); this brings it: "
      "{}",
      why, remedy()));
}

// Of the wheel all names begin with `scipy_`.
void* function(const char* name) {
  static void* const library = load();
  if (void* found = dlsym(library, (std::string("scipy_") + name).c_str())) return found;
  if (void* found = dlsym(library, name)) return found;
  throw Error(fmt::format("the OpenBLAS that was found has no {}", name));
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

// Real scalars are handed over as they are, complex ones by their address.
template <class T>
struct Passed {
  using Type = T;
  static T pass(const T& value) { return value; }
};
template <class T>
struct Passed<std::complex<T>> {
  using Type = const void*;
  static const void* pass(const std::complex<T>& value) { return &value; }
};

}  // namespace

template <class T>
void gemm(char a, char b, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb,
          T beta, T* C, int ldc) {
  using Scalar = typename Passed<T>::Type;
  using Function =
      void (*)(int, int, int, int, int, int, Scalar, const T*, int, const T*, int, Scalar, T*, int);
  static const auto call = reinterpret_cast<Function>(function(kName<T>));
  call(kColumns, op(a), op(b), m, n, k, Passed<T>::pass(alpha), A, lda, B, ldb,
       Passed<T>::pass(beta), C, ldc);
}

template void gemm(char, char, int, int, int, float, const float*, int, const float*, int, float,
                   float*, int);
template void gemm(char, char, int, int, int, double, const double*, int, const double*, int,
                   double, double*, int);
template void gemm(char, char, int, int, int, std::complex<float>, const std::complex<float>*, int,
                   const std::complex<float>*, int, std::complex<float>, std::complex<float>*, int);
template void gemm(char, char, int, int, int, std::complex<double>, const std::complex<double>*,
                   int, const std::complex<double>*, int, std::complex<double>,
                   std::complex<double>*, int);

}  // namespace lab32::cublas
