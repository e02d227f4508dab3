// A library whose names are jumps to functions in the simulated runtime, which lies beside it. What
// includes this names the list of them: LAB32_NAMES, "runtime/cublas/api.def".

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
#define WORKS(symbol) FUNCTION(symbol)
#define REFUSES(symbol) FUNCTION(symbol)
#include LAB32_NAMES
#undef WORKS
#undef REFUSES

namespace {

const char* const kNames[] = {
#define WORKS(symbol) #symbol,
#define REFUSES(symbol) #symbol,
#include LAB32_NAMES
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
      library ? reinterpret_cast<Find>(dlsym(library, "lab32_cublas_symbol")) : nullptr;
  if (!find) {
    std::fprintf(stderr, "lab32: the simulated cuBLAS needs %s: %s\n", runtime.c_str(), dlerror());
    std::_Exit(2);
  }
  void** entry = entries;
  for (const char* name : kNames) *entry++ = find(name);
}

}  // namespace
