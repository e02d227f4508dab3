// One child process, which run_process() and run_forked() start.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>

namespace lab32 {

// Owns one descriptor. All are close-on-exec, so neither this child nor one that another thread
// starts at the same moment inherits the ends of our pipes (and then keeps them from closing).
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
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

// Throws Error when there is none.
struct Pipe {
  Descriptor read, write;
  Pipe();
};

// What became of an exec. Made before the fork.
class ExecReport {
 public:
  // In the child, when it cannot start its program.
  [[noreturn]] void fail(int error) const;
  // In a child that leaves the exec to a child of its own.
  void leave() { pipe_.write.close(); }
  // In the parent: 0 once the child's program runs, else why it does not.
  int failure();

 private:
  Pipe pipe_;  // closed by a successful exec
};

class Child {
 public:
  // A group of its own is killed as a whole, with the children that the child has left.
  enum class Group { ours, own };

  // Forks. `run` is the child's whole life and must not return; before an exec it may only call
  // what is safe between fork and exec. The child dies when the thread that made it does, unless it
  // asks for another signal. No signal is blocked in it. Throws MachineError that begins with
  // `name`.
  Child(const std::string& name, Group group, const std::function<void()>& run);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills the group (or the child) of every Child that is alive, for an end of this process: no
  // wait() returns any more, and no Child is made.
  static void kill_all();
  // Kills and waits for it, if nobody has.
  ~Child();

  bool has_ended() const;
  void kill() const;  // SIGKILL, to its group if it has one
  int wait();         // for its end; the status as waitpid gives it

 private:
  pid_t pid_;
  Group group_;
  bool waited_ = false;
};

// "killed by signal 9 (Killed)"
std::string killed_by(int signal);

}  // namespace lab32
