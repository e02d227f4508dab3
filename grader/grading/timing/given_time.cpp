#include "grading/timing/given_time.h"

#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "base/environment.h"
#include "base/files.h"
#include "device/device.h"
#include "grading/engine/compiled.h"
#include "grading/engine/session.h"
#include "grading/timing/kernel_code.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::grading {
namespace {

const std::string kSimulator = "sim:";

std::string on_its_own_device(const std::function<std::string()>& compute) {
  const Session& s = session();
  const std::unique_ptr<device::Device> device = device::open_device(s.device.name());
  const std::unique_ptr<device::LoadedModule> module = device->load(*s.artifact);
  Session own{*device, *module, s.source, s.rubric, s.seed, s.progress};
  own.row = s.row;
  own.modelled_times = true;
  const CurrentSession current(own);
  return compute();
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

}  // namespace

std::string given_text(const std::string& kernel, const std::string& work,
                       const std::function<std::string()>& compute) {
  const Session& s = session();
  const std::string device = s.device.name();
  // A device that a test made has no profile to know it by.
  if (!s.artifact || device.rfind(kSimulator, 0) != 0) return compute();
  const std::string code = KernelCode(s.artifact->ptx).code(given(kernel));
  const auto profile =
      read_file(root() / "data/devices" / (device.substr(kSimulator.size()) + ".toml"));
  if (code.empty() || !profile) return on_its_own_device(compute);
  const std::string key =
      toolchain::cache_key("time of a given kernel\n" + toolchain::identity_of("/proc/self/exe") +
                           toolchain::installed().identity + *profile + "\n" + work + "\n" + code);
  static std::map<std::string, std::string> known;
  if (const auto at = known.find(key); at != known.end()) return at->second;
  if (const auto kept = toolchain::load_cached_text(key)) return known[key] = *kept;
  const std::string text = on_its_own_device(compute);
  toolchain::store_cached_text(key, text);
  return known[key] = text;
}

double given_time(const std::string& kernel, const std::string& work,
                  const std::function<double()>& compute) {
  const auto text = [&] { return fmt::format("{:.17g}", compute()); };
  const std::optional<double> kept = number_in(given_text(kernel, work, text));
  return kept ? *kept : *number_in(on_its_own_device(text));  // its file was damaged
}

}  // namespace lab32::grading
