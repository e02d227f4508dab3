// Kernels of cubins by the names people write: "reduce_v7<int, 256>" of labs/LAB/LAB.cu.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../measure/timing.cuh"

class KernelsByName {
 public:
  // `folder`: contains labs_LAB_LAB.cubin for labs/LAB/LAB.cu.
  explicit KernelsByName(std::string folder) : folder_(std::move(folder)) {}

  const void* find(const std::string& file, const std::string& kernel) {
    const auto [at, fresh] = files_.try_emplace(file);
    if (fresh) load(file, at->second);
    const auto found = at->second.find(plain(kernel));
    if (found != at->second.end()) return found->second;
    fprintf(stderr, "%s has no `%s`\n", file.c_str(), kernel.c_str());
    exit(1);
  }

 private:
  using Kernels = std::map<std::string, const void*>;

  void load(const std::string& file, Kernels& kernels) const {
    std::string path = file.substr(0, file.rfind('.'));
    std::replace(path.begin(), path.end(), '/', '_');
    path = folder_ + "/" + path + ".cubin";
    cudaLibrary_t library;
    CHECK(
        cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    CHECK(cudaLibraryGetKernelCount(&count, library));
    std::vector<cudaKernel_t> all(count);
    CHECK(cudaLibraryEnumerateKernels(all.data(), count, library));
    for (cudaKernel_t kernel : all) {
      const void* function = reinterpret_cast<const void*>(kernel);
      const char* symbol = nullptr;
      CHECK(cudaFuncGetName(&symbol, function));
      kernels[plain(demangled(symbol))] = function;
    }
  }

  static std::string demangled(const char* symbol) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    const std::string name = status == 0 && symbol[0] == '_' ? text : symbol;
    free(text);
    return name;
  }

  // `void reduce_v7<int, 256u>(int const*, int*, int)` is "reduce_v7<int,256>".
  static std::string plain(std::string name) {
    if (name.rfind("void ", 0) == 0) name.erase(0, 5);
    name = name.substr(0, name.find('('));
    std::string out;
    for (char c : name) {
      const bool suffix = c == 'u' && !out.empty() && isdigit(out.back());
      if (c != ' ' && !suffix) out += c;
    }
    return out;
  }

  std::string folder_;
  std::map<std::string, Kernels> files_;
};
