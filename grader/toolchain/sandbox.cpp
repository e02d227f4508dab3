#include "toolchain/sandbox.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {

namespace {

namespace fs = std::filesystem;

fs::path find_bubblewrap() {
  for (const char* place : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (access(place, X_OK) == 0) return place;
  return {};
}

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

// /bin, /lib and /lib64 are links into /usr on today's systems and directories on older ones.
void add_system_mounts(Words& words) {
  add(words, {"--ro-bind", "/usr", "/usr"});
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (fs::is_symlink(name, error))
      add(words, {"--symlink", fs::read_symlink(name).string(), name});
    else if (fs::is_directory(name, error))
      add(words, {"--ro-bind", name, name});
  }
  // On Debian gcc is a link in /etc/alternatives; with the loader's cache, libraries are found
  // faster, and some only with it.
  for (const char* name :
       {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"})
    add(words, {"--ro-bind-try", name, name});
}

// bubblewrap and all of its arguments up to the command. Later mounts hide earlier ones.
Words bubblewrap_command(const fs::path& bubblewrap, const std::vector<fs::path>& roots) {
  // No /proc: the compilers do without, and a container may forbid mounting it.
  Words words{bubblewrap.string(), "--unshare-all", "--die-with-parent",
              "--new-session",     "--cap-drop",    "ALL"};
  add(words, {"--tmpfs", "/tmp", "--dev", "/dev"});
  add_system_mounts(words);
  auto show = [&](const fs::path& root) {
    add(words, {"--ro-bind", root.string(), root.string()});
  };
  for (const auto& root : roots)
    if (!is_inside(root, "/usr")) show(root);
  // A checkout that lies inside a tool's directory (/usr/src/lab32, say) would be shown with it.
  fs::path own = checkout_directory();
  bool shown = false;
  for (const auto& root : roots) shown |= is_inside(own, root);
  if (shown) {
    add(words, {"--tmpfs", own.string()});
    for (const auto& root : roots)
      if (is_inside(root, own)) show(root);
  }
  return words;
}

Words compiler_environment(const Toolchain& toolchain, const std::string& temporary) {
  // The complete environment: no NVCC_APPEND_FLAGS and no CPLUS_INCLUDE_PATH of the user. ccache
  // needs a HOME.
  return {"PATH=" + toolchain.path, "LC_ALL=C", "TMPDIR=" + temporary, "HOME=/nonexistent",
          "CCACHE_DISABLE=1"};
}

// The system files that a program needs in any sandbox, besides the toolchain.
const std::vector<std::string> kSystem = {
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/dev/zero",         "/dev/random",      "/dev/urandom"};

Confinement::AllowedPaths readable_paths_of_compiler(const std::vector<fs::path>& roots) {
  Confinement::AllowedPaths paths{kSystem, {"/dev/null"}};
  for (const fs::path& root : roots) paths.read.push_back(root.string());
  return paths;
}

ProcessCommand harmless_command() {
  ProcessCommand command;
  command.argv = {"/usr/bin/true"};
  command.limits.wall_seconds = 10;
  command.limits.output_bytes = 4096;
  return command;
}

Isolation isolation_without_bubblewrap() {
  if (confinement_support().landlock == 0) return Isolation::plain;
  try {
    const Confinement confinement(readable_paths_of_compiler({"/usr", "/lib", "/lib64", "/bin"}));
    ProcessCommand command = harmless_command();
    command.confinement = &confinement;
    return run_process(command).ok() ? Isolation::landlock : Isolation::plain;
  } catch (const Error&) {
    return Isolation::plain;
  }
}

IsolationProbe find_best_isolation() {
  fs::path bubblewrap = find_bubblewrap();
  if (bubblewrap.empty())
    return {isolation_without_bubblewrap(), "it is not installed: apt-get install bubblewrap"};
  ProcessCommand command = harmless_command();
  command.argv = bubblewrap_command(bubblewrap, {});
  add(command.argv, {"/usr/bin/true"});
  ProcessOutcome outcome;
  try {
    outcome = run_process(command);
  } catch (const Error& error) {
    return {isolation_without_bubblewrap(), error.what()};
  }
  if (outcome.ok()) return {};
  std::string reason = outcome.err.substr(0, outcome.err.find('\n'));
  return {isolation_without_bubblewrap(), reason.empty() ? describe(outcome) : reason};
}

}  // namespace

const IsolationProbe& best_isolation() {
  static const IsolationProbe found = find_best_isolation();
  return found;
}

Sandbox::Sandbox(const Toolchain& toolchain, const fs::path& include, Isolation isolation)
    : toolchain_(toolchain), include_(include), isolation_(isolation) {
  submission_ = scratch_.path / "submission";
  output_ = scratch_.path / "output";
  const fs::path temporary = scratch_.path / "tmp";
  for (const auto& directory : {submission_, output_, temporary}) {
    std::error_code error;
    fs::create_directory(directory, error);
    if (error) throw MachineError(directory.string() + " cannot be made: " + error.message());
  }
  if (isolation == Isolation::bubblewrap) return;
  std::error_code error;
  fs::copy(include, scratch_.path / "include", fs::copy_options::recursive, error);
  include_ = scratch_.path / "include";
  Confinement::AllowedPaths paths = readable_paths_of_compiler(toolchain.roots);
  for (const fs::path& readable : {submission_, include_}) paths.read.push_back(readable.string());
  for (const fs::path& writable : {output_, temporary}) paths.write.push_back(writable.string());
  if (isolation == Isolation::plain)
    confinement_.emplace(Confinement::Files::open);
  else
    confinement_.emplace(paths);
}

void Sandbox::clear_output() const {
  std::error_code ignored;
  for (const fs::path& directory : {output_, scratch_.path / "tmp"})
    for (const auto& entry : fs::directory_iterator(directory, ignored))
      fs::remove_all(entry.path(), ignored);
}

std::string Sandbox::submission_path_in_sandbox() const {
  return isolation_ == Isolation::bubblewrap ? "/submission" : "../submission";
}
std::string Sandbox::include_path_in_sandbox() const {
  return isolation_ == Isolation::bubblewrap ? "/include" : "../include";
}
std::string Sandbox::output_folder_in_sandbox() const {
  return isolation_ == Isolation::bubblewrap ? "/output" : ".";
}

ProcessOutcome Sandbox::run(const Words& argv, const ProcessLimits& limits) const {
  ProcessCommand command;
  command.limits = limits;
  if (isolation_ == Isolation::bubblewrap) {
    command.argv = bubblewrap_command(find_bubblewrap(), toolchain_.roots);
    add(command.argv, {"--ro-bind", submission_.string(), "/submission"});
    add(command.argv, {"--ro-bind-try", include_.string(), "/include"});
    add(command.argv, {"--bind", output_.string(), "/output", "--chdir", "/output", "--"});
    command.environment = compiler_environment(toolchain_, "/tmp");
  } else {
    command.confinement = &*confinement_;
    command.directory = output_.string();
    command.environment = compiler_environment(toolchain_, "../tmp");
  }
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  return run_process(command);
}

// ---- the files that a preprocessor has opened ------------------------------------------------

namespace {

namespace fs = std::filesystem;

// The line above the list that gcc adds after its last message.
constexpr char kGuards[] = "Multiple include guards may be useful for:";

// Whether the line names a file that gcc has opened: ". /usr/include/math.h", with a dot for each
// file that it is included from.
bool is_gcc_dash_h_line(const std::string& line, size_t& name) {
  name = std::min(line.find_first_not_of('.'), line.size());
  if (name == line.size() || line[name] != ' ') return false;
  ++name;
  // No message of gcc or nvcc looks like this; a line that begins with a blank quotes or continues.
  return name > 1 || (name < line.size() && line[name] == '/');
}

using Id = std::pair<uint64_t, uint64_t>;

bool read_file_id(const fs::path& file, Id& id) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
  id = {s.st_dev, s.st_ino};
  return true;
}

}  // namespace

const std::vector<std::string> kReportOpenedFiles = {"-Xcompiler", "-H"};

OpenedFilesAndMessages split_off_opened_files(const std::string& output) {
  OpenedFilesAndMessages result;
  std::istringstream lines(output);
  bool guards = false;
  for (std::string line; std::getline(lines, line);) {
    size_t name = 0;
    if (line == kGuards) {
      guards = true;
    } else if (is_gcc_dash_h_line(line, name)) {
      result.files.emplace_back(line.substr(name));
    } else if (guards && !line.empty() && line.find_first_of(":( ") == std::string::npos) {
      // All files below this line were also listed above it.
    } else {
      guards = false;
      result.messages += line + "\n";
    }
  }
  return result;
}

FilesReadableByCompiler::FilesReadableByCompiler(const std::vector<fs::path>& own,
                                                 const std::vector<fs::path>& roots)
    : roots_(roots) {
  std::error_code error;
  Id id;
  for (const fs::path& directory : own)
    for (const auto& entry : fs::recursive_directory_iterator(directory, error))
      if (!entry.is_symlink(error) && read_file_id(entry.path(), id)) own_.push_back(id);
  std::sort(own_.begin(), own_.end());
}

bool FilesReadableByCompiler::allows(const fs::path& file,
                                     const fs::path& compiler_directory) const {
  const fs::path full = compiler_directory / file;
  // AllowedPaths in these directories may have led the compiler to another file than they lead to
  // now.
  for (const char* shifting : {"/proc", "/dev", "/sys", "/run"})
    if (is_inside(full.lexically_normal(), shifting)) return false;
  Id id;
  if (!read_file_id(full, id)) return false;
  if (std::binary_search(own_.begin(), own_.end(), id)) return true;
  std::error_code error;
  const fs::path real = fs::canonical(full, error);
  if (error) return false;
  bool below_tool = false, tool_in_checkout = false;
  for (const fs::path& root : roots_) {
    below_tool |= is_inside(real, root);
    tool_in_checkout |= is_inside(root, checkout_directory()) && is_inside(real, root);
  }
  return below_tool && (tool_in_checkout || !is_inside(real, checkout_directory()));
}

}  // namespace lab32::toolchain
