// The host's own accesses to the memory of the simulated devices (call.h).

#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "base/text.h"
#include "runtime/cudart/call.h"
#include "runtime/cudart/errors.h"
#include "runtime/cudart/runtime.h"
#include "runtime/cudart/unfinished_writes.h"

namespace lab32::cudart {

namespace {

// The state of the thread that has raised a signal.
class SignalContext {
 public:
  explicit SignalContext(void* context) : context_(static_cast<ucontext_t*>(context)) {}

#if defined(__x86_64__)
  static constexpr bool kHasSteps = true;
  const void* interrupted_code() const {
    return reinterpret_cast<const void*>(context_->uc_mcontext.gregs[REG_RIP]);
  }
  const char* access_verb() const {
    return (context_->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "writes" : "reads";
  }
  // Sets whether the next instruction raises SIGTRAP.
  void set_single_step(bool on) {
    constexpr greg_t kTrap = 1 << 8;
    greg_t& flags = context_->uc_mcontext.gregs[REG_EFL];
    flags = on ? flags | kTrap : flags & ~kTrap;
  }
#else
  static constexpr bool kHasSteps = false;
  const void* interrupted_code() const {
    return reinterpret_cast<const void*>(context_->uc_mcontext.pc);
  }
  const char* access_verb() const { return "accesses"; }
  void set_single_step(bool) {}
#endif

 private:
  ucontext_t* context_;
};

// The pages that one instruction of the host may access, although unfinished work writes to other
// words of them.
struct PagesOpenForOneStep {
  std::array<uint64_t, 4> pages;
  size_t count = 0;
  struct sigaction before;
};
PagesOpenForOneStep& opened_pages() {
  static PagesOpenForOneStep step;
  return step;
}

void close_opened_pages(int, siginfo_t*, void* context) {
  SignalContext(context).set_single_step(false);
  PagesOpenForOneStep& step = opened_pages();
  for (size_t i = 0; i < step.count; ++i)
    runtime().unfinished.forbid_host_access_to_page(step.pages[i]);
  step.count = 0;
  sigaction(SIGTRAP, &step.before, nullptr);
}

// Opens the page to the interrupted instruction only. False: that is not possible.
bool single_step_access(SignalContext& at, uint64_t address) {
  PagesOpenForOneStep& step = opened_pages();
  if (!SignalContext::kHasSteps || step.count == step.pages.size()) return false;
  if (step.count == 0) {
    struct sigaction trap {};
    trap.sa_sigaction = close_opened_pages;
    trap.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &trap, &step.before);
  }
  runtime().unfinished.allow_host_access_to_page(address);
  step.pages[step.count++] = address;
  at.set_single_step(true);
  return true;
}

std::string offset_text(const sim::Allocation& a, uint64_t address) {
  return fmt::format("offset {} of `{}` ({} bytes)", grouped_digits(address - a.begin), a.name,
                     grouped_digits(a.end - a.begin));
}

void record_access_before_wait(const WritesSinceHostSync::UnfinishedWork& work,
                               const sim::Allocation& in, uint64_t address,
                               const SignalContext& at) {
  record::HostFinding finding;
  finding.kind = record::HostFinding::Kind::race;
  const SourcePlace begun = source_place(work.site);
  finding.text = fmt::format(
      "the host {} {}, which {}{} may still be writing: the program has not waited for it",
      at.access_verb(), offset_text(in, address), work.name,
      begun.line == 0 ? "" : fmt::format(" (begun on line {})", begun.line));
  record_finding(std::move(finding), HostCallSite::of_stack_frame_at(at.interrupted_code()));
}

void record_invalid_host_access(Runtime& r, const sim::Allocation& in, uint64_t address,
                                const SignalContext& at) {
  record::HostFinding finding;
  finding.text =
      fmt::format("the host {} {}, {}", at.access_verb(), offset_text(in, address),
                  in.freed ? "which the program has freed"
                           : "which is device memory: only kernels and copies can access it");
  const HostCallSite site = HostCallSite::of_stack_frame_at(at.interrupted_code());
  if (r.tool == Tool::check)
    record_finding(std::move(finding), site);
  else
    print_message(file_and_line_prefix(source_place(site)) + finding.text);
}

void handle_segmentation_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  SignalContext at(context);
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  Runtime& r = runtime();
  const sim::Allocation* const in = r.memory.find(address);
  if (in && r.unfinished.is_page_written_since_sync(address)) {
    const WritesSinceHostSync::UnfinishedWork* const work = r.unfinished.find_writer(address);
    if (!work && single_step_access(at, address)) return;
    if (work) record_access_before_wait(*work, *in, address, at);
    r.unfinished.clear();
    return;
  }
  if (in && info->si_code > 0) record_invalid_host_access(r, *in, address, at);
  // The instruction is executed again and then ends the program.
  ::signal(signal, SIG_DFL);
}

bool is_our_signal_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handle_segmentation_fault;
}

}  // namespace

bool watch_host_accesses() {
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  if (is_our_signal_handler(now)) return true;
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return false;
  // The first call of backtrace() loads a library, which a signal handler must not do.
  void* frame = nullptr;
  backtrace(&frame, 1);
  struct sigaction ours {};
  ours.sa_sigaction = handle_segmentation_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, nullptr);
  return true;
}

}  // namespace lab32::cudart
