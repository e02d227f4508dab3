// A variable of each thread. Those that C++ has (thread_local) are destroyed before the program's
// static destructors run, and before what it gave to atexit(): too early for what these may call.
#pragma once

#include <unistd.h>

#include <utility>

namespace lab32 {

// The calling thread's own T. That of the thread that main() runs on is never destroyed. `Tag`: one
// type for each variable.
template <class T, class Tag>
T& kept_of_thread() {
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
