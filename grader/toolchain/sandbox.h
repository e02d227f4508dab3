// A sandbox for the compilers: they see the toolchain, the submission's copy and labs/include,
// write to one directory, and reach neither the network nor anything else of the machine
// (README.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {

// How a sandbox is closed off. Where bubblewrap cannot run, Landlock lets the programs open the
// same files and no others, and seccomp no sockets. `plain` is what is left without Landlock:
// seccomp, if there is that, the same limits and a copy of the submission; the programs could read
// whatever this user can, so what they have opened is looked at afterwards (ReadableFiles).
enum class Isolation { bubblewrap, landlock, plain };

struct IsolationProbe {
  Isolation isolation = Isolation::bubblewrap;
  std::string reason;  // why not bubblewrap, in its own words
};
// The best that works on this machine. Tried once.
const IsolationProbe& isolation();

class Sandbox {
 public:
  // Makes the sandbox in a fresh directory, which goes with it.
  Sandbox(const Toolchain& toolchain, const std::filesystem::path& include, Isolation isolation);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // The same three directories from outside, to fill the first and to read the last.
  const std::filesystem::path& submission() const { return submission_; }
  const std::filesystem::path& include() const { return include_; }
  const std::filesystem::path& output() const { return output_; }

  // And as the programs in the sandbox know them; these go on command lines. Without bubblewrap
  // they are relative: whatever TMPDIR is called, nvcc hands it to no shell.
  std::string inner_submission() const;
  std::string inner_include() const;
  std::string inner_output() const;

  Outcome run(const std::vector<std::string>& argv, const ProcessLimits& limits) const;

  // Empties the output, to see whether that makes room on the disk.
  void clear_output() const;

 private:
  const Toolchain& toolchain_;
  Scratch scratch_;
  std::filesystem::path include_, submission_, output_;
  Isolation isolation_;
  std::optional<Confinement> confinement_;  // but for bubblewrap
};

// ---- which files a preprocessor has read, by its own account (gcc -H), and whether it might ----

// gcc's flag, as nvcc hands it on.
extern const std::vector<std::string> kReportOpenedFiles;

struct OpenedFiles {
  std::vector<std::filesystem::path> files;  // as gcc called them
  std::string messages;                      // what is left of its output without that account
};
OpenedFiles split_opened_files(const std::string& output);

// Files that a compilation may read: all below these directories. They are told by device and
// number, not by name: a name may lead through links, or be another's in /proc.
class ReadableFiles {
 public:
  // `own`: small directories, of which every file counts; `roots`: the toolchain's, which are
  // public, less what of the checkout lies in them.
  ReadableFiles(const std::vector<std::filesystem::path>& own,
                const std::vector<std::filesystem::path>& roots);
  // False on any doubt. `from`: the directory that the compiler ran in.
  bool allows(const std::filesystem::path& file, const std::filesystem::path& from) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> own_;
  std::vector<std::filesystem::path> roots_;
};

}  // namespace lab32::toolchain
