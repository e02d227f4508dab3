#include "grading/timing/given_time.h"

#include <fmt/core.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "device/device.h"
#include "device/names.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::grading {

// ---- code of kernels ----

namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

// The first name after the directives, as in `.func (.param .b32 r) f(`, `.visible .entry k(` and
// `.global .align 4 .b8 v[16]`.
std::string ptx_declared_name(const std::string& line) {
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '(') at = std::min(line.find(')', at), line.size());
    if (c != '.' && !is_name_character(c)) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (end < line.size() && is_name_character(line[end])) ++end;
    if (c != '.' && !std::isdigit(static_cast<unsigned char>(c))) return line.substr(at, end - at);
    at = end;
  }
  return "";
}

bool begins_ptx_definition(const std::string& line) {
  static const RegularExpression begin(
      "^\\.(visible|weak|common|extern|entry|func|global|const|shared|alias)\\b");
  return begin.search(line).has_value();
}

bool is_loc_label_or_comment_line(const std::string& line) {
  const size_t at = std::min(line.find_first_not_of(" \t"), line.size());
  return line.compare(at, 4, ".loc") == 0 || line.compare(at, 2, "//") == 0 ||
         line.compare(at, 6, "$L__tm") == 0 || line.compare(at, 7, "$L__fun") == 0;
}

// Removes the numbers of labels and stacks: nvcc numbers them by the function's place in the file.
std::string without_label_numbers(const std::string& text) {
  static const RegularExpression label("\\$L__BB[0-9]+_"), stack("__local_depot[0-9]+");
  return stack.replace(label.replace(text, "$L__BB_"), "__local_depot");
}

}  // namespace

NormalisedKernelTexts::NormalisedKernelTexts(const std::string& ptx) {
  std::istringstream lines(ptx);
  std::string* item = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (begins_ptx_definition(line)) {
      const std::string name = ptx_declared_name(line);
      item = &text_[name];
      if (line.find(".entry") != std::string::npos) kernels_.push_back(name);
    }
    if (line.rfind(".section", 0) == 0 || line.rfind(".file", 0) == 0) item = nullptr;
    if (!item || is_loc_label_or_comment_line(line)) continue;
    *item += line + "\n";
    if (line == "}") item = nullptr;
  }
  for (auto& [name, text] : text_) text = without_label_numbers(text);
}

std::string NormalisedKernelTexts::code(const std::string& name) const {
  std::string symbol = name;
  if (text_.count(symbol) == 0) {
    try {
      const auto kernel = device::find_kernel(kernels_, name);
      if (!kernel) return "";
      symbol = kernels_[*kernel];
    } catch (const Error&) {  // several kernels match
      return "";
    }
  }
  std::set<std::string> seen{symbol};
  std::vector<std::string> open{symbol};
  std::string all;
  while (!open.empty()) {
    const std::string& text = text_.at(open.back());
    open.pop_back();
    all += text;
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && is_name_character(text[end])) ++end;
      const std::string word = text.substr(at, end - at);
      if (text_.count(word) != 0 && seen.insert(word).second) open.push_back(word);
      at = end + 1;
    }
  }
  return all;
}

namespace {

const std::string kSimulator = "sim:";

std::string compute_on_new_device(Check& check, const std::function<std::string(Check&)>& compute) {
  const GradingSession& s = check.session;
  const std::unique_ptr<device::Device> device = device::open_device(check.device().name());
  const std::unique_ptr<device::LoadedModule> module = device->load(*s.artifact);
  const GradingSetup setup{*device, s.setup.seed, s.setup.progress};
  GradingSession own{setup, *module, s.source, s.rubric};
  Check own_check(own, check.row);
  own_check.verdict = check.verdict;
  try {
    return compute(own_check);
  } catch (const TestOver&) {  // a failure on the other device must end this check, too
    check.verdict = own_check.verdict;
    throw;
  }
}

std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

}  // namespace

std::string cached_result_text_of_given_kernel(Check& check, const std::string& kernel,
                                               const std::string& work,
                                               const std::function<std::string(Check&)>& compute) {
  const GradingSession& s = check.session;
  const std::string device = check.device().name();
  // A device that a test has made has no profile that could identify it.
  if (!s.artifact || device.rfind(kSimulator, 0) != 0) return compute(check);
  const std::string code =
      NormalisedKernelTexts(s.artifact->ptx).code(kernel_name_with_namespace(check, kernel));
  const auto profile =
      read_file(lab32_root() / "data/devices" / (device.substr(kSimulator.size()) + ".toml"));
  if (code.empty() || !profile) return compute_on_new_device(check, compute);
  const std::string key = toolchain::cache_key(
      "time of a given kernel\n" + toolchain::identity_of("/proc/self/exe") +
      toolchain::installed_toolchain().identity + *profile + "\n" + work + "\n" + code);
  static std::map<std::string, std::string> known;
  if (const auto at = known.find(key); at != known.end()) return at->second;
  if (const auto kept = toolchain::load_cached_text(key)) return known[key] = *kept;
  const std::string text = compute_on_new_device(check, compute);
  toolchain::store_cached_text(key, text);
  return known[key] = text;
}

double cached_time_of_given_kernel(Check& check, const std::string& kernel, const std::string& work,
                                   const std::function<double(Check&)>& compute) {
  const auto text = [&](Check& own) { return fmt::format("{:.17g}", compute(own)); };
  const std::optional<double> kept =
      parse_number(cached_result_text_of_given_kernel(check, kernel, work, text));
  // The cached text is no number if its file was damaged; the time is then computed again.
  return kept ? *kept : *parse_number(compute_on_new_device(check, text));
}

}  // namespace lab32::grading
