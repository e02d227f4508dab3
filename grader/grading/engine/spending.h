// What the kernels of a submission may take: a launch, all of a check and all of its lab.
// Instructions are counted, so that a verdict does not depend on the machine; seconds are the last
// resort, for instructions of which each takes long, and a slow machine has more of them
// (base/work_time.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/work_time.h"
#include "device/device.h"

namespace lab32::grading {

class Spending {
 public:
  // Sanitizers make a launch that much slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr double kSlower = 40;
#else
  static constexpr double kSlower = 1;
#endif

  // A launch's own limits, or the rest of the check's, or of the lab's.
  void limit(const std::string& check, device::LaunchOptions& options) const;
  bool used_up(const std::string& check) const;
  // What a launch of this check took.
  void add(const std::string& check, uint64_t instructions, double seconds);
  // Why the check cannot launch any more, once all is used up.
  std::string why(const std::string& check) const;

 private:
  struct Spent {
    uint64_t instructions = 0;
    double seconds = 0;
  };
  Spent of(const std::string& check) const;
  // What there is left for it.
  Spent left(const std::string& check) const;

  Spent all_;
  std::map<std::string, Spent> by_check_;
};

}  // namespace lab32::grading
