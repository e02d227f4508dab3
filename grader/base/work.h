// A piece of this program that runs elsewhere: on another thread, or in a child process.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lab32 {

// Work that goes on meanwhile. Not std::async: for each kind of result that one is asked for, GCC
// writes a hundred functions.
class Background {
 public:
  // On a thread of its own, or on that of the first who waits.
  enum class When { now, when_waited_for };

  Background();  // nothing to wait for
  explicit Background(std::function<void()> work, When when = When::now);
  // What has been started is waited for; what it throws is lost.
  ~Background();
  Background(Background&&) noexcept;
  Background& operator=(Background&&) noexcept;

  bool valid() const { return state_ != nullptr; }
  // Until it is done. Only where valid(); may be called again.
  void wait();
  // As wait(); throws what the work has thrown, each time.
  void get();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A piece of this program in a child process: for work that may hang or take the process down with
// it (a GPU that a kernel has faulted on is lost to the whole process).
struct Forked {
  enum class End { done, died, timed_out } end = End::done;
  std::string how;                // of died: "killed by signal 11 (Segmentation fault)"
  std::vector<std::byte> answer;  // what `work` returned; of done only
};

// Runs `work` in a fork of this process and hands its answer back. An exception in it is `died`
// with the exception's words. The child is killed after `seconds`, and when this process dies.
//
// The fork has this thread alone: what another holds locked at that moment stays locked in the
// child (malloc's own locks excepted), so `work` must use nothing that other threads use.
Forked run_forked(const std::function<std::vector<std::byte>()>& work, double seconds);

// Memory that this process and the children that it forks from now on see alike: for what is too
// much for a pipe.
class SharedRegion {
 public:
  // `most` is address space; memory is taken where something is written.
  explicit SharedRegion(size_t most);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_;
};

// A variable of each thread. Those that C++ has (thread_local) are destroyed before the program's
// static destructors run, and before what it gave to atexit(): too early for what these may call.
//
// The calling thread's own T. That of the thread that main() runs on is never destroyed. `Tag`: one
// type for each variable.
template <class T, class Tag>
T& thread_variable() {
  thread_local T* mine = nullptr;
  struct End {
    T** variable;
    ~End() {
      if (gettid() != getpid()) delete std::exchange(*variable, nullptr);
    }
  };
  if (mine == nullptr) {
    thread_local const End end{&mine};
    mine = new T;
  }
  return *mine;
}

}  // namespace lab32
