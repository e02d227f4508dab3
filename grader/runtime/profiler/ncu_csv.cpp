#include "runtime/profiler/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/profiler/ncu_name.h"

namespace lab32::profiler {
namespace {

std::string row(const std::vector<std::string>& fields) {
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

  std::string text = row({"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
                          "Stream", "Block Size", "Grid Size", "Device", "CC", "Section Name",
                          "Metric Name", "Metric Unit", "Metric Value"});
  for (size_t i = 0; i < launches.size(); ++i) {
    const record::LaunchProfile& r = launches[i];
    for (const Metric* metric : sorted) {
      const auto value = metric->value(r);
      text += row({std::to_string(i), std::to_string(r.process_id), r.process_name, "127.0.0.1",
                   ncu_name(r.symbol), std::to_string(r.context), std::to_string(r.stream),
                   triple(r.shape.block), triple(r.shape.grid), std::to_string(r.device),
                   r.compute_capability, "Command line profiler metrics", metric->name,
                   metric->unit, value ? metric_text(*value) : "n/a"});
    }
  }
  return text;
}

}  // namespace lab32::profiler
