#include "grading/engine/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace lab32::grading {
namespace {

// Shorter steps are not reported: on a terminal they would flicker, and elsewhere each report is a
// line that stays.
constexpr auto kTerminalPatience = std::chrono::milliseconds(150);
constexpr auto kLogPatience = std::chrono::seconds(5);

}  // namespace

ProgressReporter::ProgressReporter(bool enabled) : terminal_(isatty(STDERR_FILENO)) {
  if (enabled) watcher_ = std::thread([this] { print_long_steps_until_stopped(); });
}

ProgressReporter::~ProgressReporter() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  watcher_.join();
  erase_line();
}

void ProgressReporter::print_long_steps_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const uint64_t seen = generation_;
    const auto news = [&] { return stop_ || generation_ != seen; };
    if (terminal_ ? changed_.wait_for(lock, kTerminalPatience, news)
                  : changed_.wait_for(lock, kLogPatience, news))
      continue;
    if (!what_.empty()) {
      std::fprintf(stderr, terminal_ ? "\r\033[K%s ..." : "%s ...\n", what_.c_str());
      std::fflush(stderr);
      shown_ = true;
    }
    changed_.wait(lock, news);
  }
}

void ProgressReporter::erase_line() {
  if (shown_ && terminal_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  shown_ = false;
}

std::string ProgressReporter::exchange_step_text(const std::string& what) {
  if (!watcher_.joinable()) return "";
  const std::lock_guard lock(mutex_);
  std::string outer = std::move(what_);
  what_ = what;
  ++generation_;
  if (what_.empty()) erase_line();
  changed_.notify_one();
  return outer;
}

ProgressReporter::ScopedStep::ScopedStep(ProgressReporter& progress, const std::string& what)
    : progress_(progress), outer_(progress.exchange_step_text(what)) {}

ProgressReporter::ScopedStep::~ScopedStep() { progress_.exchange_step_text(outer_); }

}  // namespace lab32::grading
