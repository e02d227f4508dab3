// Nsight Compute's metrics of a launch, from its record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/record/recording.h"

namespace lab32::profiler {

// counted: from the accesses that ptxas emitted, equal to the hardware's counters; shape: of the
// launch itself; modelled: by the models of caches and time.
enum class MetricKind { counted, shape, modelled };

struct Metric {
  std::string name;
  std::string unit;  // Nsight Compute's base unit; empty: a plain number
  MetricKind kind;
  // nullopt: this launch has none (it did not end, or was compiled without a cubin).
  std::optional<double> (*value)(const record::LaunchProfile&);
};

const std::vector<Metric>& all_metrics();

// "A,B": those named, in that order. Throws Error for a name that is none, with near ones, and for
// a metric that only a GPU can tell, with the reason.
std::vector<const Metric*> metrics_of(const std::string& list);

// As ncu prints numbers: "1,048,576"; "3.91", two digits where it is no whole number.
std::string metric_text(double value);

// Launches as `ncu --csv --print-units base` writes them, so that what reads the one reads the
// other.

// A header line, then a line a launch and metric, sorted by metric within a launch: every field
// quoted, thousands grouped, "n/a" where a launch has no such figure.
std::string ncu_csv(const std::vector<record::LaunchProfile>& launches,
                    const std::vector<const Metric*>& metrics);

}  // namespace lab32::profiler
