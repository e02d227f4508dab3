// The child process that run_process() and run_forked() start. ChildProcess forks, kills and waits
// for it; it makes sure that no child outlives this process, however this process ends.
// FileDescriptor, Pipe and ExecStatusPipe own the file descriptors between the two. run_process()
// (process.h) and run_forked() (work.h) are what most callers want.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>

namespace lab32 {

// Owns one file descriptor. All descriptors are close-on-exec: otherwise a child, even one that
// another thread starts at the same moment, would inherit the ends of our pipes and keep them open.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close();

 private:
  int fd_ = -1;
};

// The constructor throws MachineError if the system provides no pipe.
struct PipeDescriptors {
  FileDescriptor read, write;
  PipeDescriptors();
};

// Tells the parent whether the child's exec() succeeded. Create it before the fork.
class ExecStatusPipe {
 public:
  // Called in the child when exec() has failed; `error` is errno.
  [[noreturn]] void send_errno_and_exit(int error) const;
  // Called in a child that leaves exec() to a child of its own.
  void leave() { pipe_.write.close(); }
  // Called in the parent. Returns 0 once the child's program runs, else the errno of the failed
  // exec().
  int exec_error();

 private:
  PipeDescriptors pipe_;  // a successful exec closes it
};

class ChildProcess {
 public:
  // `own`: the child leads a process group of its own, and kill() ends the whole group, with the
  // processes that the child has started.
  enum class Group { ours, own };

  // Forks. `run` is everything that the child does; it must not return, and before an exec it may
  // call only functions that are safe between fork and exec. The child gets SIGKILL when the thread
  // that made it ends, unless the child asks for another signal. It starts with no signal blocked.
  // Throws MachineError, whose message begins with `name`.
  ChildProcess(const std::string& name, Group group, const std::function<void()>& run);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Sends the signal to every live ChildProcess and its group. Returns whether there is one.
  static bool forward_signal_to_live_children(int signal);
  // Kills every live ChildProcess and its group. Used when a signal ends this process: afterwards
  // no wait_for_raw_status() returns, and no new ChildProcess can be made.
  static void kill_all_children();
  // Kills the child and waits for it, unless wait_for_raw_status() has already returned.
  ~ChildProcess();

  bool has_ended() const;
  void kill() const;          // sends SIGKILL, to the child's group if it has one
  int wait_for_raw_status();  // waits for the end; returns the status as waitpid() gives it

 private:
  pid_t pid_;
  Group group_;
  bool waited_ = false;
};

// "killed by signal 9 (Killed)"
std::string signal_death_text(int signal);

}  // namespace lab32
