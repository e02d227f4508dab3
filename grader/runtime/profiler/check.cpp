#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/source_file.h"
#include "base/text.h"
#include "device/run_text.h"
#include "runtime/profiler/commands.h"
#include "runtime/profiler/kernel_names.h"
#include "runtime/profiler/start.h"
#include "simulator/observers/races/finding.h"

namespace lab32::profiler {
namespace {

using counters::Finding;
using record::LaunchProfile;

constexpr int kTextWidth = 80;

// The heading under which a finding is counted and shown.
enum class Topic : uint8_t { barrier, initialisation, memory, race };

const char* topic_name(Topic group) {
  switch (group) {
    case Topic::barrier:
      return "barrier";
    case Topic::initialisation:
      return "initialisation";
    case Topic::memory:
      return "memory";
    case Topic::race:
      break;
  }
  return "race";
}

Topic topic_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::memory:
      return Topic::memory;
    case Finding::Kind::race:
      return Topic::race;
    case Finding::Kind::uninitialised:
      return Topic::initialisation;
    case Finding::Kind::warp_mask:
    case Finding::Kind::barrier:
      break;
  }
  return Topic::barrier;
}

// The topic of a fault that is missing among the launch's findings.
Topic topic_of(sim::TrapKind kind) {
  switch (kind) {
    case sim::TrapKind::uninitialised:
      return Topic::initialisation;
    case sim::TrapKind::barrier:
    case sim::TrapKind::shuffle:
      return Topic::barrier;
    default:
      return Topic::memory;
  }
}

// A finding summed over all launches, or a fault without a finding. The example is from the first
// launch.
struct FindingOfAllLaunches {
  Topic group;
  bool note;
  std::string file, other_file;
  int line, other_line;
  uint64_t count;
  std::string kernel;
  std::string words, fix;  // the rendered text
  uint64_t launches = 1;
};

FindingOfAllLaunches finding_of_all_launches_of(const Finding& f, const std::string& kernel) {
  return {topic_of(f.kind), f.note, f.file,
          f.other_file,     f.line, f.other_line,
          f.count,          kernel, describe_without_line(f),
          usual_fix(f)};
}

FindingOfAllLaunches finding_of_all_launches_of(const device::KernelFault& f,
                                                const std::string& kernel) {
  return {topic_of(f.kind), false, f.file, "", f.line, 0, 1, kernel, describe(f), ""};
}

class SourceLineQuoter {
 public:
  // A location such as "kernel.cu:31", and the source line below it if the file can be read.
  std::string location_and_source_line(const std::string& path, int line) {
    if (path.empty() || line <= 0) return "on an unknown line (compiled without -lineinfo?)";
    const auto [it, fresh] = files_.try_emplace(path);
    if (fresh) {
      const std::string shown = path_for_display(path);
      it->second = std::filesystem::is_regular_file(path) ? SourceFile(path, shown)
                                                          : SourceFile::from_text("", shown);
    }
    return it->second.location_and_source_line(line);
  }

 private:
  std::map<std::string, SourceFile> files_;
};

std::string wrapped_and_indented_text(const std::string& text) {
  std::string out;
  for (const std::string& line : wrap(text, kTextWidth - 2)) out += "  " + line + "\n";
  return out;
}

std::string text_of(const FindingOfAllLaunches& e, SourceLineQuoter& sources) {
  std::string out = fmt::format("{}, {} {} in {}", e.note ? "note" : topic_name(e.group),
                                grouped_digits(e.count), e.count == 1 ? "time" : "times", e.kernel);
  if (e.launches > 1) out += fmt::format(" ({} launches)", grouped_digits(e.launches));
  out = wrapped_and_indented_text(out).substr(2);
  // If the earlier access is in another file, the text names its line.
  if (e.other_line > 0 && e.other_line != e.line && e.other_file == e.file)
    out += wrapped_and_indented_text(sources.location_and_source_line(e.file, e.other_line));
  out += wrapped_and_indented_text(sources.location_and_source_line(e.file, e.line)) +
         wrapped_and_indented_text(e.words);
  return out + (e.fix.empty() ? "" : wrapped_and_indented_text("Usual fix: " + e.fix + ".")) + "\n";
}

using Key = std::tuple<bool, std::string, int, Topic, int>;
using Entries = std::map<Key, FindingOfAllLaunches>;

void merge_entry(Entries& entries, const FindingOfAllLaunches& entry) {
  const Key key{entry.note, entry.file, entry.line, entry.group, entry.other_line};
  const auto [it, fresh] = entries.try_emplace(key, entry);
  if (fresh) return;
  it->second.count += entry.count;
  ++it->second.launches;
}

bool has_hazard_of_topic(const std::vector<Finding>& findings, Topic group) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return !f.note && topic_of(f.kind) == group; });
}

}  // namespace

std::string ProgramHazardReport::last_line() const {
  return fmt::format("lab32 check: {} hazard{} (memory {}, race {}, initialisation {}, barrier {})",
                     hazards(), hazards() == 1 ? "" : "s", memory, race, initialisation, barrier);
}

