#include "runtime/cudart/runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "runtime/record/recording.h"

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

int devices_of(const std::string& text) {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '0' + kMostDevices) return text[0] - '0';
  throw Error("LAB32_GPUS=" + text + ": it may be a number from 1 to " +
              std::to_string(kMostDevices));
}

std::vector<std::unique_ptr<Gpu>> make_gpus(int devices, const model::Profile& profile,
                                            sim::Memory& memory, double& host_time) {
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (int i = 0; i < devices; ++i)
    gpus.push_back(std::make_unique<Gpu>(i, profile, memory, host_time));
  return gpus;
}

std::vector<device::Device*> devices_of(const std::vector<std::unique_ptr<Gpu>>& gpus) {
  std::vector<device::Device*> devices;
  for (const auto& gpu : gpus) devices.push_back(gpu->device.get());
  return devices;
}

std::optional<counters::CloseUpChoice> close_up_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return record::read_close_up(text);
}

}  // namespace

Runtime::Runtime(const std::string& profile_name, int count)
    : tool(tool_of(variable("LAB32_TOOL", "run"))),
      schedule(schedule_of(variable("LAB32_SCHEDULE", ""))),
      close_up(close_up_of(variable("LAB32_CLOSE_UP", ""))),
      profile(model::read_profile(profile_name)),
      memory(address_space(profile.dram_bytes)),
      gpus(make_gpus(count, profile, memory, host_time)),
      registry(devices_of(gpus), tool == Tool::profile),
      allocations(memory, profile.dram_bytes),
      contexts(count) {
  for (const auto& gpu : gpus) allocations.set_reach(gpu->number, &gpu->reached_by);
}

OnDevice::OnDevice(Runtime& runtime, int number) : runtime_(runtime), before_(acting_device()) {
  act_for(static_cast<size_t>(number));
}

OnDevice::~OnDevice() { act_for(before_); }

void OnDevice::act_for(size_t number) {
  acting_device() = number;
  // One device reaches all that there is.
  const bool alone = runtime_.gpus.size() == 1;
  runtime_.memory.act_for(static_cast<unsigned>(number),
                          alone ? nullptr : &runtime_.gpus[number]->own);
}

void Runtime::reset() {
  allocations.release_all(gpu().number, [&](uint64_t begin) {
    Contexts::Context owner = contexts.owner(begin);
    return owner && !contexts.is_primary(owner);  // a context that the program has made
  });
  arrays.clear();
  for (const auto& other : gpus)
    if (other->number != gpu().number) other->reached_by &= ~gpu().own;
  gpu().reached_by = gpu().own;
  registry.unload();
  gpu().device->release_heap();
  gpu().heap_in_use = false;
}

void Runtime::wait_for(Gpu& gpu) {
  gpu.wait();
  if (gpu.fault && !sticky) sticky = *gpu.fault;
}

std::recursive_mutex& runtime_lock() {
  static auto* lock = new std::recursive_mutex;
  return *lock;
}

Runtime& runtime() {
  static auto* made =
      new Runtime(variable("LAB32_DEVICE", "h200"), devices_of(variable("LAB32_GPUS", "1")));
  return *made;
}

}  // namespace lab32::cudart
