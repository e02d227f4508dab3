#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/source_file.h"
#include "base/text.h"
#include "pictures/make.h"
#include "runtime/profiler/commands.h"
#include "runtime/profiler/kernel_names.h"
#include "runtime/profiler/start.h"
#include "simulator/ptx/debug_types.h"
#include "simulator/timing/profile.h"

namespace lab32::profiler {
namespace {

namespace fs = std::filesystem;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The kernel's name alone: "scale" for "void scale<float>(T1 *, int)".
std::string unqualified_kernel_name(const std::string& kernel) {
  const std::string head = kernel.substr(0, kernel.find_first_of("<("));
  return head.substr(head.find_last_of(" :") + 1);
}

// The names of a kernel's parameters in its source; empty if the source cannot be parsed.
std::vector<std::string> parameter_names_of(const SourceFile& source, const std::string& kernel) {
  const int line = source.line_of_name(kernel);
  std::string text;
  for (int at = line; line > 0 && at < line + 20 && text.find('{') == std::string::npos; ++at)
    text += source.text_of(at) + " ";
  const size_t name = text.find(kernel + "(");
  if (name == std::string::npos) return {};
  std::vector<std::string> names;
  int depth = 0;
  std::string word, last;
  for (size_t i = name + kernel.size(); i < text.size(); ++i) {
    const char c = text[i];
    if (is_name(c)) {
      word += c;
      continue;
    }
    if (!word.empty()) last = std::exchange(word, "");
    if (c == '(' || c == '<' || c == '[') ++depth;
    if ((c == ',' && depth == 1) || (c == ')' && depth == 1))
      names.push_back(std::exchange(last, ""));
    if (c == ')' || c == '>' || c == ']') --depth;
    if (depth == 0) break;
  }
  return names;
}

// Rewrites "tile+136" as "tile[1][2]" if the kernel's shared array has such an element. The types
// are compiled when the first name needs them.
class SharedElementNames {
 public:
  SharedElementNames(const ProgramOrSources& program, const std::string& device)
      : program_(program), device_(device) {}

  void name_elements(record::LaunchProfile& launch) {
    for (counters::LineDetail& line : launch.run.launch_detail->lines) {
      if (!line.shared) continue;
      for (counters::RequestDetail& request : line.requests)
        for (std::string& place : request.place)
          place = element_name(launch.symbol, place, request.bytes);
    }
  }

 private:
  std::string element_name(const std::string& kernel, const std::string& place, uint32_t bytes) {
    const size_t plus = place.rfind('+');
    if (plus == std::string::npos || kernel.rfind("_Z", 0) != 0) return place;
    if (!types_)
      types_ = ptx::DebugTypes(debug_ptx(
          program_, model::read_device_profile(profile_name_of_device_option(device_)).arch));
    const std::string variable = place.substr(0, plus);
    const std::string symbol =
        fmt::format("_ZZ{}E{}{}", kernel.substr(2), variable.size(), variable);
    const std::string part =
        types_->element_path(symbol, std::stoll(place.substr(plus + 1)), bytes);
    return part.empty() ? place : variable + part;
  }

