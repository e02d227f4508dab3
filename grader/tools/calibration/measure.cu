// Runs the launches of launches.csv on a GPU.
//
//   measure LAUNCHES CUBINS time       times each with a cold and with a warm L2, and for labs
//                                      also a device-to-device copy of as many bytes
//   measure LAUNCHES CUBINS counters   launches each once, for Nsight Compute
//
// CUBINS is a folder: labs/LAB/LAB.cu is CUBINS/labs_LAB_LAB.cubin there.
#include <cuda_profiler_api.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../measure/timing.cuh"
#include "launches.h"

namespace {

// Kernels of cubins by the names people write: "reduce_v7<int, 256>" of labs/LAB/LAB.cu.
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

// The median over `rounds` of the time of `times` consecutive launches, in microseconds per launch.
double warm(const std::function<void()>& work, int rounds, int times) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> us;
  for (int k = 0; k < rounds + 1; ++k) {
    work();  // keeps the GPU busy while the host enqueues the launches
    work();
    CHECK(cudaEventRecord(start));
    for (int i = 0; i < times; ++i) work();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (k > 0) us.push_back(1000 * ms / times);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

struct Times {
  double warm_us, cold_us;
};

Times both(const std::function<void()>& work) {
  const double first = warm(work, 1, 1);
  return {warm(work, 7, std::clamp(static_cast<int>(500 / first), 1, 50)),
          1000 * timing::measure(15, work).median_ms};
}

// The buffers and numbers of one launch, as arguments for cudaLaunchKernel.
class Arguments {
 public:
  explicit Arguments(const std::string& text) {
    const std::vector<launches::LaunchArgument> wanted = launches::parse_launch_arguments(text);
    values_.resize(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].is_buffer()) {
        const std::vector<uint32_t> words = wanted[i].buffer_words(static_cast<uint32_t>(i + 1));
        CHECK(cudaMalloc(&values_[i].buffer, words.size() * 4));
        CHECK(
            cudaMemcpy(values_[i].buffer, words.data(), words.size() * 4, cudaMemcpyHostToDevice));
        buffers_.push_back(values_[i].buffer);
      } else {
        values_[i].number = wanted[i].bit_pattern_of_number();
      }
    }
    for (Value& value : values_) pointers_.push_back(&value);
  }
  ~Arguments() {
    for (void* buffer : buffers_) cudaFree(buffer);
  }
  void** pointers() { return pointers_.data(); }

 private:
  union Value {
    void* buffer;
    uint32_t number;
  };
  std::vector<Value> values_;
  std::vector<void*> buffers_, pointers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: measure LAUNCHES CUBINS time|counters\n");
    return 2;
  }
  const std::vector<launches::LaunchRow> all = launches::read_launches(argv[1]);
  const bool timed = std::strcmp(argv[3], "time") == 0;
  KernelsByName kernels(argv[2]);
  size_t most = 0;
  for (const launches::LaunchRow& l : all) most = std::max(most, l.useful_bytes / 2);
  void *const from = timing::allocate(most + 4, 1), *const to = timing::allocate(most + 4, 2);
  CHECK(cudaDeviceSynchronize());
  if (timed)
    printf("id,set,kernel,warm_us,cold_us,copy_warm_us,copy_cold_us\n");
  else
    CHECK(cudaProfilerStart());
  for (const launches::LaunchRow& l : all) {
    const void* function = kernels.find(l.file, l.kernel);
    if (l.shared > 48 * 1024)
      CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(l.shared)));
    Arguments arguments(l.arguments);
    const auto work = [&] {
      CHECK(cudaLaunchKernel(function, dim3(l.grid_x, l.grid_y), dim3(l.block_x, l.block_y),
                             arguments.pointers(), l.shared, nullptr));
    };
    work();
    CHECK(cudaDeviceSynchronize());
    if (!timed) continue;
    const Times kernel = both(work);
    printf("%d,%s,\"%s\",%.3f,%.3f,", l.id, l.set.c_str(), l.kernel.c_str(), kernel.warm_us,
           kernel.cold_us);
    if (l.useful_bytes > 0) {
      const Times copy = both(
          [&] { CHECK(cudaMemcpyAsync(to, from, l.useful_bytes / 2, cudaMemcpyDeviceToDevice)); });
      printf("%.3f,%.3f\n", copy.warm_us, copy.cold_us);
    } else {
      printf(",\n");
    }
    fflush(stdout);
  }
  if (!timed) CHECK(cudaProfilerStop());
  return 0;
}
