// A piece of this program in a child process: for work that may hang or take the process down with
// it (a GPU that a kernel has faulted on is lost to the whole process).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lab32 {

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

}  // namespace lab32
