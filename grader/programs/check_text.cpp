#include "programs/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "labs/describe.h"
#include "labs/source.h"
#include "programs/ncu_name.h"
#include "programs/shown_path.h"
#include "report/layout.h"

namespace lab32::programs {
namespace {

using observe::Finding;
using Kind = Finding::Kind;
using report::LaunchRecord;

constexpr int kWidth = 80;

const char* title(Kind kind) {
  switch (kind) {
    case Kind::memory:
      return "memory";
    case Kind::race:
      return "race";
    case Kind::uninitialised:
      return "initialisation";
    default:
      return "barrier";  // warp operations among absent lanes, too
  }
}

// A fault that the launch's findings ought to hold, should they not.
std::optional<Kind> kind_of(const device::Fault& fault) {
  for (const char* kind : {"out of bounds", "misaligned", "null", "freed", "read-only"})
    if (fault.kind == kind) return Kind::memory;
  if (fault.kind == "uninitialised") return Kind::uninitialised;
  if (fault.kind == "barrier" || fault.kind == "shuffle") return Kind::barrier;
  return std::nullopt;
}

// A finding over all launches. The example is the first launch's.
struct Entry {
  Finding finding;
  std::string kernel;
  uint64_t launches = 0;
};

class Sources {
 public:
  // "demo.cu:31", and the line itself below it where the file can be read.
  std::string quote(const std::string& path, int line) {
    if (path.empty() || line <= 0) return "on an unknown line (compiled without -lineinfo?)";
    const auto [it, fresh] = files_.try_emplace(path);
    if (fresh) {
      const std::string shown = shown_path(path);
      it->second = std::filesystem::is_regular_file(path) ? labs::Source(path, shown)
                                                          : labs::Source::of_text("", shown);
    }
    return it->second.quote(line);
  }

 private:
  std::map<std::string, labs::Source> files_;
};

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : report::wrap(text, kWidth - 2)) out += "  " + line + "\n";
  return out;
}

// Where the sentence about a hazard says what is missing, but not what to do.
std::string mend(const Finding& f) {
  if (f.kind == Kind::race && f.message.find("lies between") != std::string::npos)
    return "Usual mend: a barrier between the two that both threads pass; in a loop one at its "
           "end, too, before the next round overwrites what others still read.";
  if (f.kind == Kind::uninitialised &&
      f.message.find("no thread of the block") != std::string::npos)
    return "Usual mend: have the threads fill all of it, the tail of the last block included, and "
           "a barrier after that.";
  return "";
}

std::string describe(const Entry& entry, Sources& sources) {
  const Finding& f = entry.finding;
  std::string out =
      fmt::format("{}, {} {} in {}", f.note ? "note" : title(f.kind), labs::grouped(f.count),
                  f.count == 1 ? "time" : "times", entry.kernel);
  if (entry.launches > 1) out += fmt::format(" ({} launches)", labs::grouped(entry.launches));
  out = indented(out).substr(2);
  // The message says so where the earlier access is another file's.
  const bool here = f.message.find(fmt::format("line {} of ", f.other_line)) == std::string::npos;
  if (f.other_line > 0 && f.other_line != f.line && here)
    out += indented(sources.quote(f.file, f.other_line));
  // Quoted above, the line need not be named again.
  const std::string own = fmt::format("line {}: ", f.line);
  const bool named = f.message.rfind(own, 0) == 0;
  out += indented(sources.quote(f.file, f.line)) +
         indented(named ? f.message.substr(own.size()) : f.message);
  const std::string words = mend(f);
  return out + (words.empty() ? "" : indented(words)) + "\n";
}

using Key = std::tuple<bool, std::string, int, std::string, int>;
using Entries = std::map<Key, Entry>;

void add(Entries& entries, const Finding& finding, const std::string& kernel) {
  const Key key{finding.note, finding.file, finding.line, title(finding.kind), finding.other_line};
  const auto [it, fresh] = entries.try_emplace(key, Entry{finding, kernel, 1});
  if (fresh) return;
  it->second.finding.count += finding.count;
  ++it->second.launches;
}

bool holds(const std::vector<Finding>& findings, Kind kind) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return !f.note && std::string(title(f.kind)) == title(kind);
  });
}

}  // namespace

std::string CheckReport::last_line() const {
  return fmt::format("lab32 check: {} hazards (memory {}, race {}, initialisation {}, barrier {})",
                     hazards(), memory, race, initialisation, barrier);
}

CheckReport check_report(const std::vector<LaunchRecord>& launches) {
  CheckReport report;
  Entries entries;
  Sources sources;
  std::string stopped;
  for (const LaunchRecord& r : launches) {
    const std::string kernel = ncu_name(r.symbol);
    const std::vector<Finding> findings = r.run.hazards.value_or(std::vector<Finding>{});
    for (const Finding& finding : findings) add(entries, finding, kernel);
    if (!r.run.fault) continue;
    const device::Fault& fault = *r.run.fault;
    if (const auto kind = kind_of(fault)) {
      if (holds(findings, *kind)) continue;
      Finding finding;
      finding.kind = *kind;
      finding.file = fault.file;
      finding.line = fault.line;
      finding.count = 1;
      finding.message = fault.message;
      add(entries, finding, kernel);
    } else {
      ++report.stopped;
      stopped += fmt::format("stopped: launch {}, {}\n", r.id, kernel) +
                 indented(sources.quote(fault.file, fault.line)) +
                 indented(fault.kind + ": " + fault.message) + "\n";
    }
  }
  // Hazards, by file and line; then what ended a launch; then the notes.
  std::string notes;
  for (const auto& [key, entry] : entries) {
    if (entry.finding.note) {
      notes += describe(entry, sources);
      continue;
    }
    report.text += describe(entry, sources);
    switch (entry.finding.kind) {
      case Kind::memory:
        ++report.memory;
        break;
      case Kind::race:
        ++report.race;
        break;
      case Kind::uninitialised:
        ++report.initialisation;
        break;
      default:
        ++report.barrier;
    }
  }
  report.text += stopped + notes;
  return report;
}

}  // namespace lab32::programs
