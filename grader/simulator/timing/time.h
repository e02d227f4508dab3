// How long a launch would take, predicted from what the simulator counted and a device profile: the
// slowest of the machine's resources, each computed on its own (README.md derives them).
#pragma once

#include <string>
#include <vector>

#include "simulator/timing/occupancy.h"
#include "simulator/timing/profile.h"
#include "simulator/timing/work.h"

namespace lab32::model {

struct Resource {
  std::string name;    // "DRAM", "L2", "L1", "shared memory", "issue", "latency", ...
  double seconds = 0;  // what the launch would take if this were all that bounded it
  double share = 0;    // of the predicted time: the length of its bar, 0..1
  std::string words;   // "DRAM: 134.2 MB at 4.2 TB/s"
};

// Always *modelled*.
struct Prediction {
  // As events around the launch see it; of many in a row, from one to the next.
  double seconds = 0;
  double kernel_seconds = 0;        // the kernel alone: Nsight Compute's gpu__time_duration.sum
  double error = 0;                 // relative: mean absolute error for kernels of this length
  std::vector<Resource> resources;  // longest first
  std::string bottleneck;           // resources[0].words as a sentence: "bound by ..."
  std::string runner_up;
};

// What L2 and device memory take for what a launch moves.
double memory_seconds(const Profile& profile, const Work& work);
// What the busiest slice of L2 takes for its atomics.
double atomic_seconds(const Profile& profile, const Work& work);
// 1: device memory is written as much as read; 0: one of them alone.
double both_ways(const Work& work);

Prediction predict(const Profile& profile, const Work& work);

}  // namespace lab32::model
