#include "runtime/cudart/registry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "device/names.h"
#include "device/sim_device.h"
#include "runtime/cudart/device_code.h"
#include "runtime/cudart/errors.h"
#include "simulator/ptx/opcodes.h"
#include "toolchain/machine_code.h"

namespace lab32::cudart {
namespace {

// The architecture that the PTX names in `.target sm_90`.
std::string ptx_target(const std::string& ptx) {
  const size_t at = ptx.find(".target");
  const size_t name = at == std::string::npos ? at : ptx.find("sm_", at);
  if (name == std::string::npos) return {};
  return ptx.substr(name, ptx.find_first_of(", \n", name) - name);
}

}  // namespace

std::string make_paths_relative(std::string text) {
  static const std::string here = [] {
    char path[4096];
    return std::string(getcwd(path, sizeof path) ? path : "") + "/";
  }();
  if (here.size() < 2) return text;
  const std::string absolute = '"' + here;
  for (size_t at = 0; (at = text.find(absolute, at)) != std::string::npos; ++at)
    text.erase(at + 1, here.size());
  return text;
}

DeviceBinary* DeviceCodeRegistry::add_binary(const void* wrapper) {
  binaries_.push_back(std::make_unique<DeviceBinary>());
  binaries_.back()->wrapper = wrapper;
  has_new_ = true;
  return binaries_.back().get();
}

DeviceBinary* DeviceCodeRegistry::add_module(DeviceCode code) {
  DeviceBinary* module = add_binary(nullptr);
  module->code = std::move(code);
  try {
    load_on_current_device(*module);
  } catch (...) {
    remove_binary(module);
    throw;
  }
  return module;
}

void DeviceCodeRegistry::remove_binary(DeviceBinary* binary) {
  for (auto at = kernels_.begin(); at != kernels_.end();)
    at = at->second->binary == binary ? kernels_.erase(at) : std::next(at);
  for (auto at = variables_.begin(); at != variables_.end();)
    at = at->second.binary == binary ? variables_.erase(at) : std::next(at);
  binaries_.erase(std::remove_if(binaries_.begin(), binaries_.end(),
                                 [&](const auto& b) { return b.get() == binary; }),
                  binaries_.end());
}

std::vector<DeviceBinary*> DeviceCodeRegistry::take_unexamined_binaries() {
  std::vector<DeviceBinary*> found;
  if (!std::exchange(has_new_, false)) return found;
  for (auto& binary : binaries_)
    if (!std::exchange(binary->examined, true) && !binary->code) found.push_back(binary.get());
  return found;
}

void DeviceCodeRegistry::unload_from_current_device() {
  for (auto& binary : binaries_) {
    const auto loaded = std::count_if(binary->modules.begin(), binary->modules.end(),
                                      [](const auto& m) { return m != nullptr; });
    if (binary->code || (!binary->managed.empty() && loaded > 1)) continue;
    binary->here().reset();
    for (auto& [host, entry] : kernels_)
      if (entry->binary == binary.get()) entry->here().kernel = nullptr;
  }
}

void DeviceCodeRegistry::add_kernel(DeviceBinary* binary, const void* host, const char* symbol) {
  auto entry = std::make_unique<KernelEntry>();
  entry->binary = binary;
  entry->symbol = symbol;
  kernels_[host] = std::move(entry);
}

void DeviceCodeRegistry::add_variable(DeviceBinary* binary, const void* host, const char* symbol,
                                      uint64_t bytes) {
  variables_[host] = {binary, symbol, bytes};
}

KernelEntry* DeviceCodeRegistry::find_kernel(const void* function) {
  if (const auto at = kernels_.find(function); at != kernels_.end()) return at->second.get();
  for (const auto& [host, entry] : kernels_)
    if (entry.get() == function) return entry.get();
  return nullptr;
}

KernelEntry* DeviceCodeRegistry::find_kernel(DeviceBinary& module, const std::string& symbol) {
  load(module);
  for (const auto& [host, entry] : kernels_)
    if (entry->binary == &module && entry->symbol == symbol) return entry.get();
  const auto symbols = module.here()->kernel_symbols();
  if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) return nullptr;
  auto entry = std::make_unique<KernelEntry>();
  entry->binary = &module;
  entry->symbol = symbol;
  KernelEntry* made = entry.get();
  // Without a host function, the entry's own address is its handle.
  kernels_[made] = std::move(entry);
  return made;
}

const void* DeviceCodeRegistry::host_function_of(const KernelEntry& kernel) const {
  for (const auto& [host, entry] : kernels_)
    if (entry.get() == &kernel) return host;
  return nullptr;
}

const VariableEntry* DeviceCodeRegistry::find_variable(const void* host) const {
  const auto at = variables_.find(host);
  return at == variables_.end() ? nullptr : &at->second;
}

