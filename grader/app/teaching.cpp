// Commands for instructors. `lab32 init` writes the files that a student works with; `seal` makes
// the file that replaces the solutions in a students' pack; `calibrate` prints which timing checks
// this machine's GPU can decide.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/command.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "grading/engine/registry.h"
#include "grading/rubric/rubric.h"
#include "grading/timing/calibrate.h"
#include "grading/timing/reference_module.h"

namespace lab32::commands {
namespace {

namespace fs = std::filesystem;

// Files that Jupyter, Python and editors leave behind in labs/.
bool has_dot_or_underscore_prefix(const fs::path& path) {
  const std::string name = path.filename().string();
  return name[0] == '.' || name[0] == '_';
}

std::vector<fs::path> files_below(const fs::path& top) {
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(top); at != fs::recursive_directory_iterator();
       ++at) {
    if (has_dot_or_underscore_prefix(at->path()))
      at.disable_recursion_pending();
    else if (at->is_regular_file())
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

constexpr size_t kMostNamed = 8;

struct WrittenAndKeptFiles {
  std::vector<std::string> written;  // relative paths: labs/reduction/reduction.cu
  std::vector<std::string> kept;     // files that existed before and were not changed
};

// Copies labs/ and handouts/ of lab32_root() into `directory`, which is created if needed. Existing
// files are not replaced. Throws Error for lab32's own directory, and if a file cannot be written.
WrittenAndKeptFiles write_student_files(const fs::path& directory) {
  const fs::path own = lab32_root();
  WrittenAndKeptFiles files;
  try {
    fs::create_directories(directory);
    if (fs::equivalent(directory, own))
      throw Error(
          fmt::format("{}: this is the folder of lab32 itself, with its own labs/; name "
                      "another directory",
                      visible_name(directory.string())));
    for (const char* top : {"labs", "handouts"})
      for (const fs::path& from : files_below(own / top)) {
        const fs::path name = from.lexically_relative(own), to = directory / name;
        fs::create_directories(to.parent_path());
        const bool fresh = fs::copy_file(from, to, fs::copy_options::skip_existing);
        // The installed files may be read-only.
        if (fresh) fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
        (fresh ? files.written : files.kept).push_back(name.string());
      }
  } catch (const fs::filesystem_error& error) {
    // A copy has two paths; the second is the one that could not be written.
    const fs::path& failed = error.path2().empty() ? error.path1() : error.path2();
    throw MachineError(fmt::format("{}: cannot be written: {}", visible_name(failed.string()),
                                   error.code().message()));
  }
  return files;
}

// The report of `lab32 init`: which files it wrote, and what to do next.
std::string describe(const WrittenAndKeptFiles& files, const fs::path& directory) {
  const std::string where = visible_name(directory.string());
  const size_t kept = files.kept.size();
  std::string text = fmt::format("{}: {} file{} written, in labs/ and handouts/\n", where,
                                 files.written.size(), files.written.size() == 1 ? "" : "s");
  if (kept > 0) {
    // The files that a student edits come first.
    std::vector<std::string> shown = files.kept;
    std::stable_partition(shown.begin(), shown.end(), [](const std::string& name) {
      return fs::path(name).extension() == ".cu";
    });
    const size_t named = std::min(kept, kMostNamed);
    shown.resize(named);
    text += fmt::format("Left as {}: {}{}. Delete a file to get the original.\n",
                        kept == 1 ? "it was" : "they were", fmt::join(shown, ", "),
                        kept > named ? fmt::format(" and {} more", kept - named) : "");
  }
  return text +
         "Read labs/README.md, edit labs/coalescing/coalescing.cu, then `lab32 grade "
         "coalescing`.\n";
}

int run_init(const std::string& directory) {
  const auto files = write_student_files(directory);
  print(describe(files, directory));
  return kFullMarks;
}

struct AnswerSealingOptions {
  std::string lab, module, rubric;
  bool only_checks = false;
};

int run_seal(const AnswerSealingOptions& options) {
  const std::filesystem::path folder = options.rubric.empty()
                                           ? grading::rubric_folder(options.lab)
                                           : std::filesystem::path(options.rubric);
  const grading::Rubric rubric(folder, options.lab);
  if (options.only_checks) return kFullMarks;
  print(grading::sealed_answer_lines(rubric));
  if (!options.module.empty())
    write_file(options.module, grading::sealed_reference_ptx(options.lab), "--reference");
  return kFullMarks;
}

// `lab32 calibrate` finds the timing checks that this GPU can decide.
struct CalibrateCommandOptions {
  std::vector<std::string> labs;
  std::string rubric, output;
};

int run_calibrate(const CalibrateCommandOptions& options) {
  if (!options.output.empty()) check_writable(options.output, "-o");
  print_or_write(
      grading::text_of(grading::find_gpu_decidable_timing_checks(options.labs, options.rubric)),
      options.output, "-o");
  return kFullMarks;
}

constexpr const char* kRubricHelp = "the folder of LAB.toml (that of this lab32)";

}  // namespace

Subcommand init_command(CLI::App& lab32) {
  const auto directory = std::make_shared<std::string>(".");
  Subcommand command;
  command.app = lab32.add_subcommand(
      "init", "write labs and handouts into the folder in which a student works");
  command.app->add_option("DIR", *directory, "the folder (.); existing files stay unchanged");
  command.run = [directory] { return run_init(*directory); };
  return command;
}

// Only `make dist` and lab32.course use this command, so the help does not list it.
Subcommand seal_command(CLI::App& lab32) {
  const auto options = std::make_shared<AnswerSealingOptions>();
  Subcommand command;
  command.app = lab32.add_subcommand("seal", "print a lab's answers, hashed")->group("");
  command.app->add_option("LAB", options->lab, "the lab")->required();
  command.app->add_option("--reference", options->module,
                          "write the lab's reference solution to this file, sealed");
  command.app->add_option("--rubric", options->rubric, kRubricHelp);
  command.app->add_flag("--check", options->only_checks, "only say whether the rubric is valid");
  command.run = [options] { return run_seal(*options); };
  return command;
}

Subcommand decidable_timing_checks_command(CLI::App& lab32) {
  const auto options = std::make_shared<CalibrateCommandOptions>();
  Subcommand command;
  command.app =
      lab32.add_subcommand("calibrate", "print which timing checks this machine's GPU can decide");
  command.app->add_option("LAB", options->labs, "the labs (all)");
  command.app->add_option("--rubric", options->rubric, kRubricHelp);
  command.app->add_option("-o", options->output, "write to this file instead of standard output");
  command.run = [options] { return run_calibrate(*options); };
  command.clean_end = CleanSignalExit::Interrupt::too;
  return command;
}

}  // namespace lab32::commands
