#include "device/sim_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "device/kernel_name.h"
#include "model/profile.h"
#include "observers/hazards.h"
#include "observers/traffic.h"
#include "ptx/parser.h"
#include "sass/listing.h"
#include "sass/reconcile.h"
#include "sim/launch.h"

namespace lab32::device {
namespace {

// Address space reserved for device memory; pages come when touched.
constexpr uint64_t kAddressSpace = uint64_t{64} << 30;

using sim::KernelProgram;

// The largest piece in which no shared access is split: what the race check compares.
uint32_t shared_granule(const KernelProgram& program) {
  uint32_t granule = 4;
  for (const sim::Site& site : program.sites) {
    const ptx::Instruction& in = *site.ptx;
    switch (in.op->id) {
      case ptx::OpId::ld:
      case ptx::OpId::st:
      case ptx::OpId::atom:
      case ptx::OpId::atom_cas:
      case ptx::OpId::red:
        if (in.has(ptx::Mod::global) || in.has(ptx::Mod::local) || in.has(ptx::Mod::constant))
          break;
        granule = std::min(granule, ptx::bytes_of(in.type()));
        break;
      default:
        break;
    }
  }
  return granule;
}

bool has_named_barriers(const KernelProgram& program) {
  return std::any_of(program.sites.begin(), program.sites.end(), [](const sim::Site& site) {
    const ptx::Instruction& in = *site.ptx;
    switch (in.op->id) {
      case ptx::OpId::bar_arrive:
      case ptx::OpId::barrier_arrive:
        return true;
      case ptx::OpId::bar_sync:
      case ptx::OpId::barrier_sync:
        return in.has_operand(1);
      case ptx::OpId::bar_red_popc:
      case ptx::OpId::bar_red_pred:
      case ptx::OpId::barrier_red_popc:
      case ptx::OpId::barrier_red_pred:
        return in.has_operand(2);
      default:
        return false;
    }
  });
}

std::vector<observe::SharedVariable> shared_variables(const KernelProgram& program,
                                                      uint32_t shared_bytes) {
  std::vector<observe::SharedVariable> out;
  for (const sim::SharedVariable& v : program.shared) {
    observe::SharedVariable named;
    named.name = variable_name(v.name);
    named.offset = v.offset;
    named.size = v.bytes ? v.bytes : shared_bytes - v.offset;
    out.push_back(std::move(named));
  }
  return out;
}

class SimKernel : public Kernel {
 public:
  SimKernel(const ptx::Function& function, std::unique_ptr<KernelProgram> program, KernelInfo info)
      : function_(function), program_(std::move(program)), info_(std::move(info)) {}
  const KernelInfo& info() const override { return info_; }
  const ptx::Function& function() const { return function_; }
  const KernelProgram& program() const { return *program_; }

 private:
  const ptx::Function& function_;
  std::unique_ptr<KernelProgram> program_;
  KernelInfo info_;
};

class SimModule : public Module {
 public:
  SimModule(sim::Memory& memory, const compile::Artifact& artifact)
      : memory_(memory), module_(ptx::parse(artifact.ptx)), registers_(artifact.registers) {
    if (!artifact.sass.empty())
      plans_ = sass::reconcile(module_, sass::parse_listing(artifact.sass)).plans;
    place_variables();
    for (const ptx::Function& f : module_.functions)
      if (f.is_entry) symbols_of_kernels_.push_back(f.name);
  }

  ~SimModule() override {
    for (uint64_t address : owned_) memory_.release(address);
  }

  Kernel* find(const std::string& name) override {
    const auto index = find_kernel(symbols_of_kernels_, name);
    if (!index) return nullptr;
    const std::string& symbol = symbols_of_kernels_[*index];
    auto& kernel = kernels_[symbol];
    if (!kernel) kernel = make_kernel(symbol);
    return kernel.get();
  }

  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const std::string& s : symbols_of_kernels_) names.push_back(kernel_name(s));
    return names;
  }

  std::optional<std::vector<std::byte>> read_symbol(const std::string& name) override {
    const ptx::Variable* v = variable(name);
    if (!v) return std::nullopt;
    std::vector<std::byte> bytes(v->size);
    memory_.download(bytes.data(), symbols_.at(v->name), bytes.size());
    return bytes;
  }

