#include "toolchain/disassemble.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
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

Outcome list_machine_code(const std::string& cubin_file,
                          const std::function<Outcome(const std::vector<std::string>& argv)>& run) {
  std::vector<std::string> argv = {installed().nvdisasm.string()};
  argv.insert(argv.end(), kListingFlags.begin(), kListingFlags.end());
  argv.push_back(cubin_file);
  std::vector<std::string> quick = argv;
  quick.push_back(kNoDataFlow);
  Outcome listing = run(quick);
  const bool killed =
      listing.end == Outcome::End::timed_out || listing.end == Outcome::End::output_exceeded;
  return killed || (listing.ok() && !jumps_through_tables(listing.out)) ? listing : run(argv);
}

std::string disassemble(const std::string& cubin) {
  const Toolchain& tools = installed();
  if (tools.nvdisasm.empty()) return {};
  const std::string key = cache_key("listing -hex\n" + tools.identity + cubin);
  if (const auto cached = load_cached(key)) return cached->sass;

  const Scratch scratch;
  const fs::path file = scratch.path / "program.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  const Outcome outcome = list_machine_code(file.string(), [&](const auto& argv) {
    Command command;
    command.argv = argv;
    command.environment = {"PATH=" + tools.path};
    command.limits.wall_seconds = kSeconds;
    command.limits.output_bytes = kLargestListing;
    return run_process(command);
  });
  if (!outcome.ok())
    throw Error("nvdisasm failed on the program's cubin (" + describe(outcome) +
                "): " + outcome.err.substr(0, outcome.err.find('\n')));
  Artifact listing;
  listing.sass = outcome.out;
  store_cached(key, listing);
  return listing.sass;
}

}  // namespace lab32::toolchain
