#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "runtime/profiler/commands.h"
#include "runtime/profiler/kernel_names.h"
#include "runtime/profiler/metrics.h"
#include "runtime/profiler/profile_text.h"
#include "runtime/profiler/start.h"

namespace lab32::profiler {
namespace {

constexpr int kLineWidth = 100, kNameWidth = 28;

RegularExpression compile_kernel_name_regex(const std::string& kernel) {
  try {
    return RegularExpression(kernel);
  } catch (const Error& e) {
    throw Error(fmt::format(
        "--kernel: `{}` is not a regular expression ({}); escape ( ) [ ] * + ? . with \\", kernel,
        e.what()));
  }
}

// Says that the program has launched no kernel, and why, if its launches failed.
std::string no_launch_message(const std::vector<record::HostFinding>& findings) {
  for (const record::HostFinding& f : findings)
    if (f.launch)
      return fmt::format(
          "the program launched no kernel: {}{} {}",
          f.line == 0 ? "" : fmt::format("{}:{}: ", path_for_display(f.file), f.line), f.call,
          f.text);
  return "the program launched no kernel";
}

std::vector<record::LaunchProfile> select_launches(record::RecordedProgramRun& recording,
                                                   const RegularExpression& pattern,
                                                   const std::string& kernel) {
  std::vector<record::LaunchProfile> chosen;
  std::set<std::string> names;
  for (record::LaunchProfile& r : recording.launches) {
    const std::string name = ncu_kernel_name(r.symbol);
    names.insert(name);
    if (pattern.search(name)) chosen.push_back(std::move(r));
  }
  if (chosen.empty())
    fmt::print(stderr, "lab32 profile: {}\n",
               names.empty() ? no_launch_message(recording.host_findings)
                             : fmt::format("no kernel's name matches `{}`; the kernels are: {}",
                                           kernel, fmt::join(names, "; ")));
  return chosen;
}

std::string how_often(uint64_t n) { return n == 1 ? "once" : grouped_digits(n) + " times"; }

std::string preceding_launch_text(uint64_t first) {
  return first == 0 ? "before any launch" : fmt::format("first after launch {}", first - 1);
}

}  // namespace

std::string library_calls_text(const std::vector<record::RecordedLibraryCall>& calls) {
  if (calls.empty()) return "";
  std::vector<std::pair<const record::RecordedLibraryCall*, uint64_t>> kinds;
  for (const record::RecordedLibraryCall& call : calls) {
    const auto alike = [&](const auto& kind) {
      return kind.first->name == call.name && kind.first->arguments == call.arguments;
    };
    const auto at = std::find_if(kinds.begin(), kinds.end(), alike);
    if (at == kinds.end())
      kinds.emplace_back(&call, 1);
    else
      ++at->second;
  }
  std::string out = "library call, computed on the host: without counts and time\n" +
                    std::string(kLineWidth, '-') + "\n";
  for (const auto& [call, count] : kinds)
    out += fmt::format("  {}{}; {}, {}\n", pad_right(call->name, kNameWidth), call->arguments,
                       how_often(count), preceding_launch_text(call->launches));
  return out + "\n";
}

int profile_program(const ProfileOptions& options) {
  const RegularExpression pattern = compile_kernel_name_regex(options.kernel);
  std::vector<const Metric*> metrics;
  if (options.metrics.empty())
    for (const Metric& m : all_metrics()) metrics.push_back(&m);
  else
    metrics = parse_metric_list(options.metrics);

  // The check fails before the program runs, which may take long.
  if (!options.csv.empty()) check_writable(options.csv, "--csv");
  RecordedRun run = run_recorded(options.program, options.device, options.arguments, "profile",
                                 {std::nullopt, options.gpus});
  const auto launches = select_launches(run.recording, pattern, options.kernel);

  std::string text = "\n";
  text += options.metrics.empty() ? profile_text(launches) : metrics_text(launches, metrics);
  text += library_calls_text(run.recording.library_calls);
  if (options.source && !launches.empty()) text += source_view(launches);
  if (!launches.empty() || !run.recording.library_calls.empty()) fmt::print("{}", visible(text));
  if (run.status != 0) fmt::print("{}\n", exit_status_text(run.status));
  std::fflush(stdout);
  if (!options.csv.empty()) write_file(options.csv, ncu_csv(launches, metrics), "--csv");
  return run.recording.unsupported.empty() ? run.status : kNotSupported;
}

}  // namespace lab32::profiler
