// Reports long steps on stderr. A terminal shows the current step and erases it afterwards; other
// outputs get a plain line per step.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lab32::grading {

class Progress {
 public:
  // Prints nothing unless `enabled`; tests do not enable it.
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A step lasts as long as its object. An inner step replaces the outer one on the terminal.
  class ScopedStep {
   public:
    ScopedStep(Progress& progress, const std::string& what);
    ~ScopedStep();
    ScopedStep(const ScopedStep&) = delete;
    ScopedStep& operator=(const ScopedStep&) = delete;

   private:
    Progress& progress_;
    std::string outer_;
  };

 private:
  std::string begin_step(const std::string& what);  // returns the text that was shown before
  void show_steps_until_stopped();
  void erase_line();

  bool terminal_ = false, stop_ = false, shown_ = false;
  std::string what_;
  uint64_t generation_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread watcher_;
};

}  // namespace lab32::grading
