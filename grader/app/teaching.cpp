// Commands for those who teach with lab32. `lab32 init` writes what a student works with; `seal`
// makes what a students' pack holds in place of solutions; `calibrate` says which timing checks a
// machine's GPU can decide.

#include <filesystem>
#include <memory>

#include "app/command.h"
#include "base/files.h"
#include "grading/engine/registry.h"
#include "grading/engine/student_files.h"
#include "grading/timing/calibrate.h"
#include "grading/timing/reference_module.h"
#include "grading/timing/sealing.h"

namespace lab32::commands {
namespace {

int init(const std::string& directory) {
  const auto files = grading::write_student_files(directory);
  print(grading::describe(files, directory));
  return kFullMarks;
}

struct SealOptions {
  std::string lab, module, rubric;
};

int seal(const SealOptions& options) {
  const std::filesystem::path folder =
      options.rubric.empty() ? grading::rubric_folder() : std::filesystem::path(options.rubric);
  print(grading::sealed_answers({folder, options.lab}));
  if (!options.module.empty())
    write_file(options.module, grading::sealed_reference(options.lab), "--reference");
  return kFullMarks;
}

struct CalibrateOptions {
  std::vector<std::string> labs;
  std::string rubric, output;
};

int calibrate(const CalibrateOptions& options) {
  if (!options.output.empty()) check_writable(options.output, "-o");
  print_or_write(grading::text_of(grading::calibrate(options.labs, options.rubric)), options.output,
                 "-o");
  return kFullMarks;
}

constexpr const char* kRubricHelp = "where each lab's LAB.toml is (data/limits)";

}  // namespace

Command init_command(CLI::App& lab32) {
  const auto directory = std::make_shared<std::string>(".");
  Command command;
  command.app =
      lab32.add_subcommand("init", "write labs and handouts, where a student is to work on them");
  command.app->add_option("DIR", *directory, "where (here); what is there stays as it is");
  command.run = [directory] { return init(*directory); };
  return command;
}

// Used by `make dist` alone: the help does not list it.
Command seal_command(CLI::App& lab32) {
  const auto options = std::make_shared<SealOptions>();
  Command command;
  command.app = lab32.add_subcommand("seal", "print a lab's answers, hashed")->group("");
  command.app->add_option("LAB", options->lab, "which lab")->required();
  command.app->add_option("--reference", options->module,
                          "write the lab's reference solution there, sealed");
  command.app->add_option("--rubric", options->rubric, kRubricHelp);
  command.run = [options] { return seal(*options); };
  return command;
}

Command calibrate_command(CLI::App& lab32) {
  const auto options = std::make_shared<CalibrateOptions>();
  Command command;
  command.app =
      lab32.add_subcommand("calibrate", "which timing checks this machine's GPU can decide");
  command.app->add_option("LAB", options->labs, "which labs (all that there are)");
  command.app->add_option("--rubric", options->rubric, kRubricHelp);
  command.app->add_option("-o", options->output, "write here instead of to standard output");
  command.run = [options] { return calibrate(*options); };
  command.clean_end = CleanEnd::Interrupt::too;
  return command;
}

}  // namespace lab32::commands