ProgramHazardReport make_hazard_report(const std::vector<LaunchProfile>& launches) {
  ProgramHazardReport report;
  Entries entries;
  SourceLineQuoter sources;
  std::string stopped;
  // whether some finding has a line of PTX where it could have one of Python
  bool of_numba = false;
  const auto note_place = [&](const LaunchProfile& r, const std::string& file) {
    of_numba |= file.rfind("<PTX", 0) == 0 && is_name_of_numba(r.symbol);
  };
  for (const LaunchProfile& r : launches) {
    const std::string kernel = ncu_kernel_name(r.symbol);
    const std::vector<Finding> findings = r.run.hazards.value_or(std::vector<Finding>{});
    for (const Finding& finding : findings) {
      merge_entry(entries, finding_of_all_launches_of(finding, kernel));
      note_place(r, finding.file);
    }
    if (!r.run.fault) continue;
    note_place(r, r.run.fault->file);
    const device::KernelFault& fault = *r.run.fault;
    if (sim::is_nonfatal_trap(fault.kind)) {
      if (!has_hazard_of_topic(findings, topic_of(fault.kind)))
        merge_entry(entries, finding_of_all_launches_of(fault, kernel));
    } else {
      ++report.stopped;
      stopped +=
          fmt::format("stopped: launch {}, {}\n", r.id, kernel) +
          wrapped_and_indented_text(sources.location_and_source_line(fault.file, fault.line)) +
          wrapped_and_indented_text(fmt::format("{}: {}", words(fault.kind), describe(fault))) +
          "\n";
    }
  }
  // The order is: hazards by file and line, then faults that ended a launch, then notes.
  std::string notes;
  for (const auto& [key, entry] : entries) {
    if (entry.note) {
      notes += text_of(entry, sources);
      continue;
    }
    report.text += text_of(entry, sources);
    if (!report.access && entry.group != Topic::barrier && entry.line > 0)
      report.access = ProgramHazardReport::FileAndLine{entry.file, entry.line};
    switch (entry.group) {
      case Topic::memory:
        ++report.memory;
        break;
      case Topic::race:
        ++report.race;
        break;
      case Topic::initialisation:
        ++report.initialisation;
        break;
      case Topic::barrier:
        ++report.barrier;
    }
  }
  report.text += stopped + notes;
  if (of_numba) report.text += "@cuda.jit(lineinfo=True) gives findings lines of Python.\n\n";
  return report;
}

void add_library_findings(const std::vector<record::RecordedLibraryCall>& calls,
                          ProgramHazardReport* report) {
  using Kind = record::RecordedLibraryCall::Finding::Kind;
  std::map<std::tuple<std::string, Kind, std::string>, uint64_t> all;
  for (const record::RecordedLibraryCall& call : calls)
    for (const record::RecordedLibraryCall::Finding& f : call.findings)
      ++all[{call.name + " (" + call.arguments + ")", f.kind, f.text}];
  for (const auto& [what, count] : all) {
    const auto& [call, kind, text] = what;
    const bool memory = kind == Kind::memory;
    ++(memory ? report->memory : report->initialisation);
    report->text +=
        fmt::format("{}, {} {} in {}, a library call\n", memory ? "memory" : "initialisation",
                    grouped_digits(count), count == 1 ? "time" : "times", call);
    for (const std::string& line : wrap(text, kTextWidth - 2)) report->text += "  " + line + "\n";
    report->text += "\n";
  }
}

void add_host_findings(const std::vector<record::HostFinding>& findings,
                       ProgramHazardReport* report) {
  using Kind = record::HostFinding::Kind;
  SourceLineQuoter sources;
  for (const record::HostFinding& f : findings) {
    ++(f.kind == Kind::memory ? report->memory
       : f.kind == Kind::race ? report->race
                              : report->initialisation);
    const Topic topic = f.kind == Kind::memory ? Topic::memory
                        : f.kind == Kind::race ? Topic::race
                                               : Topic::initialisation;
    const std::string heading = fmt::format("{}, in the host's {}", topic_name(topic),
                                            f.call.empty() ? "own code" : f.call);
    const std::string place = f.line == 0 ? "on an unknown line (compiled without -g?)"
                                          : sources.location_and_source_line(f.file, f.line);
    report->text += heading + "\n" + wrapped_and_indented_text(place) +
                    wrapped_and_indented_text(f.text) + "\n";
  }
}

namespace {

// Quotes the word so that a shell reads it unchanged.
std::string quoted_for_shell(const std::string& word) {
  const char* const plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+=:,@%-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The command that draws the first finding; empty if `lab32 explain` cannot, since it draws lines
// of the first source only.
std::string command_that_draws_finding(const HazardCheckCommandOptions& options,
                                       const ProgramHazardReport& report) {
  const std::string& file = options.program.file;
  std::error_code no_such_file;
  if (!report.access || !std::filesystem::equivalent(file, report.access->file, no_such_file))
    return "";
  std::string command = fmt::format("{} explain {} --line {}", quoted_for_shell(options.lab32),
                                    quoted_for_shell(file), report.access->line);
  for (const std::string& word : options.program.words) command += " " + quoted_for_shell(word);
  if (options.gpus > 1) command += fmt::format(" --gpus {}", options.gpus);
  if (!options.arguments.empty()) command += " --";
  for (const std::string& argument : options.arguments) command += " " + quoted_for_shell(argument);
  return command;
}

}  // namespace

int check_program(const HazardCheckCommandOptions& options) {
  const RecordedRun run = run_recorded(options.program, options.device, options.arguments, "check",
                                       {options.schedule, options.gpus});
  ProgramHazardReport report = make_hazard_report(run.recording.launches);
  add_library_findings(run.recording.library_calls, &report);
  add_host_findings(run.recording.host_findings, &report);
  // Start a new line, because the program's output may not have ended its last line.
  fmt::print("\n{}", visible(report.text));
  for (const std::string& what : run.recording.unsupported)
    fmt::print("{}: nothing after that was checked\n", what);
  if (run.status != 0) fmt::print("{}\n", exit_status_text(run.status));
  if (const std::string command = command_that_draws_finding(options, report); !command.empty())
    fmt::print("draw it with: {}\n", command);
  fmt::print("{}\n", report.last_line());
  std::fflush(stdout);
  if (!run.recording.unsupported.empty()) return kNotSupported;
  return report.hazards() > 0 || report.stopped > 0 ? kHazardsFound : run.status;
}

}  // namespace lab32::profiler
