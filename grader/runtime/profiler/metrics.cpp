#include "runtime/profiler/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/grid.h"
#include "base/memory.h"
#include "base/text.h"
#include "runtime/profiler/kernel_names.h"

namespace lab32::profiler {
namespace {

using record::LaunchProfile;
using Value = std::optional<double>;

// Nsight Compute reports a ratio of 0/0 as 0.
double ratio_or_zero(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

uint64_t threads(const LaunchProfile& r) { return r.shape.grid.count() * r.shape.block.count(); }

uint64_t warps_of_launch(const LaunchProfile& r) {
  return r.shape.grid.count() * ((r.shape.block.count() + kWarpSize - 1) / kWarpSize);
}

Value waves_per_multiprocessor(const LaunchProfile& r) {
  if (!r.run.occupancy || r.multiprocessors == 0) return std::nullopt;
  return ratio_or_zero(r.shape.grid.count(), uint64_t{r.multiprocessors} * r.run.occupancy->blocks);
}

Value registers_per_thread(const LaunchProfile& r) {
  if (!r.registers) return std::nullopt;
  return std::max(16u, *r.registers);
}

Value allocated_registers_per_thread(const LaunchProfile& r) {
  if (!r.registers) return std::nullopt;
  const uint64_t of_warp = align_up(std::max(16u, *r.registers), 8u) * kWarpSize;
  return ratio_or_zero(of_warp * warps_of_launch(r), threads(r));
}

// The sum of the metrics by operation, none of which includes cp.async.
uint64_t shared_bank_conflicts(const counters::Counters& c) {
  return c.shared_wavefronts() - c.ideal_shared_wavefronts() -
         (c.shared_copy.wavefronts - c.shared_copy.ideal);
}
uint64_t ncu_shared_wavefronts(const counters::Counters& c) {
  return c.shared_wavefronts() - c.shared_copy.wavefronts + c.other.remote_atom_wavefronts;
}

// nullopt if the launch has some such accesses that are not counted.
Value texel_count_if_known(const counters::Counters& c, uint64_t value) {
  return c.other.texture_unknown > 0 ? std::nullopt : Value(static_cast<double>(value));
}

Value bulk_count_if_known(const counters::Counters& c, uint64_t value) {
  return c.other.bulk_unknown > 0 ? std::nullopt : Value(static_cast<double>(value));
}

Value to_metric_value(Value value) { return value; }
template <class T>
Value to_metric_value(T value) {
  return static_cast<double>(value);
}

const char PTX_LEVEL[] =
    "the simulator counts PTX instructions, not those that ptxas generates; `lab32 profile` and "
    "--source show them under their own name";
const char A_CLOCK[] = "it needs a clock, which the simulator does not have";

struct RefusedMetricPrefix {
  std::string beginning, why;
};

const std::vector<RefusedMetricPrefix>& refused_metrics() {
  static const std::vector<RefusedMetricPrefix> all{
#define METRIC(name, unit, kind, value)
#define REFUSED(beginning, why) {beginning, why},
#include "runtime/profiler/metrics.def"
#undef METRIC
#undef REFUSED
  };
  return all;
}

const Metric& find_metric(const std::string& name) {
  for (const Metric& m : all_metrics())
    if (m.name == name) return m;
  for (const RefusedMetricPrefix& r : refused_metrics())
    if (name.rfind(r.beginning, 0) == 0)
      throw Error(fmt::format("--metrics: `{}` cannot be measured: {}", name, r.why));
  std::vector<std::string> names;
  for (const Metric& m : all_metrics()) names.push_back(m.name);
  const auto near = suggestions(name, names, 3);
  throw Error(fmt::format("--metrics: there is no `{}`{}", name,
                          near.empty()
                              ? "; `lab32 profile --csv FILE` without --metrics writes all"
                              : fmt::format("; similar names: {}", fmt::join(near, ", "))));
}

}  // namespace

#define NEED(optional, name)            \
  if (!(optional)) return std::nullopt; \
  const auto& name = *(optional)
#define NEED_counters NEED(r.run.counters, c)
#define NEED_occupancy NEED(r.run.occupancy, o)
#define NEED_caches NEED(r.run.caches, m)
#define NEED_prediction NEED(r.run.predicted, p)
#define NEED_launch
#define KIND_counters counted
#define KIND_occupancy shape
#define KIND_launch shape
#define KIND_caches modelled
#define KIND_prediction modelled

const std::vector<Metric>& all_metrics() {
  static const std::vector<Metric> all{
#define METRIC(name, unit, part, value)                                       \
  {name, unit, MetricKind::KIND_##part, [](const LaunchProfile& r) -> Value { \
     NEED_##part;                                                             \
     return to_metric_value(value);                                           \
   }},
#define REFUSED(beginning, why)
#include "runtime/profiler/metrics.def"
#undef METRIC
#undef REFUSED
  };
  return all;
}

std::vector<const Metric*> parse_metric_list(const std::string& list) {
  std::vector<const Metric*> chosen;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) chosen.push_back(&find_metric(name));
  }
  if (chosen.empty()) throw Error("--metrics: no name is given; separate names by commas");
  return chosen;
}

std::string metric_text(double value) {
  const bool negative = value < 0;
  const double size = std::abs(value);
  const bool whole = size == std::floor(size) && size < 9e15;
  const std::string digits = whole ? "" : fmt::format("{:.2f}", size);
  const uint64_t units =
      whole ? static_cast<uint64_t>(size) : std::stoull(digits.substr(0, digits.find('.')));
  return (negative ? "-" : "") + grouped_digits(units) +
         (whole ? "" : digits.substr(digits.find('.')));
}

namespace {

std::string csv_row(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += line.empty() ? "\"" : ",\"";
    for (const char c : field) line += c == '"' ? "\"\"" : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::string triple(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

}  // namespace

std::string ncu_csv(const std::vector<record::LaunchProfile>& launches,
                    const std::vector<const Metric*>& metrics) {
  std::vector<const Metric*> sorted = metrics;
  std::sort(sorted.begin(), sorted.end(),
            [](const Metric* a, const Metric* b) { return a->name < b->name; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

  std::string text = csv_row({"ID", "Process ID", "Process Name", "Host Name", "Kernel Name",
                              "Context", "Stream", "Block Size", "Grid Size", "Device", "CC",
                              "Section Name", "Metric Name", "Metric Unit", "Metric Value"});
  for (size_t i = 0; i < launches.size(); ++i) {
    const record::LaunchProfile& r = launches[i];
    for (const Metric* metric : sorted) {
      const auto value = metric->value(r);
      text +=
          csv_row({std::to_string(i), std::to_string(r.process_id), r.process_name, "127.0.0.1",
                   ncu_kernel_name(r.symbol), std::to_string(r.context), std::to_string(r.stream),
                   triple(r.shape.block), triple(r.shape.grid), std::to_string(r.device),
                   r.compute_capability, "Command line profiler metrics", metric->name,
                   metric->unit, value ? metric_text(*value) : "n/a"});
    }
  }
  return text;
}

}  // namespace lab32::profiler