  const ProgramOrSources program_;
  const std::string device_;
  std::optional<ptx::DebugTypes> types_;
};

// Whether the launch has accesses to draw on the line, or on any line if none is given.
bool has_accesses_to_draw(const device::LaunchResult& run, const std::optional<int>& line) {
  const auto meant = [&](int at) { return !line || *line == at; };
  if (run.fault && run.fault->trap && run.fault->trap->access && meant(run.fault->line))
    return true;
  if (!run.launch_detail) return false;
  const auto& shuffles = run.launch_detail->shuffles;
  return !run.launch_detail->lines.empty() ||
         std::any_of(shuffles.begin(), shuffles.end(),
                     [&](const counters::ShuffleDetail& s) { return meant(s.line); });
}

pictures::PicturedLaunch picture_of_launch(const record::LaunchProfile& launch,
                                           const SourceFile& source, const std::string& file) {
  const std::string kernel = ncu_kernel_name(launch.symbol);
  const auto parameters = parameter_names_of(source, unqualified_kernel_name(kernel));
  std::vector<counters::AccessedArray> arrays;
  if (launch.run.launch_detail) arrays = launch.run.launch_detail->arrays;
  const auto element = [&](uint64_t address, uint32_t bytes) {
    for (const counters::AccessedArray& array : arrays) {
      if (address < array.begin || address - array.begin >= array.bytes) continue;
      const uint64_t index = (address - array.begin) / bytes;
      const auto n = static_cast<size_t>(array.parameter);
      if (array.parameter >= 0 && n < parameters.size() && !parameters[n].empty())
        return fmt::format("{}[{}]", parameters[n], index);
      return fmt::format("{} [{}]", array.name, index);
    }
    return fmt::format("{:#x}", address);
  };
  std::string own = file;  // the name of the file in line information
  if (launch.run.fault) own = launch.run.fault->file;
  if (launch.run.launch_detail)
    for (const counters::LineDetail& line : launch.run.launch_detail->lines) own = line.file;
  return pictures::make_pictured_launch(launch.run, launch.shape,
                                        {kernel, "", own, source, element});
}

}  // namespace

namespace {

// Sends the program's output to stderr, because stdout is for the explanation.
class StdoutToStderr {
 public:
  StdoutToStderr() : kept_(dup(STDOUT_FILENO)) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~StdoutToStderr() {
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  StdoutToStderr(const StdoutToStderr&) = delete;
  StdoutToStderr& operator=(const StdoutToStderr&) = delete;

 private:
  int kept_;
};

// True if `a` should be drawn rather than `b`. Wrong accesses rank before slow ones.
bool should_be_drawn_instead_of(const pictures::PicturedLaunch& a,
                                const pictures::PicturedLaunch& b) {
  const auto wrong = [](const pictures::PicturedLaunch& launch) {
    return launch.fault.has_value() + launch.race.has_value();
  };
  if (wrong(a) != wrong(b)) return wrong(a) > wrong(b);
  return pictures::time_weighted_access_waste(a) > pictures::time_weighted_access_waste(b);
}

RecordedRun run_with_details(const ExplainOptions& options, const counters::DetailFilter& choice) {
  const StdoutToStderr redirected;
  return run_recorded(options.program, options.device, options.arguments, "profile",
                      {std::nullopt, options.gpus, record::to_text(choice)});
}

}  // namespace

pictures::PicturedCheck picture_of_program_run(const ExplainOptions& options) {
  const fs::path path(options.program.file);
  const std::string shown = visible_name(options.program.file);
  if (path.extension() != ".cu")
    throw Error(shown + ": a source, PROGRAM.cu, is needed to draw its lines");
  const SourceFile source(path, shown);
  counters::DetailFilter choice = options.choice;
  choice.file = path.filename().string();
  RecordedRun run = run_with_details(options, choice);
  SharedElementNames names(options.program, options.device);
  std::optional<pictures::PicturedLaunch> worst;
  for (record::LaunchProfile& launch : run.recording.launches) {
    if (!has_accesses_to_draw(launch.run, choice.line)) continue;
    if (launch.run.launch_detail) names.name_elements(launch);
    pictures::PicturedLaunch made = picture_of_launch(launch, source, choice.file);
    made.setting = fmt::format("launch {}", launch.id);
    if (!worst || should_be_drawn_instead_of(made, *worst)) worst = std::move(made);
  }
  if (!worst)
    throw Error(fmt::format("{}{}: {}", shown, choice.line ? fmt::format(":{}", *choice.line) : "",
                            run.recording.launches.empty() ? "the program launched no kernel"
                            : !run.recording.unsupported.empty()
                                ? run.recording.unsupported[0]
                                : "no launch accesses memory or shuffles on that line (`lab32 "
                                  "profile --source` lists the lines that access it)"));
  return {"", "", shown, "", *worst};
}

}  // namespace lab32::profiler
