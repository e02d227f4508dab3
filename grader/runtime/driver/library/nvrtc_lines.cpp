// Comes before NVIDIA's NVRTC in a program that is linked with it: what is compiled keeps its
// lines, and so its cubin holds the PTX that it was made of, which is what the simulator runs
// (`-lineinfo` changes no instruction).

#include <dlfcn.h>

#include <cstring>
#include <vector>

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
