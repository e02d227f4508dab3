#include "grading/timing/given_time.h"

#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "base/environment.h"
#include "base/files.h"
#include "device/device.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/timing/kernel_code.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::grading {
namespace {

const std::string kSimulator = "sim:";

std::string compute_on_new_device(Check& check, const std::function<std::string(Check&)>& compute) {
  const Session& s = check.session;
  const std::unique_ptr<device::Device> device = device::open_device(check.device().name());
  const std::unique_ptr<device::LoadedModule> module = device->load(*s.artifact);
  const GradingSetup setup{*device, s.setup.seed, s.setup.progress};
  Session own{setup, *module, s.source, s.rubric};
  Check own_check(own, check.row);
  own_check.verdict = check.verdict;
  try {
    return compute(own_check);
  } catch (const TestOver&) {  // a failure there must end this check
    check.verdict = own_check.verdict;
    throw;
  }
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

}  // namespace

std::string given_text(Check& check, const std::string& kernel, const std::string& work,
                       const std::function<std::string(Check&)>& compute) {
  const Session& s = check.session;
  const std::string device = check.device().name();
  // A device that a test has made has no profile that could identify it.
  if (!s.artifact || device.rfind(kSimulator, 0) != 0) return compute(check);
  const std::string code = KernelCode(s.artifact->ptx).code(given_kernel(check, kernel));
  const auto profile =
      read_file(root() / "data/devices" / (device.substr(kSimulator.size()) + ".toml"));
  if (code.empty() || !profile) return compute_on_new_device(check, compute);
  const std::string key =
      toolchain::cache_key("time of a given kernel\n" + toolchain::identity_of("/proc/self/exe") +
                           toolchain::installed().identity + *profile + "\n" + work + "\n" + code);
  static std::map<std::string, std::string> known;
  if (const auto at = known.find(key); at != known.end()) return at->second;
  if (const auto kept = toolchain::load_cached_text(key)) return known[key] = *kept;
  const std::string text = compute_on_new_device(check, compute);
  toolchain::store_cached_text(key, text);
  return known[key] = text;
}

double given_time(Check& check, const std::string& kernel, const std::string& work,
                  const std::function<double(Check&)>& compute) {
  const auto text = [&](Check& own) { return fmt::format("{:.17g}", compute(own)); };
  const std::optional<double> kept = number_in(given_text(check, kernel, work, text));
  // Without `kept`, the cached file was damaged.
  return kept ? *kept : *number_in(compute_on_new_device(check, text));
}

}  // namespace lab32::grading
