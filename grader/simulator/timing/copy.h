// What a copy asks of the machine: a baseline that needs no launch.
#pragma once

#include <cstdint>

#include "simulator/timing/profile.h"
#include "simulator/timing/work.h"

namespace lab32::model {

// A copy that moves so many bytes, half of them in and half out, 16 a thread, with an empty L2.
Work copy_work(const Profile& profile, uint64_t bytes);

}  // namespace lab32::model
