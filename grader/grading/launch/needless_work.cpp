#include "grading/launch/needless_work.h"

#include <fmt/core.h>

#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/pattern.h"
#include "device/kernel_name.h"
#include "grading/engine/check.h"

namespace lab32::grading {
namespace {

// More instructions than an unrolled reduction of 1024 elements has.
constexpr size_t kMostTries = 200;

// The lines of a PTX text without its other kernels, which would be parsed at each attempt.
std::vector<std::string> lines_of(const std::string& ptx, const std::string& symbol) {
  std::vector<std::string> kept;
  bool other = false;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    const size_t entry = line[0] == '.' ? line.find(".entry ") : std::string::npos;
    if (entry != std::string::npos) {
      const size_t name = entry + 7;
      other = line.substr(name, line.find_first_of("( \t", name) - name) != symbol;
    }
    if (!other) kept.push_back(line);
    if (line == "}") other = false;
  }
  return kept;
}

// "mov.b32 %r7, 0;"; empty for a register of an unknown type.
std::string cleared(const std::string& name) {
  static const Pattern numbered("^%(rs|rd|r|fd|f)[0-9]+$");
  const auto kind = numbered.match(name);
  if (!kind) return "";
  if (kind->at(1) == "rs") return "mov.b16 " + name + ", 0;";
  if (kind->at(1) == "rd") return "mov.b64 " + name + ", 0;";
  if (kind->at(1) == "f") return "mov.f32 " + name + ", 0f00000000;";
  if (kind->at(1) == "fd") return "mov.f64 " + name + ", 0d0000000000000000;";
  return "mov.b32 " + name + ", 0;";
}

// What replaces a load of these registers, with its predicate.
std::optional<std::string> cleared_all(const std::string& predicate, const std::string& names) {
  std::istringstream words(Pattern("[{},]").replace(names, " "));
  std::string text;
  for (std::string name; words >> name;) {
    const std::string move = cleared(name);
    if (move.empty()) return std::nullopt;
    text += predicate + move + " ";
  }
  return text;
}

// The line without its instruction; nullopt: it has none of that kind.
std::optional<std::string> removed(const std::string& line, Work work) {
  static const Pattern barrier("^\\s*(@!?%p[0-9]+\\s+)?(bar|barrier)(\\.cta)?\\.sync\\b[^;]*;$"),
      store("^\\s*(@!?%p[0-9]+\\s+)?st(\\.[a-z]+)*\\.shared\\b[^;]*;$"),
      load(
          "^\\s*(@!?%p[0-9]+\\s+)?ld(\\.[a-z]+)*\\.shared\\b\\S*\\s+(\\{[^}]*\\}|%[a-z0-9]+)\\s*,"
          "[^;]*;$");
  if (work == Work::barriers) return barrier.match(line) ? std::optional("") : std::nullopt;
  if (store.match(line)) return "";
  if (const auto found = load.match(line)) return cleared_all(found->at(1), found->at(3));
  return std::nullopt;
}

std::optional<device::Run> tried(Check& check, const std::vector<std::string>& lines,
                                 const std::string& kernel, const TryKernel& attempt) {
  toolchain::Artifact artifact;
  artifact.source = check.session.artifact->source;
  artifact.arch = check.session.artifact->arch;
  for (const std::string& line : lines) artifact.ptx += line + "\n";
  try {
    const std::unique_ptr<device::LoadedModule> module = check.device().load(artifact);
    device::Kernel* const found = module->find(kernel);
    return found ? attempt(*found) : std::nullopt;
  } catch (const MachineError&) {
    throw;
  } catch (const Error&) {  // the text without the instruction is no program
    return std::nullopt;
  }
}

// Removes what it can, from the end: what an earlier access has prepared is needless once the later
// one is gone.
void remove_needless(Check& check, std::vector<std::string>& lines, const std::string& kernel,
                     Work work, const TryKernel& attempt, std::optional<WithoutNeedless>& found) {
  size_t tries = 0;
  for (auto line = lines.rbegin(); line != lines.rend() && tries < kMostTries; ++line) {
    const std::optional<std::string> without = removed(*line, work);
    if (!without) continue;
    ++tries;
    const std::string before = std::exchange(*line, *without);
    std::optional<device::Run> run = tried(check, lines, kernel, attempt);
    if (run)
      found = {found ? found->removed + 1 : 1, std::move(*run)};
    else
      *line = before;
  }
}

}  // namespace

std::optional<WithoutNeedless> without_needless(Check& check, const std::string& kernel, Work work,
                                                const TryKernel& attempt) {
  Session& s = check.session;
  if (!s.artifact) return std::nullopt;
  const std::vector<std::string> symbols = s.module.kernel_symbols();
  const auto symbol = device::find_kernel(symbols, kernel);
  if (!symbol) return std::nullopt;
  std::vector<std::string> lines = lines_of(s.artifact->ptx, symbols[*symbol]);
  std::optional<WithoutNeedless> found;
  remove_needless(check, lines, kernel, Work::shared_accesses, attempt, found);
  if (work == Work::barriers) remove_needless(check, lines, kernel, Work::barriers, attempt, found);
  return found;
}

}  // namespace lab32::grading
