#include "labs/occupancy/shaped.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "grading/engine/compiled.h"
#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/launch.h"

namespace lab32::checks::occupancy {

std::string Residency::words() const {
  return fmt::format(
      "{} block{} of {} warp{} fit{} a multiprocessor; the grid gives it {} warps at a time, and "
      "takes {:.2f} waves.",
      fit, fit == 1 ? "" : "s", warps_per_block, warps_per_block == 1 ? "" : "s",
      fit == 1 ? "s" : "", warps, waves);
}

int line_of_shape(const std::string& kernel) {
  return session().source.find_text("LAB32_LAUNCH(" + kernel);
}

Residency residency(const std::string& kernel, const device::Shape& shape) {
  Session& s = session();
  device::Kernel* const given_kernel = s.module.find(given(kernel));
  uint64_t all = 0;
  try {
    all = s.device.resident_blocks(*given_kernel, shape);
  } catch (const Error& none_fits) {
    measured("does not fit");
    lose({Failure::Kind::invalid, "", "LAB32_LAUNCH(" + kernel + ")"}, line_of_shape(kernel),
         fmt::format("This shape cannot be launched: {}.", none_fits.what()));
  }
  Residency r;
  const uint32_t multiprocessors = s.device.multiprocessors();
  r.fit = static_cast<uint32_t>(all / multiprocessors);
  r.blocks = std::min(r.fit, ceil_div(shape.grid.count(), multiprocessors));
  r.warps_per_block = ceil_div(shape.block.count(), kWarp);
  r.warps = r.blocks * r.warps_per_block;
  r.waves = static_cast<double>(shape.grid.count()) / static_cast<double>(all);
  return r;
}

double balance(uint64_t n, const device::Shape& shape) {
  const uint64_t block = shape.block.count(), threads = block * shape.grid.count();
  const uint32_t multiprocessors = session().device.multiprocessors();
  // Rounds of warps of a block: those of its first lane, which has the most.
  std::vector<uint64_t> busy(multiprocessors);
  for (uint64_t b = 0; b < shape.grid.count(); ++b)
    for (uint64_t lane = 0; lane < block; lane += kWarp) {
      const uint64_t first = b * block + lane;
      if (first < n) busy[b % multiprocessors] += (n - first + threads - 1) / threads;
    }
  const double most = static_cast<double>(*std::max_element(busy.begin(), busy.end()));
  return most > 0 ? static_cast<double>(n) / kWarp / multiprocessors / most : 1;
}

}  // namespace lab32::checks::occupancy
