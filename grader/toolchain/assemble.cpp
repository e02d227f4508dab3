#include "toolchain/assemble.h"

#include <fstream>

#include "base/error.h"
#include "base/process.h"
#include "base/read_file.h"
#include "base/scratch.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

constexpr double kAssembling = 60;

}  // namespace

Artifact assemble(const std::string& ptx, const std::string& arch, const std::string& name) {
  const Toolchain& tools = installed();
  const std::string key = cache_key(tools.identity + "assembled " + arch + "\n" + ptx);
  std::optional<Artifact> artifact = load_cached(key);
  if (!artifact) {
    const Scratch scratch;
    const std::string from = (scratch.path / "module.ptx").string(),
                      to = (scratch.path / "module.cubin").string();
    std::ofstream(from, std::ios::binary) << ptx;
    Command nvcc;
    nvcc.argv = {tools.nvcc, "-cubin", "-arch=" + arch, "-o", to, from};
    nvcc.environment = {"PATH=" + tools.path, "TMPDIR=" + scratch.path.string()};
    nvcc.limits.wall_seconds = kAssembling;
    const Outcome outcome = run_process(nvcc);
    artifact.emplace();
    artifact->arch = arch;
    artifact->ptx = ptx;
    artifact->cubin = read_file(to).value_or("");
    if (!outcome.ok() || artifact->cubin.empty())
      throw MachineError(name + " cannot be assembled for " + arch + " (" +
                         lab32::describe(outcome) +
                         "): " + outcome.err.substr(0, outcome.err.find('\n')));
    store_cached(key, *artifact);
  }
  artifact->source = name;
  return *artifact;
}

}  // namespace lab32::toolchain
