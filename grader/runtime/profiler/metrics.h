// Computes Nsight Compute's metrics of a launch from its record, and writes them in ncu's CSV
// format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/record/recording.h"

namespace lab32::profiler {

// counted: from the accesses in the machine code, equal to hardware counters; shape: from the
// launch's parameters; modelled: from the models of caches and time.
enum class MetricKind { counted, shape, modelled };

struct Metric {
  std::string name;
  std::string unit;  // in Nsight Compute's base unit; empty: a plain number
  MetricKind kind;
  // nullopt: the launch has no such figure, because it did not end or was compiled without a cubin.
  std::optional<double> (*value)(const record::LaunchProfile&);
};

const std::vector<Metric>& all_metrics();

// The metrics in "A,B", in that order. Throws Error for an unknown name (and suggests similar ones)
// and for a metric that only a GPU can measure (with the reason).
std::vector<const Metric*> parse_metric_list(const std::string& list);

// A number as ncu prints it: "1,048,576"; "3.91", with two digits if it is not an integer.
std::string metric_text(double value);

// Writes launches in the format of `ncu --csv --print-units base`, so that the same scripts read
// both.

// A header, then a line for each launch and metric, sorted by metric within a launch. Every field
// is quoted, thousands are grouped, and "n/a" stands for a missing figure.
std::string ncu_csv(const std::vector<record::LaunchProfile>& launches,
                    const std::vector<const Metric*>& metrics);

}  // namespace lab32::profiler
