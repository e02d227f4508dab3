// Reading, writing and watching files; scratch directories that disappear with the process; and a
// clean exit on a signal. Functions that a user's option leads to (write_file) name that option in
// their messages.
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

// The whole file, unchanged; nullopt if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

// ---- the tables of data/: CSV below lines that begin with # ----

// The cells of a line of CSV as RFC 4180 defines them, except for line ends inside quotes, which
// data/README.md rules out.
std::vector<std::string> csv_cells(const std::string& line);

using TableRow = std::map<std::string, std::string>;  // column name -> cell

// Throws Error, which names the file if it cannot be read, or the line if its number of columns
// differs from the header's.
std::vector<TableRow> read_csv_table(const std::string& path);

// Writes a file that a user asked for. A regular file appears complete or not at all: the text is
// written to a temporary file in the same directory, flushed to the disk and renamed. If the path
// is a link, this happens to the file to which the link leads; a device or a pipe is written
// directly. `option` is the option that named the file, for the message: "-o". Throws MachineError
// if the file cannot be written.
void write_file(const std::string& path, const std::string& text, const std::string& option);

// Throws the exception of write_file() if writing would certainly fail. Called before long work
// whose result is to be written.
void check_writable(const std::string& path, const std::string& option);

// The path as messages show it: relative to the working directory if it is below that.
std::string path_for_display(const std::string& path);

// Waits until one of several files is saved (inotify).
class FileSaveWatch {
 public:
  // Throws MachineError if the folder of a file cannot be watched.
  explicit FileSaveWatch(const std::vector<std::filesystem::path>& files);
  ~FileSaveWatch();
  FileSaveWatch(const FileSaveWatch&) = delete;
  FileSaveWatch& operator=(const FileSaveWatch&) = delete;

  // Waits for the first save, and then until no file changes for a moment. Returns the indices in
  // `files` of all files that were saved since the last call, whether written in place or replaced
  // as many editors do. Returns nothing if a signal interrupted it.
  std::vector<size_t> wait();

 private:
  struct WatchedFile {
    int folder;
    std::filesystem::path name;
  };
  int inotify_;
  std::vector<WatchedFile> watched_;
};

// A temporary directory below TMPDIR, removed with the object.
//
// All scratch directories of a user are in TMPDIR/lab32-UID. The process that made one holds a lock
// on it while it lives, so the first ScratchDirectory of a later process finds the directories of
// killed processes and removes them.
class ScratchDirectory {
 public:
  ScratchDirectory();  // throws MachineError, which names the directory
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  // Removes all scratch directories of this process, when a signal ends it. A thread that then
  // creates or destroys a ScratchDirectory blocks until the process has ended.
  static void remove_all_scratch_directories();

  std::filesystem::path path;  // canonical

 private:
  FileDescriptor lock_;
};

// Cleans up when a signal ends the process. While this object lives, SIGHUP, SIGTERM and, if asked
// for, SIGINT first kill the children and remove the scratch directories. Create it before any
// other thread: it blocks these signals in the threads that start later.
class CleanSignalExit {
 public:
  // passed_on: SIGINT is not watched, because a terminal sends it to the children, too. The first
  // SIGHUP or SIGTERM goes to the children alone, so that this process ends by itself after them.
  enum class Interrupt { too, not_watched, passed_on };
  explicit CleanSignalExit(Interrupt interrupt);
  ~CleanSignalExit();
  CleanSignalExit(const CleanSignalExit&) = delete;
  CleanSignalExit& operator=(const CleanSignalExit&) = delete;

 private:
  sigset_t before_, watched_;
  std::thread watcher_;
};

}  // namespace lab32
