// Tests that the library exports each name of NVIDIA's library, with its symbol version, and no
// others.

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/elf.h"
#include "base/files.h"
#include "runtime/profiler/build_program.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"
#include "toolchain/toolchain.h"

namespace lab32::tests {
namespace {

const char* const kWorking[] = {
#define WORKS(name) #name,
#define REFUSES(name)
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
};
const char* const kRefused[] = {
#define WORKS(name)
#define REFUSES(name) #name,
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
};

// The defined symbols that a program can be linked with, global or weak. (The version node is one,
// too.)
std::set<std::string> exported(const std::filesystem::path& library) {
  const std::string bytes = read_file(library).value();
  std::set<std::string> names;
  for (const std::string& name : read_elf(bytes, library.string()).exports)
    if (name != "libcudart.so.13") names.insert(name);
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("cudart");

TEST_CASE("cudart: the runtime exports the names of api.def and lab32's own three" * kSlow) {
  std::set<std::string> wanted(std::begin(kWorking), std::end(kWorking));
  wanted.insert("lab32_list_unsupported");
  for (const char* own : {"lab32_driver_symbol", "lab32_cublas_symbol"}) wanted.insert(own);
  wanted.insert(std::begin(kRefused), std::end(kRefused));
  CHECK(exported(profiler::runtime_directory() / "libcudart.so.13") == wanted);
}

TEST_CASE("cudart: every name has the symbol version that programs ask for" * kSlow) {
  void* library =
      dlopen((profiler::runtime_directory() / "libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library, dlerror());
  for (const char* name : kWorking) {
    CAPTURE(name);
    CHECK(dlvsym(library, name, "libcudart.so.13"));
  }
  for (const char* name : kRefused) {
    CAPTURE(name);
    CHECK(dlvsym(library, name, "libcudart.so.13"));
  }
}

TEST_CASE("cudart: lab32's library exports each name of NVIDIA's library in this toolkit" * kSlow) {
  std::filesystem::path real;
  for (const char* directory : {"lib64", "lib"}) {
    const auto candidate =
        toolchain::installed_toolchain().cuda_home / directory / "libcudart.so.13";
    if (std::filesystem::exists(candidate)) real = candidate;
  }
  REQUIRE(!real.empty());
  const std::set<std::string> ours = exported(profiler::runtime_directory() / "libcudart.so.13");
  for (const std::string& name : exported(real)) {
    CAPTURE(name);
    CHECK(ours.count(name) == 1);
  }
}

TEST_CASE("cudart: libcuda.so.1 exports each of NVIDIA's names, and each has a function" * kSlow) {
  const auto ours = profiler::runtime_directory() / "libcuda.so.1";
  void* library = dlopen(ours.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library, dlerror());
  void* runtime =
      dlopen((profiler::runtime_directory() / "libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(runtime, dlerror());
  using Find = void* (*)(const char*);
  void* symbol = dlsym(runtime, "lab32_driver_symbol");
  REQUIRE(symbol);
  const auto find = reinterpret_cast<Find>(symbol);
  const char* const names[] = {
#define WORKS(symbol, name, version) #symbol,
#define REFUSES(symbol, name, version) #symbol,
#include "runtime/driver/api.def"
#undef WORKS
#undef REFUSES
  };
  std::set<std::string> wanted(std::begin(names), std::end(names));
  for (const std::string& name : wanted) {
    CAPTURE(name);
    CHECK(find(name.c_str()));
  }
  wanted.insert("lab32_simulated_driver");
  CHECK(exported(ours) == wanted);
}

TEST_SUITE_END();

}  // namespace lab32::tests
