// libcuda.so.1: the driver's names, each a jump to its function in the simulated runtime, which
// lies beside it. Both APIs are one library, since they are about one device; and this one finds it
// by its place, since a program may have loaded NVIDIA's library of the same name, too.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// A word for each name, in a section of its own so that they lie one behind the other.
#define FUNCTION(symbol)                           \
  asm(".pushsection .data.lab32_entries, \"aw\"\n" \
      "entry_" #symbol                             \
      ": .quad 0\n"                                \
      ".popsection\n"                              \
      ".pushsection .text\n"                       \
      ".globl " #symbol                            \
      "\n"                                         \
      ".type " #symbol ", @function\n" #symbol     \
      ":\n"                                        \
      "  jmp *entry_" #symbol                      \
      "(%rip)\n"                                   \
      ".size " #symbol ", . - " #symbol            \
      "\n"                                         \
      ".popsection\n");
asm(".pushsection .data.lab32_entries, \"aw\"\n"
    ".balign 8\n"
    "lab32_entries:\n"
    ".popsection\n");
#define WORKS(symbol, name, version) FUNCTION(symbol)
#define REFUSES(symbol, name, version) FUNCTION(symbol)
#include "runtime/driver/api.def"
#undef WORKS
#undef REFUSES

// By which who looks for a GPU tells this driver from NVIDIA's.
extern "C" __attribute__((visibility("default"))) const char lab32_simulated_driver = 1;

namespace {

const char* const kNames[] = {
#define WORKS(symbol, name, version) #symbol,
#define REFUSES(symbol, name, version) #symbol,
#include "runtime/driver/api.def"
#undef WORKS
#undef REFUSES
};

extern "C" void* entries[] asm("lab32_entries");

__attribute__((constructor)) void find_functions() {
  Dl_info own;
  std::string runtime = "libcudart.so.13";
  if (dladdr(kNames, &own)) {
    const std::string path = own.dli_fname;
    runtime = path.substr(0, path.rfind('/') + 1) + runtime;
  }
  void* library = dlopen(runtime.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Find = void* (*)(const char*);
  const auto find =
      library ? reinterpret_cast<Find>(dlsym(library, "lab32_driver_symbol")) : nullptr;
  if (!find) {
    std::fprintf(stderr, "lab32: the simulated driver needs %s: %s\n", runtime.c_str(), dlerror());
    std::_Exit(2);
  }
  void** entry = entries;
  for (const char* name : kNames) *entry++ = find(name);
}

}  // namespace
