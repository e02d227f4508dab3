// A sandbox for the compilers, since a submission chooses by #include which files they read. The
// compilers see the toolchain, a copy of the submission and labs/include; they write to one
// directory, and reach neither the network nor other files of the machine. README.md explains why.
// Sandbox runs a program inside; FilesReadableByCompiler checks afterwards which files were opened
// where no isolation is available.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {

// How a sandbox is isolated. If bubblewrap cannot run, Landlock lets the programs open the same
// files and no others, and seccomp no sockets. `plain` is used without Landlock: seccomp if
// available, the same limits, and a copy of the submission. The programs could then read every file
// of this user, so the files that they opened are checked afterwards (FilesReadableByCompiler).
enum class Isolation { bubblewrap, landlock, plain };

struct IsolationProbe {
  Isolation isolation = Isolation::bubblewrap;
  std::string reason;  // why bubblewrap cannot run, in its own words
};
// The best isolation that works on this machine, determined once.
const IsolationProbe& best_isolation();

class Sandbox {
 public:
  // Creates the sandbox in a new scratch directory, which is removed with it.
  Sandbox(const Toolchain& toolchain, const std::filesystem::path& include, Isolation isolation);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // The three directories as this process sees them, to fill the first and to read the last.
  const std::filesystem::path& submission() const { return submission_; }
  const std::filesystem::path& include() const { return include_; }
  const std::filesystem::path& output() const { return output_; }

  // The three directories as the programs in the sandbox see them, for command lines. Without
  // bubblewrap they are relative, so that nvcc passes no name from TMPDIR to a shell.
  std::string submission_path_in_sandbox() const;
  std::string include_path_in_sandbox() const;
  std::string output_folder_in_sandbox() const;

  ProcessOutcome run(const std::vector<std::string>& argv, const ProcessLimits& limits) const;

  // Empties the output directory, to find out whether the disk was full.
  void clear_output() const;

 private:
  const Toolchain& toolchain_;
  ScratchDirectory scratch_;
  std::filesystem::path include_, submission_, output_;
  Isolation isolation_;
  std::optional<Confinement> confinement_;  // empty if bubblewrap confines the program
};

// ---- the files that a preprocessor has opened (gcc -H), and whether it may open them ----

// gcc's option -H, in the form in which nvcc passes it on.
extern const std::vector<std::string> kReportOpenedFiles;

struct OpenedFilesAndMessages {
  std::vector<std::filesystem::path> files;  // with the names that gcc gives them
  std::string messages;                      // gcc's output without the list of files
};
OpenedFilesAndMessages split_off_opened_files(const std::string& output);

// The files that a compilation may read: everything below these directories. Files are compared by
// device and inode number and not by name, since a name may lead through links or through /proc.
class FilesReadableByCompiler {
 public:
  // `own`: small directories, whose files are listed one by one; `roots`: the toolchain's
  // directories, which are public, except for parts of the checkout inside them.
  FilesReadableByCompiler(const std::vector<std::filesystem::path>& own,
                          const std::vector<std::filesystem::path>& roots);
  // False in case of doubt. `from` is the working directory of the compiler.
  bool allows(const std::filesystem::path& file,
              const std::filesystem::path& compiler_directory) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> own_;
  std::vector<std::filesystem::path> roots_;
};

}  // namespace lab32::toolchain
