#include "profiler/check.h"

#include <fmt/core.h>

#include <cstdio>

#include "base/text.h"
#include "profiler/check_text.h"
#include "profiler/recorded_run.h"

namespace lab32::profiler {
namespace {

constexpr int kHazards = 1;

}  // namespace

int check(const CheckOptions& options) {
  const RecordedRun run =
      run_recorded(options.program, options.device, options.arguments, "check", options.schedule);
  const CheckReport report = check_report(run.recording.launches);
  // A line of its own, should the program's last one not have ended.
  fmt::print("\n{}", visible(report.text));
  for (const std::string& what : run.recording.unsupported)
    fmt::print("{}: what comes after it was not checked\n", what);
  if (run.status != 0) fmt::print("{}\n", ending(run.status));
  fmt::print("{}\n", report.last_line());
  std::fflush(stdout);
  if (!run.recording.unsupported.empty()) return kNotSupported;
  return report.hazards() > 0 || report.stopped > 0 ? kHazards : run.status;
}

}  // namespace lab32::profiler
