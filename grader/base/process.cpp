#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/child.h"
#include "base/error.h"

namespace lab32 {
namespace {

using Clock = std::chrono::steady_clock;

// ---- in the child, between fork and exec: only calls that are safe there, so no allocation ----

bool limit(int resource, uint64_t value) {
  if (value == 0) return true;
  rlimit now;
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return false;
  rlim_t wanted = std::min<rlim_t>(value, now.rlim_max);  // a stricter limit from outside stays
  rlimit set{wanted, wanted};
  return setrlimit(static_cast<__rlimit_resource>(resource), &set) == 0;
}

// Ours are all close-on-exec; what this process inherited (a batch system's log, say) is not.
void keep_descriptors_from_child() {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0) return;
#endif
  for (int fd = 3; fd < 1024; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct Prepared {
  char* const* argv;
  char* const* environment;
  const char* directory;
  const ProcessLimits* limits;
  const Confinement* confinement;
  int in, out, err;
  ExecReport* report;
};

[[noreturn]] void exec(const Prepared& p) {
  // Handlers are gone after exec, but ignored and blocked signals would be inherited.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGXFSZ})
    sigaction(s, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(p.in, 0) < 0 || dup2(p.out, 1) < 0 || dup2(p.err, 2) < 0) p.report->fail(errno);
  keep_descriptors_from_child();
  const ProcessLimits& l = *p.limits;
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!limit(RLIMIT_CPU, l.cpu_seconds) || !limit(RLIMIT_AS, l.memory_bytes) ||
      !limit(RLIMIT_FSIZE, l.file_bytes))
    p.report->fail(errno);
  if (p.directory[0] && chdir(p.directory) != 0) p.report->fail(errno);
  if (const int error = p.confinement ? p.confinement->enter() : 0) p.report->fail(error);
  execve(p.argv[0], p.argv, p.environment);
  p.report->fail(errno);
}

void kill_group(int) { kill(0, SIGKILL); }

// Between this process and the program stands another, which waits for the one and watches over the
// other: where this process dies (SIGKILL, say), the kernel tells its child only, and the child
// kills all of its group.
[[noreturn]] void keep(const Prepared& p) {
  struct sigaction whole_group {};
  whole_group.sa_handler = kill_group;
  sigaction(SIGTERM, &whole_group, nullptr);
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  const pid_t keeper = getpid(), program = fork();
  if (program < 0) p.report->fail(errno);
  if (program == 0) {
    // Should the keeper alone be killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(127);
    exec(p);
  }
  // Else it would hold our streams and locks for a moment after this process.
#ifdef SYS_close_range
  syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
  p.report->leave();
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  // Ends as the program did.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(WTERMSIG(status), &standard, nullptr);
  kill(getpid(), WTERMSIG(status));
  _exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const auto& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

// ---- in the parent --------------------------------------------------------------------------

// One stream of the child. False once it has gone over its limit.
bool drain(Descriptor& fd, std::string& text, uint64_t limit) {
  char buffer[65536];
  ssize_t n = read(fd.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) {
    fd.close();
    return true;
  }
  size_t room = limit ? limit - text.size() : static_cast<size_t>(n);
  text.append(buffer, std::min(room, static_cast<size_t>(n)));
  return static_cast<size_t>(n) <= room;
}

}  // namespace

Outcome run_process(const Command& command) {
  if (command.argv.empty()) throw Error("no program to run");
  Pipe out, err;
  ExecReport report;
  Descriptor in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) throw MachineError("/dev/null cannot be opened");
  auto argv = pointers(command.argv), environment = pointers(command.environment);
  const Prepared prepared{argv.data(),     environment.data(),  command.directory.c_str(),
                          &command.limits, command.confinement, in.get(),
                          out.write.get(), err.write.get(),     &report};

  auto start = Clock::now();
  Child child(command.argv[0], Child::Group::own, [&] { keep(prepared); });
  out.write.close();
  err.write.close();
  if (const int failure = report.failure())
    throw MachineError(command.argv[0] + " cannot be started: " + std::strerror(failure));

  Outcome outcome;
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const ProcessLimits& limits = command.limits;
  bool killed = false;
  while (true) {
    // The child's end is what ends the loop, not the end of its streams: a grandchild may hold
    // them open for ever. When it has ended, what the pipes still hold is read and that is all.
    const bool ended = child.has_ended();
    if (ended) child.kill();
    bool streams = out.read.get() >= 0 || err.read.get() >= 0;
    pollfd fds[2] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    int ready = poll(fds, 2, ended ? 0 : streams ? 10 : 1);
    bool within = true;
    if (ready > 0) {
      if (fds[0].revents) within &= drain(out.read, outcome.out, limits.output_bytes);
      if (fds[1].revents) within &= drain(err.read, outcome.err, limits.output_bytes);
    }
    if (!within) {
      outcome.end = Outcome::End::output_exceeded;
      killed = true;
    } else if (limits.wall_seconds > 0 && elapsed() > limits.wall_seconds) {
      outcome.end = Outcome::End::timed_out;
      killed = true;
    }
    if (killed || (ended && ready <= 0)) break;
  }
  child.kill();
  const int status = child.wait();
  outcome.seconds = elapsed();
  if (killed) return outcome;
  if (WIFSIGNALED(status)) {
    outcome.end = Outcome::End::signalled;
    outcome.status = WTERMSIG(status);
  } else {
    outcome.status = WEXITSTATUS(status);
  }
  return outcome;
}

std::string describe(const Outcome& outcome) {
  switch (outcome.end) {
    case Outcome::End::timed_out:
      return "stopped at its time limit";
    case Outcome::End::output_exceeded:
      return "stopped at its output limit";
    case Outcome::End::signalled:
      return killed_by(outcome.status);
    case Outcome::End::exited:
      break;
  }
  return "exit status " + std::to_string(outcome.status);
}

}  // namespace lab32
