// The timer of a real GPU. This process never touches the card: each timing is a child of its
// own, since a kernel's fault loses the GPU to the process it happens in, and a kernel without end
// can only be killed with it.
#pragma once

#include <memory>
#include <string>

#include "gpu/timer.h"

namespace lab32::device {

struct TimerSearch {
  std::unique_ptr<Timer> timer;  // null: there is none
  std::string reason;
};

// The first GPU. Asking takes as long as the driver takes to wake up, a second or so.
TimerSearch find_gpu_timer();

}  // namespace lab32::device
