// `lab32 ptx`: prints the PTX of one file, as `lab32 grade` would run it.

#include <memory>

#include "app/command.h"
#include "base/files.h"
#include "grading/engine/compiled.h"

namespace lab32::commands {
namespace {

struct PtxOptions {
  std::string lab, file, device = "sim", output;
};

int show_ptx(const PtxOptions& options) {
  if (!options.output.empty()) check_writable(options.output, "-o");
  const grading::Ptx ptx = grading::ptx_of(options.lab, options.file, options.device);
  if (!ptx.compiles) {
    complain(ptx.text);
    return kPointsLost;
  }
  print_or_write(ptx.text, options.output, "-o");
  return kFullMarks;
}

}  // namespace

Command ptx_command(CLI::App& lab32) {
  const auto options = std::make_shared<PtxOptions>();
  Command command;
  command.app = lab32.add_subcommand("ptx", "print the PTX by which a lab's file is graded");
  command.app->add_option("LAB", options->lab, "the lab")->required();
  command.app->add_option("FILE", options->file, "a .cu file of any name")->required();
  command.app->add_option("--device", options->device, "sim or sim:NAME (sim)");
  command.app->add_option("-o", options->output, "write to this file instead of standard output");
  command.run = [options] { return show_ptx(*options); };
  command.clean_end = CleanSignalExit::Interrupt::too;
  return command;
}

}  // namespace lab32::commands
