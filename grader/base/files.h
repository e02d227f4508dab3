// Files: read, written, watched; directories of our own, and an end that leaves none behind.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/child.h"

namespace lab32 {

// The whole file as it is; nothing where it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

// ---- the tables of data/: CSV below lines that begin with # ----

// The cells of a line as RFC 4180 has them, but for line ends inside quotes, which data/README.md
// rules out.
std::vector<std::string> csv_cells(const std::string& line);

using TableRow = std::map<std::string, std::string>;  // cells by the names of their columns

// Throws Error naming the file when it cannot be read, and the line when it has other columns.
std::vector<TableRow> read_table(const std::string& path);

// Writes a file that a user asked for. A regular file appears whole or not at all: written beside
// its place, brought to the disk, then renamed into it. Where the path is a link, that happens to
// the file which the link leads to; a device or a pipe is written to. `option` is what named it,
// for the message: "-o". Throws MachineError when it cannot be written.
void write_file(const std::string& path, const std::string& text, const std::string& option);

// The same exception for what can be foreseen: before hours of work are done for it.
void check_writable(const std::string& path, const std::string& option);

// The path as messages show it: without the working directory where it lies below that. Files are
// found by either.
std::string shown_path(const std::string& path);

// Waits until somebody saves one of some files (inotify).
class FileWatch {
 public:
  // Throws MachineError where a file's folder cannot be watched.
  explicit FileWatch(const std::vector<std::filesystem::path>& files);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // Those that were saved since the last call, by their place in `files`: written to, or put in
  // place as many editors do. Waits for the first, and then until it is quiet. Empty: a signal.
  std::vector<size_t> wait();

 private:
  struct Place {
    int folder;
    std::filesystem::path name;
  };
  int inotify_;
  std::vector<Place> places_;
};

// A directory of our own below TMPDIR, gone with the object.
//
// All of a user's lie in TMPDIR/lab32-UID. Each is locked by the process that made it for as long
// as that lives, so the first of a later process finds what killed ones have left, and removes it.
class Scratch {
 public:
  Scratch();  // throws MachineError, with the directory, when none can be made
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Of all that there are in this process, for its end by a signal: who makes or loses one then
  // waits for that end.
  static void remove_all();

  std::filesystem::path path;  // canonical

 private:
  Descriptor lock_;
};

// An end by a signal that leaves nothing behind. While it lives, SIGHUP and SIGTERM, and SIGINT if
// asked for, end the process only after its children are killed and its scratch directories
// removed. To be made before any other thread: it blocks the signals in all that begin later.
class CleanSignalExit {
 public:
  enum class Interrupt { too, not_watched };
  explicit CleanSignalExit(Interrupt interrupt);
  ~CleanSignalExit();
  CleanSignalExit(const CleanSignalExit&) = delete;
  CleanSignalExit& operator=(const CleanSignalExit&) = delete;

 private:
  sigset_t before_, watched_;
  std::thread watcher_;
};

}  // namespace lab32