void DeviceCodeRegistry::load_on_current_device(DeviceBinary& binary) {
  device::Device& device = *devices_[device_of_current_call()];
  const DeviceCode code =
      binary.code ? *binary.code : choose_device_code(read_fatbin(binary.wrapper), device.arch());
  toolchain::CompiledArtifact artifact;
  artifact.arch = device.arch();
  artifact.ptx = make_paths_relative(code.ptx);
  artifact.cubin = code.cubin;
  artifact.name = code.name;
  artifact.places = code.places;
  binary.arch = ptx_target(code.ptx);
  binary.order_for_host = kernels_using_system_scope(code.ptx);
  if (!code.cubin.empty()) {
    binary.cubin = read_cubin(code.cubin);
    for (const auto& [symbol, resources] : binary.cubin.kernels)
      artifact.registers[symbol] = resources.registers;
    if (listings_)
      artifact.sass = listing_rebased_to_linked_ptx(
          make_paths_relative(toolchain::disassemble(code.cubin)), code.lines_before);
  }
  for (const auto& module : binary.modules)
    for (const auto& [pointer, symbol] : binary.managed)
      if (module) artifact.placed[symbol] = module->symbol(symbol)->address;
  binary.here() = device.load(artifact);
  for (const auto& [pointer, symbol] : binary.managed) {
    const auto where = binary.here()->symbol(symbol);
    if (!where) throw Error(fmt::format("the program's PTX has no variable `{}`", symbol));
    *pointer = reinterpret_cast<void*>(where->address);
  }
}

void DeviceCodeRegistry::load(DeviceBinary& binary) {
  if (binary.here()) return;
  if (binary.refused) throw NotLoaded{};
  try {
    load_on_current_device(binary);
  } catch (const Error& e) {
    binary.refused = true;
    report_unsupported_and_continue(e.what());
    throw NotLoaded{};
  }
}

device::Kernel& DeviceCodeRegistry::load(KernelEntry& entry) {
  load(*entry.binary);
  if (!entry.here().kernel) entry.here().kernel = entry.binary->here()->find(entry.symbol);
  if (!entry.here().kernel)
    throw Error(fmt::format("the program's PTX has no kernel `{}`", entry.symbol));
  return *entry.here().kernel;
}

device::DeviceAddressRange DeviceCodeRegistry::locate_variable(const VariableEntry& entry) {
  load(*entry.binary);
  const auto where = entry.binary->here()->symbol(entry.symbol);
  if (!where) throw Error(fmt::format("the program's PTX has no variable `{}`", entry.symbol));
  return *where;
}

// ---------------------------------------------------------------------------------------------

namespace {

// Beyond this number of lines, the message recommends --list-unsupported.
constexpr size_t kMostLines = 4;

void print_each_once(const char* line_prefix, const std::vector<std::string>& lines) {
  static std::set<std::string> said;
  size_t number = 0;
  for (const std::string& line : lines)
    if (said.insert(line).second && ++number <= kMostLines)
      print_message(fmt::format("{}: {}", line_prefix, line));
  if (number > kMostLines)
    print_message(fmt::format("... and {} more: `lab32 run --list-unsupported` lists all",
                              number - kMostLines));
}

void add_kernel_refusals(const std::map<std::string, std::string>& refusals,
                         const std::string& name, UnsupportedInstructions* all) {
  for (const auto& [symbol, why] : refusals) all->add(why, device::kernel_name(symbol), name);
}

// Examines a module that the program has not used yet. The PTX is parsed only if it may contain an
// unknown opcode.
void examine_unused_binary(const DeviceBinary& binary, const std::string& arch,
                           UnsupportedInstructions* all) {
  try {
    const std::string ptx = choose_device_code(read_fatbin(binary.wrapper), arch).ptx;
    if (ptx::may_have_unknown_ptx_opcodes(ptx))
      add_kernel_refusals(device::unsupported_kernels_of(make_paths_relative(ptx)), "", all);
  } catch (const Error&) {
    // The module has no code for this device, which its first use will report.
  }
}

}  // namespace

void UnsupportedInstructions::add(const std::string& why, const std::string& kernel,
                                  const std::string& name) {
  static const RegularExpression in_source("^PTX line [0-9]+: (.*) \\(source: (.*)\\)$"),
      in_ptx("^PTX line ([0-9]+): (.*)$");
  std::string text = why.substr(0, why.find('\n'));
  if (const auto found = in_source.match(text))
    text = (*found)[2] + ": " + (*found)[1];
  else if (const auto line = name.empty() ? std::nullopt : in_ptx.match(text))
    text = name + ":" + (*line)[1] + ": " + (*line)[2];
  kernels_[text].push_back(kernel);
}

std::vector<std::string> UnsupportedInstructions::lines() const {
  std::vector<std::string> lines;
  for (const auto& [text, kernels] : kernels_) {
    const std::string others =
        kernels.size() > 1 ? fmt::format(" and {} more", kernels.size() - 1) : "";
    lines.push_back(kernels[0].empty() ? text
                                       : fmt::format("{} (kernel {}{})", text, kernels[0], others));
  }
  return lines;
}

void warn_of_unsupported_kernels(DeviceCodeRegistry& registry, const std::string& arch) {
  const std::vector<DeviceBinary*> binaries = registry.take_unexamined_binaries();
  if (binaries.empty()) return;
  UnsupportedInstructions all;
  for (DeviceBinary* binary : binaries)
    if (binary->here())
      add_kernel_refusals(binary->here()->refusals(), "", &all);
    else if (!binary->refused)
      examine_unused_binary(*binary, arch, &all);
  print_each_once("the program contains a kernel that cannot run", all.lines());
}

void warn_of_unsupported_kernels(DeviceBinary& module) {
  UnsupportedInstructions all;
  add_kernel_refusals(module.here()->refusals(), module.code->name, &all);
  print_each_once("the program has loaded a kernel that cannot run", all.lines());
}

void warn_of_unsupported_calls(const std::vector<std::string>& refusals) {
  print_each_once("the program uses a function that cannot run", refusals);
}

}  // namespace lab32::cudart
