#include "runtime/cudart/early_warnings.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "device/names.h"
#include "device/sim_device.h"
#include "runtime/cudart/device_code.h"
#include "runtime/cudart/errors.h"
#include "simulator/ptx/opcodes.h"

namespace lab32::cudart {
namespace {

// Beyond this number, the message recommends --list-unsupported.
constexpr size_t kMostLines = 4;

void print_each(const char* of, const std::vector<std::string>& lines) {
  static std::set<std::string> said;
  size_t number = 0;
  for (const std::string& line : lines)
    if (said.insert(line).second && ++number <= kMostLines)
      print_message(fmt::format("{}: {}", of, line));
  if (number > kMostLines)
    print_message(fmt::format("... and {} more: `lab32 run --list-unsupported` lists all",
                              number - kMostLines));
}

void add_all(const std::map<std::string, std::string>& refusals, const std::string& name,
             CodeRefusals* all) {
  for (const auto& [symbol, why] : refusals) all->add(why, device::kernel_name(symbol), name);
}

// Examines a module that the program has not used yet. The PTX is parsed only if it may contain an
// unknown opcode.
void examine_unused(const Binary& binary, const std::string& arch, CodeRefusals* all) {
  try {
    const std::string ptx = choose(read_fatbin(binary.wrapper), arch).ptx;
    if (ptx::may_have_unknown_opcodes(ptx))
      add_all(device::refusals_of(shorten_paths(ptx)), "", all);
  } catch (const Error&) {
    // The module has no code for this device. Its first use will report that.
  }
}

}  // namespace

void CodeRefusals::add(const std::string& why, const std::string& kernel, const std::string& name) {
  static const Pattern in_source("^PTX line [0-9]+: (.*) \\(source: (.*)\\)$"),
      in_ptx("^PTX line ([0-9]+): (.*)$");
  std::string text = why.substr(0, why.find('\n'));
  if (const auto found = in_source.match(text))
    text = (*found)[2] + ": " + (*found)[1];
  else if (const auto line = name.empty() ? std::nullopt : in_ptx.match(text))
    text = name + ":" + (*line)[1] + ": " + (*line)[2];
  kernels_[text].push_back(kernel);
}

std::vector<std::string> CodeRefusals::lines() const {
  std::vector<std::string> lines;
  for (const auto& [text, kernels] : kernels_) {
    const std::string others =
        kernels.size() > 1 ? fmt::format(" and {} more", kernels.size() - 1) : "";
    lines.push_back(kernels[0].empty() ? text
                                       : fmt::format("{} (kernel {}{})", text, kernels[0], others));
  }
  return lines;
}

void warn_of_kernels(Registry& registry, const std::string& arch) {
  const std::vector<Binary*> binaries = registry.take_unexamined();
  if (binaries.empty()) return;
  CodeRefusals all;
  for (Binary* binary : binaries)
    if (binary->here())
      add_all(binary->here()->refusals(), "", &all);
    else if (!binary->refused)
      examine_unused(*binary, arch, &all);
  print_each("the program contains a kernel that cannot run", all.lines());
}

void warn_of_kernels(Binary& module) {
  CodeRefusals all;
  add_all(module.here()->refusals(), module.code->name, &all);
  print_each("the program has loaded a kernel that cannot run", all.lines());
}

void warn_of_calls(const std::vector<std::string>& refusals) {
  print_each("the program uses a function that cannot run", refusals);
}

}  // namespace lab32::cudart
