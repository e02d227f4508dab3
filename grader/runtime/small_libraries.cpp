// The small libraries that a program loads beside libcudart.so.13. runtime.mk compiles this source
// once for each. libcuda.so.1, libcublas.so.13 and libcublasLt.so.13 export the names of a list
// (LAB32_NAMES); each name is a jump to its function in the simulated runtime. All APIs are in that
// single library, because they share the simulated devices. A jump finds the runtime beside its own
// library, because the program may have loaded NVIDIA's library of that name, too.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef LAB32_NAMES

#if defined(__x86_64__)
#define JUMP(symbol) "  jmp *entry_" #symbol "(%rip)\n"
#else
#define JUMP(symbol)                      \
  "  adrp x16, entry_" #symbol            \
  "\n"                                    \
  "  ldr x16, [x16, :lo12:entry_" #symbol \
  "]\n"                                   \
  "  br x16\n"
#endif

// A pointer for each name, in a section of its own so that the pointers are contiguous.
#define FUNCTION(symbol)                                                           \
  asm(".pushsection .data.lab32_entries, \"aw\"\n"                                 \
      "entry_" #symbol                                                             \
      ": .quad 0\n"                                                                \
      ".popsection\n"                                                              \
      ".pushsection .text\n"                                                       \
      ".globl " #symbol                                                            \
      "\n"                                                                         \
      ".type " #symbol ", @function\n" #symbol ":\n" JUMP(symbol) ".size " #symbol \
                                                                  ", . - " #symbol \
                                                                  "\n"             \
                                                                  ".popsection\n");
asm(".pushsection .data.lab32_entries, \"aw\"\n"
    ".balign 8\n"
    "lab32_entries:\n"
    ".popsection\n");
#define WORKS(symbol, ...) FUNCTION(symbol)
#define REFUSES(symbol, ...) FUNCTION(symbol)
#include LAB32_NAMES
#undef WORKS
#undef REFUSES

#ifdef LAB32_DRIVER
// Programs that look for a GPU distinguish this driver from NVIDIA's by this symbol.
extern "C" __attribute__((visibility("default"))) const char lab32_simulated_driver = 1;
#endif

namespace {

const char* const kNames[] = {
#define WORKS(symbol, ...) #symbol,
#define REFUSES(symbol, ...) #symbol,
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
  const auto find = library ? reinterpret_cast<Find>(dlsym(library, LAB32_FIND)) : nullptr;
  if (!find) {
    std::fprintf(stderr, "lab32: the simulated " LAB32_CALLED " needs %s: %s\n", runtime.c_str(),
                 dlerror());
    std::_Exit(2);
  }
  void** entry = entries;
  for (const char* name : kNames) *entry++ = find(name);
}

}  // namespace

#else

// libnvrtc_lines.so is loaded before NVIDIA's NVRTC in a program linked with it. It adds
// `-lineinfo`, which changes no instruction but keeps the PTX in the cubin, and the simulator runs
// that PTX.
extern "C" __attribute__((visibility("default"))) int nvrtcCompileProgram(
    void* program, int count, const char* const* options) {
  using Compile = int (*)(void*, int, const char* const*);
  static const auto compile = reinterpret_cast<Compile>(dlsym(RTLD_NEXT, "nvrtcCompileProgram"));
  if (!compile) return 11;  // NVRTC_ERROR_INTERNAL_ERROR
  std::vector<const char*> all;
  bool lines = false;
  for (int i = 0; options && i < count; ++i) {
    all.push_back(options[i]);
    for (const char* name : {"-lineinfo", "--generate-line-info", "-G", "--device-debug"})
      lines |= options[i] && std::strcmp(options[i], name) == 0;
  }
  if (!lines) all.push_back("-lineinfo");
  return compile(program, static_cast<int>(all.size()), all.data());
}

#endif
