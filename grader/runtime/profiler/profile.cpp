#include "runtime/profiler/profile.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/pattern.h"
#include "base/text.h"
#include "runtime/profiler/library_text.h"
#include "runtime/profiler/ncu_csv.h"
#include "runtime/profiler/ncu_name.h"
#include "runtime/profiler/profile_text.h"
#include "runtime/profiler/recorded_run.h"
#include "runtime/profiler/source_view.h"

namespace lab32::profiler {
namespace {

Pattern name_pattern(const std::string& kernel) {
  try {
    return Pattern(kernel);
  } catch (const Error& e) {
    throw Error(
        fmt::format("--kernel: `{}` is no regular expression ({}); before ( ) [ ] * + ? . write \\",
                    kernel, e.what()));
  }
}

std::vector<record::LaunchProfile> select(std::vector<record::LaunchProfile> launches,
                                          const Pattern& pattern, const std::string& kernel) {
  std::vector<record::LaunchProfile> chosen;
  std::set<std::string> names;
  for (record::LaunchProfile& r : launches) {
    const std::string name = ncu_name(r.symbol);
    names.insert(name);
    if (pattern.search(name)) chosen.push_back(std::move(r));
  }
  if (chosen.empty())
    fmt::print(stderr, "lab32 profile: {}\n",
               names.empty() ? "the program launched no kernel"
                             : fmt::format("no kernel's name has `{}` in it; there are: {}", kernel,
                                           fmt::join(names, "; ")));
  return chosen;
}

}  // namespace

int profile(const ProfileOptions& options) {
  const Pattern pattern = name_pattern(options.kernel);
  std::vector<const Metric*> metrics;
  if (options.metrics.empty())
    for (const Metric& m : all_metrics()) metrics.push_back(&m);
  else
    metrics = metrics_of(options.metrics);

  // Before the program takes its time.
  if (!options.csv.empty()) check_writable(options.csv, "--csv");
  RecordedRun run = run_recorded(options.program, options.device, options.arguments, "profile",
                                 {std::nullopt, options.gpus});
  const auto launches = select(std::move(run.recording.launches), pattern, options.kernel);

  std::string text = "\n";
  text += options.metrics.empty() ? profile_text(launches) : metrics_text(launches, metrics);
  text += library_calls_text(run.recording.library_calls);
  if (options.source && !launches.empty()) text += source_view(launches);
  if (!launches.empty() || !run.recording.library_calls.empty()) fmt::print("{}", visible(text));
  if (run.status != 0) fmt::print("{}\n", ending(run.status));
  std::fflush(stdout);
  if (!options.csv.empty()) write_file(options.csv, ncu_csv(launches, metrics), "--csv");
  return run.recording.unsupported.empty() ? run.status : kNotSupported;
}

}  // namespace lab32::profiler
