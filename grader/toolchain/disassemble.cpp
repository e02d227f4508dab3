#include "toolchain/disassemble.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/process.h"
#include "base/scratch.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 60;
constexpr uint64_t kLargestListing = 256ull << 20;

}  // namespace

const std::vector<std::string> kListingFlags = {"-c", "-gi", "-gp"};

std::string disassemble(const std::string& cubin) {
  const Toolchain& tools = installed();
  if (tools.nvdisasm.empty()) return {};
  const std::string key = cache_key("listing\n" + tools.identity + cubin);
  if (const auto cached = load_cached(key)) return cached->sass;

  const Scratch scratch;
  const fs::path file = scratch.path / "program.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  Command command;
  command.argv = {tools.nvdisasm.string()};
  command.argv.insert(command.argv.end(), kListingFlags.begin(), kListingFlags.end());
  command.argv.push_back(file.string());
  command.environment = {"PATH=" + tools.path};
  command.limits.wall_seconds = kSeconds;
  command.limits.output_bytes = kLargestListing;
  const Outcome outcome = run_process(command);
  if (!outcome.ok())
    throw Error("nvdisasm failed on the program's cubin (" + describe(outcome) +
                "): " + outcome.err.substr(0, outcome.err.find('\n')));
  Artifact listing;
  listing.sass = outcome.out;
  store_cached(key, listing);
  return listing.sass;
}

}  // namespace lab32::toolchain