  bool write_symbol(const std::string& name, const void* data, uint64_t bytes) override {
    const ptx::Variable* v = variable(name);
    if (!v) return false;
    if (bytes > v->size)
      throw Error(fmt::format("`{}` holds {} bytes, not {}", name, v->size, bytes));
    memory_.upload(symbols_.at(v->name), data, bytes);
    return true;
  }

 private:
  const ptx::Variable* variable(const std::string& name) const {
    for (const ptx::Variable& v : module_.variables)
      if (symbols_.count(v.name) && (v.name == name || variable_name(v.name) == name)) return &v;
    return nullptr;
  }

  void place_variables() {
    for (const ptx::Variable& v : module_.variables) {
      if (v.space != ptx::Space::global && v.space != ptx::Space::constant) continue;
      if (v.is_extern) continue;
      sim::Allocation* a = memory_.allocate(v.size, variable_name(v.name));
      owned_.push_back(a->begin);
      symbols_[v.name] = a->begin;
    }
    for (const ptx::Variable& v : module_.variables) {
      auto at = symbols_.find(v.name);
      if (at == symbols_.end()) continue;
      // Variables without an initialiser start as zeros (CUDA C++), and PTX drops trailing zeros.
      std::vector<std::byte> image(v.size, std::byte{0});
      std::copy(v.init.begin(), v.init.end(), image.begin());
      for (const auto& r : v.relocations) {
        const uint64_t value = address_of(r.symbol) + static_cast<uint64_t>(r.addend);
        std::memcpy(image.data() + r.offset, &value, sizeof value);
      }
      memory_.upload(at->second, image.data(), image.size());
      if (v.space == ptx::Space::constant) memory_.find(at->second)->read_only = true;
    }
  }

  uint64_t address_of(const std::string& symbol) const {
    if (auto s = symbols_.find(symbol); s != symbols_.end()) return s->second;
    for (size_t i = 0; i < module_.functions.size(); ++i)
      if (module_.functions[i].name == symbol) return sim::code_address(i);
    throw Error(fmt::format(
        "an initialiser needs the address of `{}`, which this module does not define", symbol));
  }

  std::unique_ptr<SimKernel> make_kernel(const std::string& symbol) {
    const ptx::Function& f = ptx::require_kernel(module_, symbol);
    uint32_t bytes = 0;
    ptx::parameter_offsets(f.params, &bytes);
    sim::Allocation* params = memory_.allocate(bytes, "kernel parameters");
    params->read_only = true;
    owned_.push_back(params->begin);
    auto program = sim::decode(module_, f, symbols_, params->begin, plans_);
    KernelInfo info;
    info.name = kernel_name(symbol);
    info.static_shared = program->static_shared;
    if (auto r = registers_.find(symbol); r != registers_.end()) info.registers = r->second;
    if (f.max_threads) info.max_threads = static_cast<uint32_t>(f.max_threads);
    for (const ptx::Variable& p : f.params)
      info.parameter_bytes.push_back(static_cast<uint32_t>(p.size));
    return std::make_unique<SimKernel>(f, std::move(program), std::move(info));
  }

  sim::Memory& memory_;
  ptx::Module module_;
  std::map<std::string, uint32_t> registers_;
  std::map<std::string, sim::FunctionPlans> plans_;
  sim::SymbolTable symbols_;
  std::vector<uint64_t> owned_;
  std::vector<std::string> symbols_of_kernels_;
  std::map<std::string, std::unique_ptr<SimKernel>> kernels_;
};

class SimDevice : public Device {
 public:
  explicit SimDevice(model::Profile profile)
      : profile_(std::move(profile)), memory_(std::min(kAddressSpace, profile_.dram_bytes)) {}

  std::string name() const override { return "sim:" + profile_.id; }
  std::string describe() const override {
    return fmt::format("simulated {} ({}, {} multiprocessors)", profile_.name, profile_.arch,
                       profile_.multiprocessors);
  }
  std::string arch() const override { return profile_.arch; }
  uint32_t multiprocessors() const override { return profile_.multiprocessors; }

  std::unique_ptr<Module> load(const compile::Artifact& artifact) override {
    return std::make_unique<SimModule>(memory_, artifact);
  }

