#include "base/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>

#include "base/error.h"

namespace lab32 {

namespace {

// The processes to signal, for every ChildProcess that has not been waited for; a negative number
// is a process group.
struct LiveChildren {
  std::mutex mutex;
  std::set<pid_t> targets;
};
LiveChildren& live_children() {
  static LiveChildren all;
  return all;
}

}  // namespace

void FileDescriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

PipeDescriptors::PipeDescriptors() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    throw MachineError(std::string("no pipe to a child process: ") + std::strerror(errno));
  read.reset(fds[0]);
  write.reset(fds[1]);
}

void ExecStatusPipe::send_errno_and_exit(int error) const {
  [[maybe_unused]] const ssize_t written = ::write(pipe_.write.get(), &error, sizeof error);
  _exit(127);
}

int ExecStatusPipe::exec_error() {
  pipe_.write.close();
  int error = 0;
  ssize_t got;
  while ((got = ::read(pipe_.read.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

ChildProcess::ChildProcess(const std::string& name, Group group, const std::function<void()>& run)
    : group_(group) {
  const pid_t parent = getpid();
  std::unique_lock lock(live_children().mutex);
  pid_ = fork();
  if (pid_ < 0) throw MachineError(name + " cannot be started: " + std::strerror(errno));
  if (pid_ > 0) {
    // Parent and child both set the group, so that it exists before either of them goes on.
    if (group == Group::own) setpgid(pid_, pid_);
    live_children().targets.insert(group == Group::own ? -pid_ : pid_);
    return;
  }
  lock.unlock();  // the child's copy
  if (group == Group::own) setpgid(0, 0);
  // The parent may die first (by Ctrl-C or a batch system, say), or may already be dead.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (getppid() == parent) run();
  _exit(127);
}

ChildProcess::~ChildProcess() {
  if (waited_) return;
  kill();
  wait_for_raw_status();
}

// Leaves the zombie (WNOWAIT). While the zombie exists, the kernel cannot give its number, which is
// also the group's, to another process, so kill() hits only our child.
bool ChildProcess::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

void ChildProcess::kill() const { ::kill(group_ == Group::own ? -pid_ : pid_, SIGKILL); }

void ChildProcess::kill_all_children() {
  // The mutex is never unlocked: a thread that waits for one of these children must not continue as
  // if the child had ended by itself.
  live_children().mutex.lock();
  for (const pid_t target : live_children().targets) ::kill(target, SIGKILL);
}

bool ChildProcess::forward_signal_to_live_children(int signal) {
  const std::lock_guard lock(live_children().mutex);
  for (const pid_t target : live_children().targets) ::kill(target, signal);
  return !live_children().targets.empty();
}

int ChildProcess::wait_for_raw_status() {
  int status = 0;
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  {
    // The child leaves the list before the kernel can give its number to another process.
    const std::lock_guard lock(live_children().mutex);
    live_children().targets.erase(group_ == Group::own ? -pid_ : pid_);
  }
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  waited_ = true;
  return status;
}

std::string signal_death_text(int signal) {
  return "killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

}  // namespace lab32
