#include "simulator/timing/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/environment.h"
#include "base/error.h"
#include "base/toml_file.h"

namespace lab32::model {
namespace {

namespace fs = std::filesystem;

fs::path directory() { return lab32_root() / "data" / "devices"; }

class DeviceProfileReader {
 public:
  explicit DeviceProfileReader(const fs::path& path) : path_(path), table_(read_toml(path)) {}

  template <class T>
  T get(const std::string& key) const {
    const auto value = table_.at_path(key).value<T>();
    if (!value)
      throw Error(fmt::format("{}: `{}` is missing or of the wrong type", path_.string(), key));
    return *value;
  }

  bool has(const std::string& key) const { return static_cast<bool>(table_.at_path(key)); }

  uint32_t read_count(const std::string& key) const {
    return static_cast<uint32_t>(get<int64_t>(key));
  }

  // Reads a number, which may be written with or without a decimal point.
  double read_number(const std::string& key) const {
    const double value = get<double>(key);
    if (value >= 0) return value;
    throw Error(fmt::format("{}: `{}` is negative", path_.string(), key));
  }

  std::array<uint32_t, 3> read_three_numbers(const std::string& key) const {
    std::array<uint32_t, 3> out{};
    for (size_t i = 0; i < 3; ++i) out[i] = read_count(fmt::format("{}[{}]", key, i));
    return out;
  }

  std::vector<uint32_t> read_counts(const std::string& key) const {
    const toml::array* array = table_.at_path(key).as_array();
    if (!array || array->empty())
      throw Error(fmt::format("{}: `{}` is missing or no list of numbers", path_.string(), key));
    std::vector<uint32_t> out;
    for (size_t i = 0; i < array->size(); ++i)
      out.push_back(read_count(fmt::format("{}[{}]", key, i)));
    return out;
  }

 private:
  fs::path path_;
  toml::table table_;
};

SmLimits read_sm_limits(const DeviceProfileReader& in) {
  SmLimits m;
  m.max_threads = in.read_count("multiprocessor.max_threads");
  m.max_blocks = in.read_count("multiprocessor.max_blocks");
  m.registers = in.read_count("multiprocessor.registers");
  m.register_allocation_unit = in.read_count("multiprocessor.register_allocation_unit");
  m.shared_bytes = in.read_count("multiprocessor.shared_bytes");
  m.shared_allocation_unit = in.read_count("multiprocessor.shared_allocation_unit");
  m.reserved_shared_bytes_per_block =
      in.read_count("multiprocessor.reserved_shared_bytes_per_block");
  m.l1_and_shared_bytes = in.read_count("multiprocessor.l1_and_shared_bytes");
  m.shared_splits = in.read_counts("multiprocessor.shared_splits");
  return m;
}

CacheParameters read_cache_parameters(const DeviceProfileReader& in) {
  CacheParameters c;
  c.l1_ways = in.read_count("caches.l1_ways");
  c.l2_bytes = static_cast<uint64_t>(in.get<int64_t>("memory.l2_bytes"));
  c.l2_ways = in.read_count("caches.l2_ways");
  c.l2_sides = in.read_count("caches.l2_sides");
  c.l2_slices = in.read_count("caches.l2_slices");
  c.dirty_limit = static_cast<uint64_t>(in.get<int64_t>("caches.dirty_limit"));
  c.partial_dirty_limit = static_cast<uint64_t>(in.get<int64_t>("caches.partial_dirty_limit"));
  c.dram_access_bytes = in.read_count("memory.dram_access_bytes");
  c.dram_page_bytes = in.read_count("memory.dram_page_bytes");
  c.dram_banks = in.read_count("memory.dram_banks");
  c.float_atomic = in.read_number("caches.float_atomic");
  return c;
}

TimeParameters read_time_parameters(const DeviceProfileReader& in) {
  TimeParameters t;
  t.sm_hz = in.read_number("clock.sm_hz");
#define LAB32_TIME(name) t.name = in.read_number("time." #name)
  LAB32_TIME(dram_bytes_per_second);
  LAB32_TIME(dram_pages_per_second);
  LAB32_TIME(l2_sectors_per_second);
  LAB32_TIME(l2_lines_per_second);
  LAB32_TIME(l2_write_line);
  LAB32_TIME(l2_fill_line);
  LAB32_TIME(l1_per_clock);
  LAB32_TIME(shared_wavefronts_per_clock);
  LAB32_TIME(issue_per_clock);
  LAB32_TIME(fp32_per_clock);
  LAB32_TIME(alu_per_clock);
  LAB32_TIME(multiply_per_clock);
  LAB32_TIME(half_per_clock);
  LAB32_TIME(fp64_per_clock);
  LAB32_TIME(special_per_clock);
  LAB32_TIME(memory_per_clock);
  LAB32_TIME(atomic_seconds);
  LAB32_TIME(blocks_per_second);
  LAB32_TIME(warps_per_clock);
  LAB32_TIME(block_seconds);
  LAB32_TIME(launch_seconds);
  LAB32_TIME(event_seconds);
  LAB32_TIME(warm_launch_seconds);
  LAB32_TIME(l1_latency);
  LAB32_TIME(l2_latency);
  LAB32_TIME(dram_latency);
  LAB32_TIME(shared_latency);
  LAB32_TIME(barrier_latency);
  LAB32_TIME(ramp_seconds);
  LAB32_TIME(first_access_seconds);
  LAB32_TIME(memory_queue);
  LAB32_TIME(memory_turn);
  LAB32_TIME(code_seconds);
  LAB32_TIME(split_seconds);
  LAB32_TIME(split_slots);
  LAB32_TIME(softness);
#undef LAB32_TIME
  for (size_t i = 0; i < t.error.size(); ++i)
    t.error[i] = in.read_number(fmt::format("time.error[{}]", i));
  return t;
}

}  // namespace

std::vector<std::string> device_profile_ids() {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory(), ignored))
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

DeviceProfile read_device_profile(const std::string& id) {
  const fs::path path = directory() / (id + ".toml");
  if (!fs::exists(path))
    throw Error(fmt::format("there is no device profile `{}`; there are: {}", id,
                            fmt::join(device_profile_ids(), ", ")));
  const DeviceProfileReader in(path);
  DeviceProfile p;
  p.id = id;
  p.name = in.get<std::string>("name");
  p.arch = in.get<std::string>("arch");
  p.multiprocessors = in.read_count("multiprocessors");
  if (in.has("cluster_groups")) p.cluster_groups = in.read_counts("cluster_groups");
  p.max_threads_per_block = in.read_count("block.max_threads");
  p.shared_bytes_per_block = in.read_count("block.shared_bytes");
  p.shared_bytes_opt_in = in.read_count("block.shared_bytes_opt_in");
  p.max_grid = in.read_three_numbers("block.max_grid");
  p.max_block = in.read_three_numbers("block.max_dim");
  p.dram_bytes = static_cast<uint64_t>(in.get<int64_t>("memory.dram_bytes"));
  p.dram_bus_bits = static_cast<uint32_t>(in.get<int64_t>("memory.dram_bus_bits"));
  p.dram_clock_hz = static_cast<uint64_t>(in.get<int64_t>("memory.dram_clock_hz"));
  p.multiprocessor = read_sm_limits(in);
  p.caches = read_cache_parameters(in);
  p.time = read_time_parameters(in);
  return p;
}

}  // namespace lab32::model
