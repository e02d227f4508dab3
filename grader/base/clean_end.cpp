#include "base/clean_end.h"

#include <unistd.h>

#include "base/child.h"
#include "base/scratch.h"

namespace lab32 {
namespace {

// What the destructor wakes the watcher with; nobody else sends it to this process.
constexpr int kWake = SIGURG;

}  // namespace

CleanEnd::CleanEnd(Interrupt interrupt) {
  sigemptyset(&watched_);
  for (const int signal : {SIGHUP, SIGTERM, kWake}) sigaddset(&watched_, signal);
  if (interrupt == Interrupt::too) sigaddset(&watched_, SIGINT);
  // Ignored by whoever started us (nohup): they stay so.
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN)
      sigdelset(&watched_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  watcher_ = std::thread([this] {
    int signal = 0;
    while (sigwait(&watched_, &signal) != 0) {
    }
    if (signal == kWake) return;
    // Children first: they would go on writing.
    Child::kill_all();
    Scratch::remove_all();
    std::signal(signal, SIG_DFL);
    sigset_t this_one;
    sigemptyset(&this_one);
    sigaddset(&this_one, signal);
    kill(getpid(), signal);
    pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
    _exit(128 + signal);
  });
}

CleanEnd::~CleanEnd() {
  pthread_kill(watcher_.native_handle(), kWake);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace lab32
