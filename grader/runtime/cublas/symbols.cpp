#include "runtime/cublas/symbols.h"

#include <fmt/core.h>

#include <cstring>

#include "runtime/cudart/errors.h"

namespace {

constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED

// "cublasSsyrk" of cublasSsyrk_v2 and cublasSsyrk_v2_64.
std::string called(const char* symbol) {
  std::string name = symbol;
  for (const char* ending : {"_64", "_v2"})
    if (const size_t n = std::strlen(ending);
        name.size() > n && name.compare(name.size() - n, n, ending) == 0)
      name.resize(name.size() - n);
  return name;
}

}  // namespace

// Under other names: no header declares all of them, and arguments are not looked at.
#define WORKS(symbol) extern "C" int work_##symbol() asm(#symbol);
#define REFUSES(symbol)                                                \
  extern "C" int refuse_##symbol() asm(#symbol);                       \
  int refuse_##symbol() {                                              \
    lab32::cudart::refuse(lab32::cublas::refusal_of(called(#symbol))); \
    return kNotSupported;                                              \
  }
#include "runtime/cublas/api.def"
#include "runtime/cublas/lt_api.def"
#undef WORKS
#undef REFUSES

namespace lab32::cublas {
namespace {

struct Symbol {
  const char* symbol;
  bool works;
  void* address;
};

const Symbol kSymbols[] = {
#define WORKS(symbol) {#symbol, true, reinterpret_cast<void*>(work_##symbol)},
#define REFUSES(symbol) {#symbol, false, reinterpret_cast<void*>(refuse_##symbol)},
#include "runtime/cublas/api.def"
#include "runtime/cublas/lt_api.def"
#undef WORKS
#undef REFUSES
};

}  // namespace

std::optional<std::string> refused_symbol(const std::string& symbol) {
  for (const Symbol& s : kSymbols)
    if (!s.works && symbol == s.symbol) return called(s.symbol);
  return std::nullopt;
}

std::string refusal_of(const std::string& name) {
  const bool light = name.rfind("cublasLt", 0) == 0;
  return fmt::format(
      "{} is not there: {}", name,
      light ? "of cuBLASLt there are only handles; cublasSgemm and cublasGemmEx do products"
            : "of cuBLAS there are products (gemm, batches, Ex), geam, dgmm, gemv, ger and the "
              "functions of vectors (grader/runtime/cublas/README.md)");
}

}  // namespace lab32::cublas

// For libcublas.so.13 and libcublasLt.so.13: where their function of that name is.
extern "C" __attribute__((visibility("default"))) void* lab32_cublas_symbol(const char* symbol) {
  for (const lab32::cublas::Symbol& s : lab32::cublas::kSymbols)
    if (std::strcmp(s.symbol, symbol) == 0) return s.address;
  return nullptr;
}