  Buffer allocate(uint64_t bytes, const std::string& name) override {
    return {memory_.allocate(bytes, name)->begin, bytes};
  }
  void release(Buffer buffer) override { memory_.release(buffer.address); }
  void upload(Buffer to, const void* from, uint64_t bytes) override {
    memory_.upload(to.address, from, bytes);
  }
  void download(void* to, Buffer from, uint64_t bytes) override {
    memory_.download(to, from.address, bytes);
  }
  void poison(Buffer buffer) override {
    sim::Allocation* a = memory_.find(buffer.address);
    if (!a) {
      if (buffer.bytes == 0) return;
      throw Error("poison of memory that is not allocated");
    }
    memory_.poison(*a);
  }

  Run launch(Kernel& kernel, const Shape& shape, const std::vector<Arg>& args,
             const LaunchOptions& options) override;

 private:
  std::optional<Fault> check_shape(const SimKernel& kernel, const Shape& shape) const;
  void write_parameters(const SimKernel& kernel, const std::vector<Arg>& args);

  model::Profile profile_;
  sim::Memory memory_;
};

std::optional<Fault> SimDevice::check_shape(const SimKernel& kernel, const Shape& shape) const {
  auto fault = [](std::string message) { return Fault{"launch", "", 0, std::move(message)}; };
  const auto& b = shape.block;
  const auto& g = shape.grid;
  if (b.count() == 0 || g.count() == 0)
    return fault(fmt::format("a launch of {} x {} x {} blocks of {} x {} x {} threads is empty",
                             g.x, g.y, g.z, b.x, b.y, b.z));
  const uint32_t most = std::min(profile_.max_threads_per_block, kernel.info().max_threads);
  if (b.count() > most)
    return fault(fmt::format("{} threads a block, but `{}` may have at most {}", b.count(),
                             kernel.info().name, most));
  const auto& mg = profile_.max_grid;
  const auto& mb = profile_.max_block;
  if (g.x > mg[0] || g.y > mg[1] || g.z > mg[2])
    return fault(fmt::format("a grid of {} x {} x {} blocks; at most {} x {} x {} are possible",
                             g.x, g.y, g.z, mg[0], mg[1], mg[2]));
  if (b.x > mb[0] || b.y > mb[1] || b.z > mb[2])
    return fault(fmt::format("a block of {} x {} x {} threads; at most {} x {} x {} are possible",
                             b.x, b.y, b.z, mb[0], mb[1], mb[2]));
  const uint64_t shared = uint64_t{kernel.program().dynamic_offset} + shape.dynamic_shared;
  if (shared > profile_.shared_bytes_opt_in)
    return fault(fmt::format("{} bytes of shared memory a block; at most {} are possible", shared,
                             profile_.shared_bytes_opt_in));
  const auto& need = kernel.function().required_threads;
  const std::array<int, 3> have{static_cast<int>(b.x), static_cast<int>(b.y),
                                static_cast<int>(b.z)};
  if (need[0] != 0 && need != have)
    return fault(fmt::format("`{}` needs blocks of {} x {} x {} threads", kernel.info().name,
                             need[0], need[1], need[2]));
  return std::nullopt;
}

void SimDevice::write_parameters(const SimKernel& kernel, const std::vector<Arg>& args) {
  const auto& params = kernel.function().params;
  if (args.size() != params.size())
    throw Error(fmt::format("`{}` takes {} arguments, {} are given", kernel.info().name,
                            params.size(), args.size()));
  uint32_t bytes = 0;
  const auto offsets = ptx::parameter_offsets(params, &bytes);
  std::vector<std::byte> block(bytes);
  for (size_t i = 0; i < args.size(); ++i) {
    const auto& value = args[i].bytes();
    if (value.size() != params[i].size)
      throw Error(fmt::format("argument {} of `{}` has {} bytes, {} are given", i + 1,
                              kernel.info().name, params[i].size, value.size()));
    std::copy(value.begin(), value.end(), block.begin() + offsets[i]);
  }
  memory_.upload(kernel.program().param_address, block.data(), block.size());
}

