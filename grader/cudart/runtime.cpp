#include "cudart/runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "device/sim_device.h"
#include "record/launch_profile.h"

namespace lab32::cudart {
namespace {

// Freed addresses are not handed out again (a use after free is found), so a program that
// allocates and frees in a loop needs far more address space than memory.
uint64_t address_space(uint64_t dram_bytes) {
  for (uint64_t bytes = uint64_t{8} << 40; bytes > dram_bytes; bytes /= 2) {
    // An eighth more for the bits that say what was written.
    void* probe = mmap(nullptr, bytes + bytes / 8, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) continue;
    munmap(probe, bytes + bytes / 8);
    return bytes;
  }
  return std::min(dram_bytes, uint64_t{64} << 30);  // a limit on address space (ulimit -v)
}

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

Tool tool_of(const std::string& name) {
  if (name == "profile") return Tool::profile;
  if (name == "check") return Tool::check;
  if (name == "run") return Tool::run;
  throw Error("LAB32_TOOL=" + name + ": it may be run, profile or check");
}

std::optional<uint64_t> schedule_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stopped != end)
    throw Error("LAB32_SCHEDULE=" + text + ": it may be a number from 0 to 2^64 - 1");
  return seed;
}

std::optional<counters::CloseUpChoice> close_up_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return record::read_close_up(text);
}

}  // namespace

Runtime::Runtime(const std::string& profile_name)
    : tool(tool_of(variable("LAB32_TOOL", "run"))),
      schedule(schedule_of(variable("LAB32_SCHEDULE", ""))),
      close_up(close_up_of(variable("LAB32_CLOSE_UP", ""))),
      profile(model::read_profile(profile_name)),
      memory(address_space(profile.dram_bytes)),
      device(device::make_sim_device(profile, memory)),
      registry(*device, tool == Tool::profile),
      allocations(memory, profile.dram_bytes),
      // What an H200 answers before a program changes it; but printf's is what a launch may print
      // here (there it is 8,650,752).
      limits{{cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 1 << 20},
             {cudaLimitMallocHeapSize, 8 << 20},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
             {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 11796480}} {}

void Runtime::print_output() {
  if (output.empty()) return;
  std::fwrite(output.data(), 1, output.size(), stdout);
  std::fflush(stdout);
  output.clear();
}

std::recursive_mutex& runtime_lock() {
  static auto* lock = new std::recursive_mutex;
  return *lock;
}

Runtime& runtime() {
  static auto* made = new Runtime(variable("LAB32_DEVICE", "h200"));
  return *made;
}

}  // namespace lab32::cudart
