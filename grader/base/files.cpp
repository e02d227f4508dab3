#include "base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "base/child.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"

namespace lab32 {

// ---- reading files ---------------------------------------------------------------------------

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // An empty file sets failbit on `text`, and a directory sets badbit on `file`.
  if (!file) return std::nullopt;
  return text.str();
}

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<TableRow> read_csv_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + " cannot be read");
  std::vector<std::string> names;
  std::vector<TableRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells = csv_cells(line);
    if (names.empty()) {
      names = std::move(cells);
      continue;
    }
    if (cells.size() != names.size()) throw Error(path + ": `" + line + "` has other columns");
    TableRow& row = rows.emplace_back();
    for (size_t i = 0; i < cells.size(); ++i) row[names[i]] = std::move(cells[i]);
  }
  return rows;
}

// ---- writing files ---------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

// An output path and the option that named it; a failure's message quotes both.
struct OutputPathOfOption {
  const std::string& path;
  const std::string& option;
  [[noreturn]] void fail(const char* what, int reason) const {
    throw MachineError(fmt::format("{}: {}: {}; name another file with {}", visible_name(path),
                                   what, std::strerror(reason), option));
  }
};

enum class OutputKind { absent, regular, stream };

OutputKind output_kind(const OutputPathOfOption& target) {
  struct stat s {};
  if (stat(target.path.c_str(), &s) != 0) {
    if (errno != ENOENT) target.fail("cannot be written", errno);
    return OutputKind::absent;
  }
  if (S_ISDIR(s.st_mode)) target.fail("cannot be written", EISDIR);
  if (S_ISBLK(s.st_mode) || S_ISSOCK(s.st_mode)) target.fail("cannot be written", EINVAL);
  return S_ISREG(s.st_mode) ? OutputKind::regular : OutputKind::stream;
}

// The file to which a link, or a chain of links, leads; it need not exist.
std::string resolve_output_links(const OutputPathOfOption& target) {
  fs::path place = target.path;
  std::error_code error;
  for (int i = 0; fs::is_symlink(place, error); ++i) {
    if (i == 40) target.fail("cannot be written", ELOOP);
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  return place.string();
}

bool write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

void write_to_pipe_or_device(const OutputPathOfOption& target, const std::string& text) {
  const FileDescriptor fd(open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0 || !write_all(fd.get(), text)) target.fail("cannot be written", errno);
}

// Flushes the directory, whose entry names the new file; the caller has flushed the file. Without
// it a power failure could bring the old file back.
void flush_directory(const fs::path& directory) {
  const FileDescriptor fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) fsync(fd.get());
}

std::string directory_of(const std::string& place) {
  const fs::path parent = fs::path(place).parent_path();
  return parent.empty() ? "." : parent.string();
}

void write_file_atomically(const OutputPathOfOption& target, const std::string& place,
                           const std::string& text) {
  std::string temporary = directory_of(place) + "/.lab32-XXXXXX";
  FileDescriptor fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) target.fail("cannot be written", errno);
  // mkstemp() makes files private, but a report gets the permissions of any other file of its
  // owner.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd.get(), 0666 & ~mask);
  // On a file system that does not support fsync(), it fails with EINVAL.
  const bool written = write_all(fd.get(), text) && (fsync(fd.get()) == 0 || errno == EINVAL);
  const bool renamed = written && rename(temporary.c_str(), place.c_str()) == 0;
  if (!renamed) {
    const int reason = errno;
    unlink(temporary.c_str());
    target.fail(written ? "cannot be replaced" : "cannot be written", reason);
  }
  flush_directory(directory_of(place));
}

}  // namespace

void write_file(const std::string& path, const std::string& text, const std::string& option) {
  const OutputPathOfOption target{path, option};
  if (output_kind(target) == OutputKind::stream)
    write_to_pipe_or_device(target, text);
  else
    write_file_atomically(target, resolve_output_links(target), text);
}

void check_writable(const std::string& path, const std::string& option) {
  const OutputPathOfOption target{path, option};
  if (output_kind(target) == OutputKind::stream) {
    if (access(path.c_str(), W_OK) != 0) target.fail("cannot be written", errno);
    return;
  }
  const std::string place = resolve_output_links(target), directory = directory_of(place);
  if (place.empty() || fs::path(place).filename().empty()) target.fail("cannot be written", ENOENT);
  // Makes a file, since permissions alone do not tell whether that is possible: the disk may be
  // read-only, or the path may be no directory.
  std::string probe = directory + "/.lab32-XXXXXX";
  const FileDescriptor fd(mkostemp(probe.data(), O_CLOEXEC));
  if (fd.get() < 0) target.fail("cannot be written", errno);
  unlink(probe.c_str());
}

std::string path_for_display(const std::string& path) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  return path.rfind(here, 0) == 0 ? path.substr(here.size()) : path;
}

// ---- watching files --------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

// An editor writes a file in several steps; a save has ended when no step has followed for this
// time.
constexpr int kQuietMilliseconds = 150;

}  // namespace

// Watches the folders and not the files, since a replaced file is a new inode.
FileSaveWatch::FileSaveWatch(const std::vector<fs::path>& files)
    : inotify_(inotify_init1(IN_CLOEXEC)) {
  for (const fs::path& file : files) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const int watch =
        inotify_ < 0 ? -1
                     : inotify_add_watch(inotify_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
    if (watch < 0) {
      const std::string why = std::strerror(errno);
      if (inotify_ >= 0) close(inotify_);
      throw MachineError(visible_name(folder.string()) + " cannot be watched: " + why);
    }
    watched_.push_back({watch, file.filename()});
  }
}

