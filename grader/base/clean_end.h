// An end by a signal that leaves nothing behind.
#pragma once

#include <csignal>
#include <thread>
#include <vector>

namespace lab32 {

// While it lives, SIGHUP and SIGTERM, and SIGINT if asked for, end the process only after its
// children are killed and its scratch directories removed. To be made before any other thread: it
// blocks the signals in all that begin later.
class CleanEnd {
 public:
  enum class Interrupt { too, not_watched };
  explicit CleanEnd(Interrupt interrupt);
  ~CleanEnd();
  CleanEnd(const CleanEnd&) = delete;
  CleanEnd& operator=(const CleanEnd&) = delete;

 private:
  sigset_t before_, watched_;
  std::thread watcher_;
};

}  // namespace lab32
