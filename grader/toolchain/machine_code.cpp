#include "toolchain/machine_code.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {

// ---- ptxas -----------------------------------------------------------------------------------

namespace {

constexpr double kAssembling = 60;

// Assembles the text. The outcome has no cubin if ptxas fails.
ProcessOutcome run_ptxas(const std::string& ptx, const std::string& arch,
                         const std::vector<std::string>& options, std::string* cubin) {
  const Toolchain& tools = installed_toolchain();
  const ScratchDirectory scratch;
  const std::string from = (scratch.path / "module.ptx").string(),
                    to = (scratch.path / "module.cubin").string();
  std::ofstream(from, std::ios::binary) << ptx;
  ProcessCommand nvcc;
  nvcc.argv = {tools.nvcc, "-cubin", "-arch=" + arch, "-o", to, from};
  nvcc.argv.insert(nvcc.argv.end(), options.begin(), options.end());
  nvcc.environment = {"PATH=" + tools.path, "TMPDIR=" + scratch.path.string()};
  nvcc.limits.wall_seconds = kAssembling;
  ProcessOutcome outcome = run_process(nvcc);
  *cubin = read_file(to).value_or("");
  // The name that the driver's compiler uses in its messages replaces the name of the file.
  for (size_t at; (at = outcome.err.find(from)) != std::string::npos;)
    outcome.err.replace(at, from.size(), "application ptx input");
  return outcome;
}

// Returns `ptx` with its version replaced by the one that ptxas reports as its own; empty if
// `errors` is about something else.
std::string with_version_of_ptxas(const std::string& ptx, const std::string& errors) {
  static const RegularExpression newer(
      "Unsupported .version [0-9.]+; current version is '([0-9.]+)'");
  const auto own = newer.search(errors);
  const size_t at = ptx.find(".version");
  const size_t digit = at == std::string::npos ? at : ptx.find_first_of("0123456789", at);
  if (!own || digit == std::string::npos) return {};
  const size_t end = std::min(ptx.find_first_not_of("0123456789.", digit), ptx.size());
  return ptx.substr(0, digit) + (*own)[1] + ptx.substr(end);
}

}  // namespace

CubinOrErrors assemble_user_ptx(const std::string& ptx, const std::string& arch, Linking linking) {
  std::vector<std::string> options = {"-lineinfo"};
  if (linking == Linking::later) options.emplace_back("-rdc=true");
  const std::string key =
      cache_key(installed_toolchain().identity + "program " + options.back() + arch + "\n" + ptx);
  if (const auto cached = load_cached_artifact(key)) return {cached->cubin, cached->warnings};
  CompiledArtifact made;
  ProcessOutcome outcome = run_ptxas(ptx, arch, options, &made.cubin);
  if (const std::string older = with_version_of_ptxas(ptx, outcome.err); !older.empty())
    outcome = run_ptxas(older, arch, options, &made.cubin);
  if (!outcome.ok()) made.cubin.clear();
  made.warnings = outcome.err;
  store_cached_artifact(key, made);
  return {made.cubin, made.warnings};
}

CompiledArtifact assemble_own_ptx(const std::string& ptx, const std::string& arch,
                                  const std::string& name) {
  const Toolchain& tools = installed_toolchain();
  const std::string key = cache_key(tools.identity + "assembled " + arch + "\n" + ptx);
  std::optional<CompiledArtifact> artifact = load_cached_artifact(key);
  if (!artifact) {
    std::string cubin;
    const ProcessOutcome outcome = run_ptxas(ptx, arch, {}, &cubin);
    artifact.emplace();
    artifact->arch = arch;
    artifact->ptx = ptx;
    artifact->cubin = std::move(cubin);
    if (!outcome.ok() || artifact->cubin.empty())
      throw MachineError(name + " cannot be assembled for " + arch + " (" +
                         lab32::describe(outcome) +
                         "): " + outcome.err.substr(0, outcome.err.find('\n')));
    store_cached_artifact(key, *artifact);
  }
  artifact->source = name;
  return *artifact;
}

// ---- nvdisasm --------------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 60;
constexpr uint64_t kLargestListing = 256ull << 20;

const std::string kNoDataFlow = "-ndf";

bool jumps_through_tables(const std::string& listing) {
  for (const char* jump : {" BRX", " JMX"})
    if (listing.find(jump) != std::string::npos) return true;
  return false;
}

}  // namespace

const std::vector<std::string> kListingFlags = {"-c", "-gi", "-gp", "-hex"};

ProcessOutcome list_machine_code(
    const std::string& cubin_file,
    const std::function<ProcessOutcome(const std::vector<std::string>& argv)>& run) {
  std::vector<std::string> argv = {installed_toolchain().nvdisasm.string()};
  argv.insert(argv.end(), kListingFlags.begin(), kListingFlags.end());
  argv.push_back(cubin_file);
  std::vector<std::string> quick = argv;
  quick.push_back(kNoDataFlow);
  ProcessOutcome listing = run(quick);
  const bool killed = listing.end == ProcessOutcome::End::timed_out ||
                      listing.end == ProcessOutcome::End::output_exceeded;
  return killed || (listing.ok() && !jumps_through_tables(listing.out)) ? listing : run(argv);
}

std::string disassemble(const std::string& cubin) {
  const Toolchain& tools = installed_toolchain();
  if (tools.nvdisasm.empty()) return {};
  const std::string key = cache_key("listing -hex\n" + tools.identity + cubin);
  if (const auto cached = load_cached_artifact(key)) return cached->sass;

  const ScratchDirectory scratch;
  const fs::path file = scratch.path / "program.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  const ProcessOutcome outcome = list_machine_code(file.string(), [&](const auto& argv) {
    ProcessCommand command;
    command.argv = argv;
    command.environment = {"PATH=" + tools.path};
    command.limits.wall_seconds = kSeconds;
    command.limits.output_bytes = kLargestListing;
    return run_process(command);
  });
  if (!outcome.ok())
    throw Error("nvdisasm failed on the program's cubin (" + describe(outcome) +
                "): " + outcome.err.substr(0, outcome.err.find('\n')));
  CompiledArtifact listing;
  listing.sass = outcome.out;
  store_cached_artifact(key, listing);
  return listing.sass;
}

}  // namespace lab32::toolchain
