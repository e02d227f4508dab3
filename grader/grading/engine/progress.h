// What a long step is doing, on stderr: erased afterwards on a terminal, a plain line elsewhere.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lab32::grading {

class Progress {
 public:
  // Silent when not `enabled`, as in tests.
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A step lasts as long as its Step; an inner one takes the outer's place.
  class Step {
   public:
    Step(Progress& progress, const std::string& what);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Progress& progress_;
    std::string outer_;
  };

 private:
  std::string begin(const std::string& what);  // returns what was shown before
  void watch();
  void erase();

  bool terminal_ = false, stop_ = false, shown_ = false;
  std::string what_;
  uint64_t generation_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread watcher_;
};

}  // namespace lab32::grading
