// Runs a function on another thread (BackgroundWork) or in a child process (run_forked), shares
// memory with children (ForkSharedMemory), and keeps one object per thread (thread_variable).
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lab32 {

// A function that runs on another thread. std::async is not used, since GCC generates a hundred
// functions for each type of result.
class BackgroundWork {
 public:
  // `now`: on a new thread. `when_waited_for`: on the thread of the first caller of wait().
  enum class When { now, when_waited_for };

  BackgroundWork();  // nothing to wait for
  explicit BackgroundWork(std::function<void()> work, When when = When::now);
  // Waits for work that has been started; its exception is lost.
  ~BackgroundWork();
  BackgroundWork(BackgroundWork&&) noexcept;
  BackgroundWork& operator=(BackgroundWork&&) noexcept;

  bool valid() const { return state_ != nullptr; }
  // Returns when the work is done. Call it only if valid(); it may be called again.
  void wait();
  // Waits for the work. Throws the exception of the work, if it has thrown one, in every call.
  void wait_and_rethrow();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The result of work in a child process. Such work may hang or take its process down: a GPU on
// which a kernel has faulted is lost to the whole process.
struct ForkResult {
  enum class End { done, died, timed_out } end = End::done;
  std::string how;                // for `died`: "killed by signal 11 (Segmentation fault)"
  std::vector<std::byte> answer;  // what `work` returned; for `done` only
};

// Runs `work` in a fork of this process and returns its answer. An exception in it gives `died`
// with the exception's message. The child is killed after `seconds`, and when this process dies.
//
// The fork has only the calling thread. A mutex that another thread holds at that moment stays
// locked in the child (except malloc's own), so `work` must use nothing that other threads use.
ForkResult run_forked(const std::function<std::vector<std::byte>()>& work, double seconds);

// Memory that this process shares with the children that it forks from now on, for data that is too
// large for a pipe.
class ForkSharedMemory {
 public:
  // `most` bytes of address space are reserved; memory is used only for pages that are written.
  explicit ForkSharedMemory(size_t most);
  ~ForkSharedMemory();
  ForkSharedMemory(const ForkSharedMemory&) = delete;
  ForkSharedMemory& operator=(const ForkSharedMemory&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_;
};

// Returns the calling thread's own T, created at its first use. It replaces thread_local, whose
// objects are destroyed before static destructors and atexit() handlers run, which may still need
// them: here the T of the main thread is never destroyed. `Tag` is a type that names the variable.
template <class T, class Tag>
T& thread_variable() {
  thread_local T* mine = nullptr;
  struct PointeeDeleterAtThreadEnd {
    T** variable;
    ~PointeeDeleterAtThreadEnd() {
      if (gettid() != getpid()) delete std::exchange(*variable, nullptr);
    }
  };
  if (mine == nullptr) {
    thread_local const PointeeDeleterAtThreadEnd end{&mine};
    mine = new T;
  }
  return *mine;
}

// ---- time limits ----

// Measures how long limited work takes (WorkTimer), and how much slower than usual this machine is
// (slowness), so that time limits do not fail correct work on a slow or busy machine.

// A stopwatch for work that has a time limit.
class WorkTimer {
 public:
  // Wall time, or this process's CPU time if that is less: on a busy machine work takes longer
  // through no fault of its own.
  double min_of_wall_and_cpu_seconds() const {
    return std::min(wall_seconds(), process_cpu_seconds() - worked_before_);
  }
  // Wall time alone; never less than seconds(), and cheaper to read.
  double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  static double process_cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double worked_before_ = process_cpu_seconds();
};

// How much slower than usual this machine is: 1 to 16. Time limits are for work that does not end;
// on a slow or busy machine they must not fail correct work.
//
// The value is the longest time that a fixed piece of work has taken so far, divided by its time on
// the quiet machine on which the limits were chosen. It is 1 until measure_machine_slowness() has
// been called.
double slowness();

// Does that piece of work, some ten milliseconds, and returns slowness(). Called only when a limit
// is reached, so that fast work does not pay for it.
double measure_machine_slowness();

// Sets what measure_machine_slowness() returns while this object lives. Only tests use it.
class ScopedFakeMachineSlowness {
 public:
  explicit ScopedFakeMachineSlowness(double slowness);
  ~ScopedFakeMachineSlowness();
  ScopedFakeMachineSlowness(const ScopedFakeMachineSlowness&) = delete;
  ScopedFakeMachineSlowness& operator=(const ScopedFakeMachineSlowness&) = delete;

 private:
  double before_;
};

}  // namespace lab32