WorstAccess worst_access(const observe::Example& e, const observe::Position& at) {
  WorstAccess w;
  w.file = at.file;
  w.line = at.line;
  w.block = e.block;
  w.warp = e.warp;
  w.shared = e.space == sim::AccessSpace::shared;
  w.store = e.kind != sim::AccessKind::load;
  w.bytes = e.bytes;
  w.mask = e.mask;
  w.address = e.address;
  w.cost = e.cost;
  w.ideal = e.ideal;
  return w;
}

// Why the counts of an access that was executed are not the machine code's; empty: they are.
std::string why_ptx_level(const KernelProgram& program, uint32_t site,
                          const sim::LaunchOutcome& outcome) {
  const sim::AccessPlan& plan = program.plans[site];
  if (plan.ptx_level) return plan.note;
  // The plan of an instruction in an unrolled loop holds while no warp diverges at its branches.
  const uint32_t first = site - program.sites[site].index;
  for (int32_t branch : plan.if_uniform)
    if (outcome.diverged[first + static_cast<uint32_t>(branch)])
      return "lanes of a warp left the unrolled loop at different times";
  return "";
}

Run SimDevice::launch(Kernel& which, const Shape& shape, const std::vector<Arg>& args,
                      const LaunchOptions& options) {
  auto& kernel = dynamic_cast<SimKernel&>(which);
  const KernelProgram& program = kernel.program();
  write_parameters(kernel, args);
  Run run;
  if ((run.fault = check_shape(kernel, shape))) return run;

  sim::LaunchContext launch;
  launch.program = &program;
  launch.memory = &memory_;
  launch.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  launch.block = {shape.block.x, shape.block.y, shape.block.z};
  launch.shared_bytes = program.dynamic_offset + shape.dynamic_shared;
  launch.param_address = program.param_address;
  launch.multiprocessors = profile_.multiprocessors;
  launch.warp_budget = options.warp_budget;

  const observe::PositionOf position = [&program](uint32_t site) { return program.position(site); };
  observe::TrafficObserver traffic;
  observe::HazardObserver hazards(shared_granule(program), has_named_barriers(program),
                                  shared_variables(program, launch.shared_bytes), position);
  std::vector<sim::Observer*> observers{&traffic};
  if (options.check_hazards) observers.push_back(&hazards);

  sim::LaunchOutcome outcome = sim::run_grid(launch, observers);
  run.output = std::move(outcome.output);
  if (outcome.trap) {
    // Counters of a part of a launch would depend on which blocks ran before it was stopped.
    Fault fault{outcome.trap->kind, "", 0, outcome.trap->message};
    if (outcome.trap->has_site) {
      if (const auto at = program.position(outcome.trap->site)) {
        fault.file = at->file;
        fault.line = at->line;
      }
    }
    run.fault = std::move(fault);
    return run;
  }

  traffic.add_issues(outcome.tally);
  run.counters = traffic.totals();
  run.lines = traffic.lines(position);
  run.longest_warp = outcome.longest_warp;
  if (options.check_hazards) run.hazards = hazards.findings();
  for (uint32_t site = 0; site < program.sites.size(); ++site) {
    const auto at = position(site);
    if (const observe::Example* e = traffic.worst(site))
      run.worst.push_back(worst_access(*e, at.value_or(observe::Position{})));
    if (outcome.tally[site].warps == 0) continue;
    const std::string why = why_ptx_level(program, site, outcome);
    if (why.empty()) continue;
    run.counters->ptx_level = true;
    for (observe::LineCounters& line : run.lines)
      if (at && line.file == at->file && line.line == at->line) line.counters.ptx_level = true;
    const std::string note =
        fmt::format("line {}: {}: {}", at ? at->line : 0, program.sites[site].ptx->op->base, why);
    if (std::find(run.ptx_level.begin(), run.ptx_level.end(), note) == run.ptx_level.end())
      run.ptx_level.push_back(note);
  }
  std::stable_sort(run.worst.begin(), run.worst.end(),
                   [](const WorstAccess& a, const WorstAccess& b) {
                     return std::tie(a.file, a.line) < std::tie(b.file, b.line);
                   });
  return run;
}

}  // namespace

std::unique_ptr<Device> make_sim_device(const std::string& profile) {
  return std::make_unique<SimDevice>(model::read_profile(profile));
}

}  // namespace lab32::device
