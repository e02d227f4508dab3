#include "gpu/timer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace lab32::device {
namespace {

using json =
    nlohmann::ordered_json;  // one type for all files, so that the template is instantiated once

json to_json(const ColdAndWarmSamples& s) { return {s.name, s.cold, s.warm}; }
ColdAndWarmSamples samples_of(const json& j) { return {j.at(0), j.at(1), j.at(2)}; }

json to_json(const std::optional<GpuClocks>& c) {
  return c ? json{c->sm_mhz, c->memory_mhz, c->throttled} : json();
}
std::optional<GpuClocks> clocks_from_json(const json& j) {
  if (j.is_null()) return std::nullopt;
  return GpuClocks{j.at(0), j.at(1), j.at(2)};
}

json to_json(const DistinctLaunchOutput& o, const ForkSharedMemory& region) {
  json arrays = json::array();
  for (const RefCountedBytes& a : o.arrays)
    arrays.push_back({a.size() == 0 ? 0 : a.data() - region.data(), a.size()});
  return {o.candidate, o.set, o.rounds, arrays};
}
DistinctLaunchOutput output_from_json(const json& j,
                                      const std::shared_ptr<const ForkSharedMemory>& region) {
  DistinctLaunchOutput o;
  o.candidate = j.at(0);
  o.set = j.at(1);
  o.rounds = j.at(2);
  for (const json& a : j.at(3)) {
    const size_t at = a.at(0), size = a.at(1);
    if (at > region->size() || size > region->size() - at) throw Error("an output lies nowhere");
    o.arrays.emplace_back(region, region->data() + at, size);
  }
  return o;
}

json to_json(const MeasuredGpuTimes& t, const ForkSharedMemory& region) {
  json candidates = json::array(), outputs = json::array();
  for (const ColdAndWarmSamples& s : t.candidates) candidates.push_back(to_json(s));
  for (const DistinctLaunchOutput& o : t.outputs) outputs.push_back(to_json(o, region));
  return {{"candidates", candidates},
          {"copy", to_json(t.copy)},
          {"baseline", t.baseline ? to_json(*t.baseline) : json()},
          {"outputs", outputs},
          {"before", to_json(t.before)},
          {"after", to_json(t.after)},
          {"l2_bytes", t.l2_bytes},
          {"peak_bandwidth", t.peak_bandwidth},
          {"start_seconds", t.start_seconds},
          {"rounds_seconds", t.rounds_seconds}};
}
MeasuredGpuTimes timing_from_json(const json& j,
                                  const std::shared_ptr<const ForkSharedMemory>& region) {
  MeasuredGpuTimes t;
  for (const json& s : j.at("candidates")) t.candidates.push_back(samples_of(s));
  t.copy = samples_of(j.at("copy"));
  if (!j.at("baseline").is_null()) t.baseline = samples_of(j.at("baseline"));
  for (const json& o : j.at("outputs")) t.outputs.push_back(output_from_json(o, region));
  t.before = clocks_from_json(j.at("before"));
  t.after = clocks_from_json(j.at("after"));
  t.l2_bytes = j.at("l2_bytes");
  t.peak_bandwidth = j.at("peak_bandwidth");
  t.start_seconds = j.at("start_seconds");
  t.rounds_seconds = j.at("rounds_seconds");
  return t;
}

// Only the driver's part of a KernelFault; the other parts come from the simulator.
json driver_fault_to_json(const KernelFault& f) {
  const int kind = static_cast<int>(f.kind);
  if (!f.driver) return json::array({kind});
  return {kind, f.driver->kernel, f.driver->name, f.driver->text};
}
KernelFault fault_from_json(const json& j) {
  KernelFault f;
  f.kind = static_cast<sim::TrapKind>(j.at(0).get<int>());
  if (j.size() > 1) f.driver = DriverError{j.at(1), j.at(2), j.at(3)};
  return f;
}

}  // namespace

std::vector<std::byte> encode_gpu_timing_result(const GpuTimingResult& timed,
                                                const ForkSharedMemory& region) {
  json j;
  if (timed.timing) j["timing"] = to_json(*timed.timing, region);
  if (timed.fault) j["fault"] = driver_fault_to_json(*timed.fault);
  const std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

GpuTimingResult decode_gpu_timing_result(const std::vector<std::byte>& bytes,
                                         const std::shared_ptr<const ForkSharedMemory>& region) {
  try {
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    const json j = json::parse(std::string(begin, bytes.size()));
    GpuTimingResult timed;
    if (j.contains("timing")) timed.timing = timing_from_json(j["timing"], region);
    if (j.contains("fault")) timed.fault = fault_from_json(j["fault"]);
    return timed;
  } catch (const json::exception& e) {
    throw Error(std::string("the timing process's answer is damaged: ") + e.what());
  }
}

MedianInterval median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  MedianInterval result;
  result.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // The largest `cut` such that fewer than `cut` values lie below the median with a probability of
  // at most 1/40.
  size_t cut = 0;
  double log_term = -static_cast<double>(n) * std::log(2.0), below = 0;
  for (size_t k = 0; k < n / 2; ++k) {
    below += std::exp(log_term);
    if (below > 0.025) break;
    cut = k + 1;
    log_term += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
  }
  const size_t first = cut > 0 ? cut - 1 : 0;
  result.low = values[first];
  result.high = values[n - 1 - first];
  return result;
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(std::min(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) result[i] = a[i] / b[i];
  return result;
}

}  // namespace lab32::device
