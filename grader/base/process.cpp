#include "base/process.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/child.h"
#include "base/error.h"

namespace lab32 {

// ---- what a child process may reach ----------------------------------------------------------

namespace {

// ---- Landlock: its constants are repeated, since the system's header may be too old ----------

constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kAskVersion = 1;
constexpr uint32_t kPathBeneath = 1;

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadDir = 1 << 3;
constexpr uint64_t kMakeAndRemove = 0x1ff0;  // Landlock's bits 4 to 12: making and removing files,
                                             // directories, links, devices and so on
constexpr uint64_t kRefer = 1 << 13, kTruncate = 1 << 14, kIoctl = 1 << 15;
constexpr uint64_t kTcp = 3;     // bind, connect
constexpr uint64_t kScoped = 3;  // connecting to abstract sockets, and signalling processes outside

struct LandlockRulesetAttributes {
  uint64_t files, network, scoped;
};
struct LandlockPathRule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

// Everything that this version can restrict is forbidden unless a rule allows it.
LandlockRulesetAttributes landlock_rights_of_version(int version) {
  LandlockRulesetAttributes all{kExecute | kWriteFile | kReadFile | kReadDir | kMakeAndRemove, 0,
                                0};
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 4) all.network = kTcp;
  if (version >= 5) all.files |= kIoctl;
  if (version >= 6) all.scoped = kScoped;
  return all;
}

size_t size_for(int version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

void allow_path(int ruleset, const std::string& path, uint64_t rights, uint64_t handled) {
  const FileDescriptor at(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (at.get() < 0) return;
  struct stat s {};
  if (fstat(at.get(), &s) != 0) return;
  // The rights of directories do not apply to a file.
  if (!S_ISDIR(s.st_mode)) rights &= kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;
  const LandlockPathRule rule{rights & handled, at.get()};
  if (syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0)
    throw MachineError("Landlock takes no rule for " + path + ": " + std::strerror(errno));
}

// ---- seccomp ---------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

constexpr sock_filter load(uint32_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter answer(uint32_t value) { return {BPF_RET | BPF_K, 0, 0, value}; }
// Skips the next instruction of the filter unless the loaded value equals this one.
constexpr sock_filter if_equal(uint32_t value) { return {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value}; }
constexpr sock_filter continue_if_at_least(uint32_t value) {
  return {BPF_JMP | BPF_JGE | BPF_K, 0, 1, value};
}
constexpr sock_filter kRefused = answer(SECCOMP_RET_ERRNO | EPERM);

// Forbids the network, the memory of other processes, new namespaces, and interfaces that bypass
// the filter. A compiler needs none of them.
constexpr sock_filter kFilter[] = {
    load(offsetof(seccomp_data, arch)),
    if_equal(kArchitecture),
    {BPF_JMP | BPF_JA, 0, 0, 1},
    answer(SECCOMP_RET_KILL_PROCESS),
    load(offsetof(seccomp_data, nr)),
#if defined(__x86_64__)
    continue_if_at_least(0x40000000),  // the same system calls have further numbers in the x32 ABI
    kRefused,
#endif
#define REFUSE(call) if_equal(SYS_##call), kRefused
    REFUSE(socket),
    REFUSE(socketpair),
    REFUSE(ptrace),
    REFUSE(process_vm_readv),
    REFUSE(process_vm_writev),
    REFUSE(unshare),
    REFUSE(setns),
    REFUSE(mount),
    REFUSE(bpf),
    REFUSE(perf_event_open),
    REFUSE(keyctl),
    REFUSE(add_key),
    REFUSE(request_key),
    REFUSE(userfaultfd),
    if_equal(425),  // io_uring_setup
    kRefused,
#undef REFUSE
    answer(SECCOMP_RET_ALLOW),
};

// Whether the kernel accepts filters: a call that is certain to fail returns a different error if
// it does not.
bool kernel_has_seccomp_filters() {
  return kArchitecture != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 &&
         errno == EFAULT;
}

}  // namespace

const ConfinementSupport& confinement_support() {
  static const ConfinementSupport found = [] {
    ConfinementSupport c;
    const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
    c.landlock = version > 0 ? static_cast<int>(version) : 0;
    c.seccomp = kernel_has_seccomp_filters();
    return c;
  }();
  return found;
}

Confinement::Confinement(const AllowedPaths& paths) {
  const int version = confinement_support().landlock;
  if (version == 0) return;
  const LandlockRulesetAttributes handled = landlock_rights_of_version(version);
  ruleset_.reset(static_cast<int>(syscall(kCreateRuleset, &handled, size_for(version), 0)));
  if (ruleset_.get() < 0)
    throw MachineError(std::string("Landlock makes no rules: ") + std::strerror(errno));
  for (const std::string& path : paths.read)
    allow_path(ruleset_.get(), path, kExecute | kReadFile | kReadDir, handled.files);
  for (const std::string& path : paths.write)
    allow_path(ruleset_.get(), path, handled.files & ~kExecute, handled.files);
}

int Confinement::enter() const {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (ruleset_.get() >= 0 && syscall(kRestrictSelf, ruleset_.get(), 0) != 0) return errno;
  if (confinement_support().seccomp) {
    const sock_fprog program{sizeof kFilter / sizeof *kFilter, const_cast<sock_filter*>(kFilter)};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return errno;
  }
  return 0;
}

// ---- running a program -----------------------------------------------------------------------

namespace {

using Clock = std::chrono::steady_clock;

// ---- in the child, between fork and exec: only calls that are safe there, so no allocation ----

bool set_process_limit(int resource, uint64_t value) {
  if (value == 0) return true;
  rlimit now;
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return false;
  rlim_t wanted = std::min<rlim_t>(value, now.rlim_max);  // a stricter limit from outside stays
  rlimit set{wanted, wanted};
  return setrlimit(static_cast<__rlimit_resource>(resource), &set) == 0;
}

// Our own descriptors are close-on-exec. Those that this process has inherited (a batch system's
// log, say) are marked here.
void keep_descriptors_from_child() {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0) return;
#endif
  for (int fd = 3; fd < 1024; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct ChildSetup {
  char* const* argv;
  char* const* environment;
  const char* directory;
  const ProcessLimits* limits;
  const Confinement* confinement;
  int in, out, err;
  ExecStatusPipe* report;
};

[[noreturn]] void exec(const ChildSetup& p) {
  // exec() removes signal handlers, but ignored and blocked signals would be inherited.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGXFSZ})
    sigaction(s, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(p.in, 0) < 0 || dup2(p.out, 1) < 0 || dup2(p.err, 2) < 0)
    p.report->send_errno_and_exit(errno);
  keep_descriptors_from_child();
  const ProcessLimits& l = *p.limits;
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!set_process_limit(RLIMIT_CPU, l.cpu_seconds) ||
      !set_process_limit(RLIMIT_AS, l.memory_bytes) ||
      !set_process_limit(RLIMIT_FSIZE, l.file_bytes))
    p.report->send_errno_and_exit(errno);
  if (p.directory[0] && chdir(p.directory) != 0) p.report->send_errno_and_exit(errno);
  if (const int error = p.confinement ? p.confinement->enter() : 0)
    p.report->send_errno_and_exit(error);
  execve(p.argv[0], p.argv, p.environment);
  p.report->send_errno_and_exit(errno);
}

void kill_group(int) { kill(0, SIGKILL); }

// A keeper process stands between this process and the program; it waits for the program and
// watches this process. If this process dies (SIGKILL, say), the kernel signals only its child, the
// keeper, which then kills the whole group.
[[noreturn]] void keep(const ChildSetup& p) {
  struct sigaction whole_group {};
  whole_group.sa_handler = kill_group;
  sigaction(SIGTERM, &whole_group, nullptr);
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  const pid_t keeper = getpid(), program = fork();
  if (program < 0) p.report->send_errno_and_exit(errno);
  if (program == 0) {
    // The program must end, too, if only the keeper is killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(127);
    exec(p);
  }
  // The keeper would otherwise hold our streams and locks for a moment after this process has
  // ended.
#ifdef SYS_close_range
  syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
  p.report->leave();
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  // Ends with the status or the signal of the program.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(WTERMSIG(status), &standard, nullptr);
  kill(getpid(), WTERMSIG(status));
  _exit(127);
}

std::vector<char*> argv_pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const auto& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

// ---- in the parent --------------------------------------------------------------------------

// Reads one stream of the child. Returns false once the stream has exceeded its limit.
bool read_chunk_and_check_limit(FileDescriptor& fd, std::string& text, uint64_t limit) {
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

ProcessOutcome run_process(const ProcessCommand& command) {
  if (command.argv.empty()) throw Error("no program to run");
  PipeDescriptors out, err;
  ExecStatusPipe report;
  FileDescriptor in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) throw MachineError("/dev/null cannot be opened");
  auto argv = argv_pointers(command.argv), environment = argv_pointers(command.environment);
  const ChildSetup prepared{argv.data(),     environment.data(),  command.directory.c_str(),
                            &command.limits, command.confinement, in.get(),
                            out.write.get(), err.write.get(),     &report};

  auto start = Clock::now();
  ChildProcess child(command.argv[0], ChildProcess::Group::own, [&] { keep(prepared); });
  out.write.close();
  err.write.close();
  if (const int failure = report.exec_error())
    throw MachineError(command.argv[0] + " cannot be started: " + std::strerror(failure));

  ProcessOutcome outcome;
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const ProcessLimits& limits = command.limits;
  bool killed = false;
  while (true) {
    // The loop ends when the child ends, not at the end of its streams, since a grandchild may hold
    // them open for ever. After that, only what the pipes still contain is read.
    const bool ended = child.has_ended();
    if (ended) child.kill();
    bool streams = out.read.get() >= 0 || err.read.get() >= 0;
    pollfd fds[2] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    int ready = poll(fds, 2, ended ? 0 : streams ? 10 : 1);
    bool within = true;
    if (ready > 0) {
      if (fds[0].revents)
        within &= read_chunk_and_check_limit(out.read, outcome.out, limits.output_bytes);
      if (fds[1].revents)
        within &= read_chunk_and_check_limit(err.read, outcome.err, limits.output_bytes);
    }
    if (!within) {
      outcome.end = ProcessOutcome::End::output_exceeded;
      killed = true;
    } else if (limits.wall_seconds > 0 && elapsed() > limits.wall_seconds) {
      outcome.end = ProcessOutcome::End::timed_out;
      killed = true;
    }
    if (killed || (ended && ready <= 0)) break;
  }
  child.kill();
  const int status = child.wait_for_raw_status();
  outcome.seconds = elapsed();
  if (killed) return outcome;
  if (WIFSIGNALED(status)) {
    outcome.end = ProcessOutcome::End::signalled;
    outcome.status = WTERMSIG(status);
  } else {
    outcome.status = WEXITSTATUS(status);
  }
  return outcome;
}

std::string describe(const ProcessOutcome& outcome) {
  switch (outcome.end) {
    case ProcessOutcome::End::timed_out:
      return "stopped at its time limit";
    case ProcessOutcome::End::output_exceeded:
      return "stopped at its output limit";
    case ProcessOutcome::End::signalled:
      return signal_death_text(outcome.status);
    case ProcessOutcome::End::exited:
      break;
  }
  return "exit status " + std::to_string(outcome.status);
}

}  // namespace lab32
