// Reports long steps on stderr. A terminal shows the current step and erases it afterwards; other
// outputs get a plain line per step.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lab32::grading {

class ProgressReporter {
 public:
  // Prints nothing unless `enabled`; tests do not enable it.
  explicit ProgressReporter(bool enabled);
  ~ProgressReporter();
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  // A step lasts as long as its object. An inner step replaces the outer one on the terminal.
  class ScopedStep {
   public:
    ScopedStep(ProgressReporter& progress, const std::string& what);
    ~ScopedStep();
    ScopedStep(const ScopedStep&) = delete;
    ScopedStep& operator=(const ScopedStep&) = delete;

   private:
    ProgressReporter& progress_;
    std::string outer_;
  };

 private:
  std::string exchange_step_text(
      const std::string& what);  // returns the text that was shown before
  void print_long_steps_until_stopped();
  void erase_line();

  bool terminal_ = false, stop_ = false, shown_ = false;
  std::string what_;
  uint64_t generation_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread watcher_;
};

}  // namespace lab32::grading