FileSaveWatch::~FileSaveWatch() { close(inotify_); }

std::vector<size_t> FileSaveWatch::wait() {
  std::set<size_t> saved;
  for (;;) {
    pollfd ready{inotify_, POLLIN, 0};
    const int n = poll(&ready, 1, saved.empty() ? -1 : kQuietMilliseconds);
    if (n < 0 && errno == EINTR) return {};
    if (n <= 0) break;
    alignas(inotify_event) std::array<char, 4096> events;
    const ssize_t bytes = read(inotify_, events.data(), events.size());
    for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      for (size_t i = 0; i < watched_.size(); ++i)
        if (watched_[i].folder == event->wd && event->len > 0 && watched_[i].name == event->name)
          saved.insert(i);
    }
  }
  return {saved.begin(), saved.end()};
}

// ---- scratch directories ---------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

struct ScratchDirectoryOwners {
  std::mutex mutex;
  std::map<fs::path, pid_t> owners;  // a forked child has its parent's entries, too
};
ScratchDirectoryOwners& scratch_directory_owners() {
  static ScratchDirectoryOwners all;
  return all;
}

fs::path tmpdir_path() {
  const std::string named = environment_value(variables::kTemporaryDirectory);
  return named.empty() ? "/tmp" : named;
}

[[noreturn]] void fail(const fs::path& directory, const char* reason) {
  throw MachineError("no scratch directory in " + directory.string() + ": " + reason +
                     "; name a directory with room in TMPDIR");
}

// True only for a directory of this user with private permissions: in /tmp another user may have
// created something of that name.
bool is_private_user_directory(const fs::path& directory) {
  struct stat s {};
  return lstat(directory.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
         (s.st_mode & 077) == 0;
}

bool lock_directory(const FileDescriptor& directory, int how) {
  return directory.get() >= 0 && flock(directory.get(), how) == 0;
}

FileDescriptor open_directory(const fs::path& directory) {
  return FileDescriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Removes the directories whose lock no process holds. On a file system without locks nothing is
// removed.
void remove_unlocked_directories(const fs::path& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const FileDescriptor held = open_directory(entry.path());
    if (lock_directory(held, LOCK_EX | LOCK_NB)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  const std::lock_guard guard(scratch_directory_owners().mutex);
  const fs::path directory = tmpdir_path();
  fs::path root = directory / ("lab32-" + std::to_string(geteuid()));
  mkdir(root.c_str(), 0700);
  // If the root belongs to another user, it contains no leftovers of this user.
  std::string pattern = is_private_user_directory(root) ? (root / "XXXXXX").string()
                                                        : (directory / "lab32-XXXXXX").string();
  const FileDescriptor root_lock =
      is_private_user_directory(root) ? open_directory(root) : FileDescriptor();
  static std::set<fs::path> swept;
  if (swept.insert(root).second && lock_directory(root_lock, LOCK_EX | LOCK_NB))
    remove_unlocked_directories(root);
  // The shared lock keeps other processes from sweeping between the next two steps.
  lock_directory(root_lock, LOCK_SH);
  if (!mkdtemp(pattern.data())) fail(directory, std::strerror(errno));
  path = fs::canonical(pattern);
  lock_.reset(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock_directory(lock_, LOCK_EX | LOCK_NB);
  scratch_directory_owners().owners[path] = getpid();
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
  const std::lock_guard guard(scratch_directory_owners().mutex);
  scratch_directory_owners().owners.erase(path);
}

void ScratchDirectory::remove_all_scratch_directories() {
  // The mutex is never unlocked: a thread that misses its files must not get to report an error
  // about them.
  scratch_directory_owners().mutex.lock();
  std::error_code ignored;
  for (const auto& [path, owner] : scratch_directory_owners().owners)
    if (owner == getpid()) fs::remove_all(path, ignored);
}

// ---- a clean exit on a signal ----------------------------------------------------------------

namespace {

// The destructor wakes the watcher thread with this signal, which no other code sends.
constexpr int kWake = SIGURG;

}  // namespace

CleanSignalExit::CleanSignalExit(Interrupt interrupt) {
  sigemptyset(&watched_);
  for (const int signal : {SIGHUP, SIGTERM, kWake}) sigaddset(&watched_, signal);
  if (interrupt == Interrupt::too) sigaddset(&watched_, SIGINT);
  // A signal that the parent process ignored (nohup) stays ignored.
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN)
      sigdelset(&watched_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  watcher_ = std::thread([this, passes_on = interrupt == Interrupt::passed_on] {
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> passed_on;
    int signal = 0;
    for (;;) {
      while (sigwait(&watched_, &signal) != 0) {
      }
      if (signal == kWake) return;
      // timeout(1) sends its signal to this process and once more to the whole group.
      if (passed_on && Clock::now() - *passed_on < std::chrono::seconds(3)) continue;
      if (!passes_on || passed_on || !ChildProcess::forward_signal_to_live_children(signal)) break;
      passed_on = Clock::now();
    }
    // Children first, since they would continue to write files.
    ChildProcess::kill_all_children();
    ScratchDirectory::remove_all_scratch_directories();
    std::signal(signal, SIG_DFL);
    sigset_t this_one;
    sigemptyset(&this_one);
    sigaddset(&this_one, signal);
    kill(getpid(), signal);
    pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
    _exit(128 + signal);
  });
}

CleanSignalExit::~CleanSignalExit() {
  pthread_kill(watcher_.native_handle(), kWake);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace lab32
