// A module on the simulator: it places the module's variables in memory, and decodes a kernel when
// a caller asks for it. SimDevice::load() makes it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/names.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/decode.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/reconcile.h"
#include "toolchain/artifact.h"

namespace lab32::device {

class SimModule;

class SimKernel : public Kernel {
 public:
  SimKernel(const ptx::Function& function, std::unique_ptr<sim::KernelProgram> program,
            const sass::PtxSassReconciliation& reconciled, ElementNames& places, KernelInfo info,
            SimModule& module)
      : module_(module),
        function_(function),
        program_(std::move(program)),
        reconciled_(reconciled),
        places_(places),
        info_(std::move(info)) {}
  const KernelInfo& info() const override { return info_; }
  const ptx::Function& function() const { return function_; }
  const sim::KernelProgram& program() const { return *program_; }
  const sass::SassBlocksByFunction& emitted() const { return reconciled_.emitted; }
  // LaunchResult::local_accesses of a launch; nullopt: the machine code is not known.
  std::optional<uint32_t> local_accesses(
      const std::vector<sim::StaticInstructionIssueCounts>& tally) const;
  ElementNames& places() const { return places_; }
  SimModule& module() const { return module_; }

 private:
  SimModule& module_;
  const ptx::Function& function_;
  std::unique_ptr<sim::KernelProgram> program_;
  const sass::PtxSassReconciliation& reconciled_;  // both references: owned by the module
  ElementNames& places_;
  KernelInfo info_;
};

class SimModule : public LoadedModule {
 public:
  // `memory` must outlive the module. `host_in_process`: the program's host code runs in this
  // process and uses managed variables. Throws Error for PTX that is invalid or that the simulator
  // does not support.
  SimModule(sim::Memory& memory, const toolchain::CompiledArtifact& artifact, bool host_in_process);
  ~SimModule() override;

  Kernel* find(const std::string& name) override;
  // Finds a kernel by its code address. Throws Error when it cannot run.
  SimKernel& kernel_at(uint64_t address);
  std::vector<std::string> kernel_names() const override;
  std::vector<std::string> kernel_symbols() const override { return symbols_of_kernels_; }
  std::map<std::string, std::string> refusals() const override;
  std::optional<std::vector<std::byte>> initial_constant(const std::string& name) override;
  std::optional<std::vector<std::byte>> read_symbol(const std::string& name) override;
  bool write_symbol(const std::string& name, const void* data, uint64_t bytes) override;
  void reset_module_variables() override;
  std::optional<DeviceAddressRange> symbol(const std::string& name) override;

 private:
  const ptx::Variable* variable(const std::string& name) const;
  // `offsets`: where the variables are in the cubin, which determines their alignment.
  void allocate_module_variables(const std::map<std::string, uint64_t>& placed,
                                 const std::map<std::string, uint64_t>& offsets);
  std::vector<std::byte> initial_bytes(const ptx::Variable& v) const;
  uint64_t address_of(const std::string& symbol) const;
  std::unique_ptr<SimKernel> make_kernel(const std::string& symbol);

  sim::Memory& memory_;
  bool host_in_process_;
  ptx::Module module_;
  std::map<std::string, uint32_t> registers_;
  sass::PtxSassReconciliation reconciled_;
  ElementNames places_;
  sim::SymbolTable symbols_;
  std::vector<uint64_t> owned_;
  std::vector<const ptx::Variable*> own_variables_;  // that this object has placed
  std::vector<std::string> symbols_of_kernels_;
  std::map<std::string, std::unique_ptr<SimKernel>> kernels_;
};

}  // namespace lab32::device
