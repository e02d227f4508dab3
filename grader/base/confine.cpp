#include "base/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace lab32 {
namespace {

// ---- Landlock: its own header may be older than the kernel, so the numbers are ours
// --------------

constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kAskVersion = 1;
constexpr uint32_t kPathBeneath = 1;

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadDir = 1 << 3;
constexpr uint64_t kMakeAndRemove =
    0x1ff0;  // bits 4 to 12: files, directories, links, devices, ...
constexpr uint64_t kRefer = 1 << 13, kTruncate = 1 << 14, kIoctl = 1 << 15;
constexpr uint64_t kTcp = 3;     // bind, connect
constexpr uint64_t kScoped = 3;  // abstract sockets, signals to processes outside

struct RulesetAttributes {
  uint64_t files, network, scoped;
};
struct PathRule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

// All that this version knows is closed unless a rule opens it.
RulesetAttributes handled_by(int version) {
  RulesetAttributes all{kExecute | kWriteFile | kReadFile | kReadDir | kMakeAndRemove, 0, 0};
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 4) all.network = kTcp;
  if (version >= 5) all.files |= kIoctl;
  if (version >= 6) all.scoped = kScoped;
  return all;
}

size_t size_for(int version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

void allow(int ruleset, const std::string& path, uint64_t rights, uint64_t handled) {
  const Descriptor at(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (at.get() < 0) return;
  struct stat s {};
  if (fstat(at.get(), &s) != 0) return;
  // A file takes no rights that are a directory's.
  if (!S_ISDIR(s.st_mode)) rights &= kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;
  const PathRule rule{rights & handled, at.get()};
  if (syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0)
    throw MachineError("Landlock takes no rule for " + path + ": " + std::strerror(errno));
}

// ---- seccomp
// -------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

constexpr sock_filter load(uint32_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter answer(uint32_t value) { return {BPF_RET | BPF_K, 0, 0, value}; }
// Skips the next instruction unless the value is this one.
constexpr sock_filter if_equal(uint32_t value) { return {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value}; }
constexpr sock_filter if_at_least(uint32_t value) {
  return {BPF_JMP | BPF_JGE | BPF_K, 0, 1, value};
}
constexpr sock_filter kRefused = answer(SECCOMP_RET_ERRNO | EPERM);

// No network, no other process's memory, no new namespaces, no interfaces that a filter does not
// see through. A compiler needs none of it.
constexpr sock_filter kFilter[] = {
    load(offsetof(seccomp_data, arch)),
    if_equal(kArchitecture),
    {BPF_JMP | BPF_JA, 0, 0, 1},
    answer(SECCOMP_RET_KILL_PROCESS),
    load(offsetof(seccomp_data, nr)),
#if defined(__x86_64__)
    if_at_least(0x40000000),  // the x32 numbers of the same calls
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

// A filter that the kernel takes: found out by a call that can only fail, and how it does.
bool has_filters() {
  return kArchitecture != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 &&
         errno == EFAULT;
}

}  // namespace

const Confinable& confinable() {
  static const Confinable found = [] {
    Confinable c;
    const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
    c.landlock = version > 0 ? static_cast<int>(version) : 0;
    c.seccomp = has_filters();
    return c;
  }();
  return found;
}

Confinement::Confinement(const Paths& paths) {
  const int version = confinable().landlock;
  if (version == 0) return;
  const RulesetAttributes handled = handled_by(version);
  ruleset_.reset(static_cast<int>(syscall(kCreateRuleset, &handled, size_for(version), 0)));
  if (ruleset_.get() < 0)
    throw MachineError(std::string("Landlock makes no rules: ") + std::strerror(errno));
  for (const std::string& path : paths.read)
    allow(ruleset_.get(), path, kExecute | kReadFile | kReadDir, handled.files);
  for (const std::string& path : paths.write)
    allow(ruleset_.get(), path, handled.files & ~kExecute, handled.files);
}

int Confinement::enter() const {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (ruleset_.get() >= 0 && syscall(kRestrictSelf, ruleset_.get(), 0) != 0) return errno;
  if (confinable().seccomp) {
    const sock_fprog program{sizeof kFilter / sizeof *kFilter, const_cast<sock_filter*>(kFilter)};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return errno;
  }
  return 0;
}

}  // namespace lab32
