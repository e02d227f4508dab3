#include "device/sim_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/elf.h"
#include "base/error.h"
#include "device/names.h"
#include "simulator/core/warp/decode.h"
#include "simulator/observers/races/stale_values.h"
#include "simulator/ptx/parser.h"
#include "simulator/sass/listing.h"
#include "simulator/sass/reconcile.h"

namespace lab32::device {
namespace {

// Maps the symbol of each variable to its offset in its section of the cubin. A GPU places the
// sections at multiples of 256 bytes.
std::map<std::string, uint64_t> symbol_offsets(const std::string& cubin) {
  std::map<std::string, uint64_t> offsets;
  if (!is_elf(cubin)) return offsets;
  for (const ElfVariable& object : read_elf(cubin, "the cubin").objects)
    offsets[object.name] = object.value;
  return offsets;
}

}  // namespace

std::optional<uint32_t> SimKernel::local_accesses(
    const std::vector<sim::StaticInstructionIssueCounts>& tally) const {
  if (reconciled_.emitted.count(function_.name) == 0) return std::nullopt;
  const auto lines = reconciled_.local_lines.find(function_.name);
  if (lines == reconciled_.local_lines.end()) return 0;
  std::map<int, bool> executed;  // whether a line of the PTX was executed
  for (size_t site = 0; site < program_->sites.size(); ++site)
    executed[program_->sites[site].ptx->ptx_line] |= tally[site].warps > 0;
  return static_cast<uint32_t>(
      std::count_if(lines->second.begin(), lines->second.end(), [&](int line) {
        const auto found = executed.find(line);
        return found == executed.end() || found->second;
      }));
}

SimModule::SimModule(sim::Memory& memory, const toolchain::CompiledArtifact& artifact,
                     bool host_in_process)
    : memory_(memory),
      host_in_process_(host_in_process),
      module_(ptx::parse(artifact.ptx)),
      registers_(artifact.registers),
      places_(module_, artifact.debug_ptx) {
  if (!artifact.name.empty())
    ptx::add_line_information_if_absent(module_, artifact.name, artifact.places);
  if (!artifact.sass.empty())
    reconciled_ = sass::reconcile(module_, sass::parse_disassembly(artifact.sass));
  allocate_module_variables(artifact.placed, symbol_offsets(artifact.cubin));
  for (const ptx::Function& f : module_.functions)
    if (f.is_entry) symbols_of_kernels_.push_back(f.name);
}

SimModule::~SimModule() {
  for (uint64_t address : owned_) memory_.release(address);
}

Kernel* SimModule::find(const std::string& name) {
  const auto index = find_kernel(symbols_of_kernels_, name);
  if (!index) return nullptr;
  const std::string& symbol = symbols_of_kernels_[*index];
  auto& kernel = kernels_[symbol];
  if (!kernel) kernel = make_kernel(symbol);
  return kernel.get();
}

std::vector<std::string> SimModule::kernel_names() const {
  std::vector<std::string> names;
  for (const std::string& s : symbols_of_kernels_) names.push_back(kernel_name(s));
  return names;
}

std::map<std::string, std::string> SimModule::refusals() const {
  return sim::unsupported_reasons_by_kernel(module_, host_in_process_);
}

std::optional<std::vector<std::byte>> SimModule::initial_constant(const std::string& name) {
  const ptx::Variable* v = variable(name);
  if (!v || v->space != ptx::Space::constant) return std::nullopt;
  return initial_bytes(*v);
}

std::optional<std::vector<std::byte>> SimModule::read_symbol(const std::string& name) {
  const ptx::Variable* v = variable(name);
  if (!v) return std::nullopt;
  std::vector<std::byte> bytes(v->size);
  memory_.download(bytes.data(), symbols_.at(v->name), bytes.size());
  return bytes;
}

bool SimModule::write_symbol(const std::string& name, const void* data, uint64_t bytes) {
  const ptx::Variable* v = variable(name);
  if (!v) return false;
  if (bytes > v->size)
    throw Error(fmt::format("`{}` holds {} bytes, not {}", name, v->size, bytes));
  memory_.upload(symbols_.at(v->name), data, bytes);
  return true;
}

std::optional<DeviceAddressRange> SimModule::symbol(const std::string& name) {
  const ptx::Variable* v = variable(name);
  if (!v) return std::nullopt;
  return DeviceAddressRange{symbols_.at(v->name), v->size};
}

const ptx::Variable* SimModule::variable(const std::string& name) const {
  const ptx::Variable* exact = module_.find_variable(name);
  if (exact && symbols_.count(name)) return exact;
  for (const ptx::Variable& v : module_.variables)
    if (symbols_.count(v.name) && variable_name(v.name) == name) return &v;
  return nullptr;
}

void SimModule::allocate_module_variables(const std::map<std::string, uint64_t>& placed,
                                          const std::map<std::string, uint64_t>& offsets) {
  for (const ptx::Variable& v : module_.variables) {
    if (v.space != ptx::Space::global && v.space != ptx::Space::constant) continue;
    if (v.is_extern) continue;
    if (const auto at = placed.find(v.name); at != placed.end()) {
      symbols_[v.name] = at->second;
      continue;
    }
    const std::string name = variable_name(v.name);
    const auto offset = offsets.find(v.name);
    sim::Allocation* a = v.is_managed && host_in_process_
                             ? memory_.allocate_host_shared(v.size, name)
                             : memory_.allocate_with_misalignment(
                                   offset == offsets.end() ? 0 : offset->second, v.size, name);
    owned_.push_back(a->begin);
    symbols_[v.name] = a->begin;
    own_variables_.push_back(&v);
  }
  reset_module_variables();
}

void SimModule::reset_module_variables() {
  for (const ptx::Variable* variable : own_variables_) {
    const uint64_t at = symbols_.at(variable->name);
    const std::vector<std::byte> image = initial_bytes(*variable);
    memory_.upload(at, image.data(), image.size());
    if (variable->space == ptx::Space::constant) memory_.find(at)->read_only = true;
  }
}

std::vector<std::byte> SimModule::initial_bytes(const ptx::Variable& v) const {
  // Variables without an initialiser start as zeros (CUDA C++), and PTX omits trailing zeros.
  std::vector<std::byte> image(v.size, std::byte{0});
  std::copy(v.init.begin(), v.init.end(), image.begin());
  for (const auto& r : v.relocations) {
    const uint64_t value = address_of(r.symbol) + static_cast<uint64_t>(r.addend);
    std::memcpy(image.data() + r.offset, &value, sizeof value);
  }
  return image;
}

uint64_t SimModule::address_of(const std::string& symbol) const {
  if (auto s = symbols_.find(symbol); s != symbols_.end()) return s->second;
  for (size_t i = 0; i < module_.functions.size(); ++i)
    if (module_.functions[i].name == symbol) return sim::code_address(i);
  throw Error(fmt::format(
      "an initialiser needs the address of `{}`, which this module does not define", symbol));
}

SimKernel& SimModule::kernel_at(uint64_t address) {
  const std::string& symbol = module_.functions.at((address - sim::kCodeBase) / 16 - 1).name;
  std::unique_ptr<SimKernel>& kernel = kernels_[symbol];
  if (!kernel) kernel = make_kernel(symbol);
  return *kernel;
}

std::unique_ptr<SimKernel> SimModule::make_kernel(const std::string& symbol) {
  const ptx::Function& f = ptx::require_kernel(module_, symbol);
  uint32_t bytes = 0;
  std::vector<uint32_t> offsets = ptx::parameter_offsets(f.params, &bytes);
  sim::Allocation* params = memory_.allocate(bytes, "kernel parameters");
  params->read_only = true;
  params->scratch = true;
  owned_.push_back(params->begin);
  auto program =
      sim::decode(module_, f, symbols_, params->begin, reconciled_.plans, host_in_process_);
  KernelInfo info;
  info.name = kernel_name(symbol);
  info.parameter_offsets = std::move(offsets);
  info.parameter_types = parameter_types(symbol);
  info.static_shared = program->static_shared;
  info.uses_heap = program->uses_heap;
  info.reads_clock = program->reads_clock;
  info.may_read_old_values = counters::StaleGlobalValueInjector::has_loads_of_old_values(*program);
  if (auto r = registers_.find(symbol); r != registers_.end()) info.registers = r->second;
  info.cluster = {static_cast<uint32_t>(f.cluster[0]), static_cast<uint32_t>(f.cluster[1]),
                  static_cast<uint32_t>(f.cluster[2])};
  info.max_cluster = static_cast<uint32_t>(f.max_cluster);
  if (f.max_threads) info.max_threads = static_cast<uint32_t>(f.max_threads);
  for (const ptx::Variable& p : f.params)
    info.parameter_bytes.push_back(static_cast<uint32_t>(p.size));
  return std::make_unique<SimKernel>(f, std::move(program), reconciled_, places_, std::move(info),
                                     *this);
}

}  // namespace lab32::device
