#include "device/run_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/core/warp/access_plan.h"

namespace lab32::device {
namespace {

std::string text_of(const Dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); }

std::string describe(const LaunchRefusal& r) {
  using Limit = LaunchRefusal::Limit;
  const Dim3 &grid = r.shape.grid, &block = r.shape.block;
  switch (r.limit) {
    case Limit::empty:
      return fmt::format("a launch of {} blocks of {} threads is empty", text_of(grid),
                         text_of(block));
    case Limit::threads:
      return fmt::format("{} threads per block, but `{}` may have at most {}", r.value, r.kernel,
                         r.most);
    case Limit::grid:
      return fmt::format("a grid of {} blocks; at most {} are possible", text_of(grid),
                         text_of(r.most_shape));
    case Limit::block:
      return fmt::format("a block of {} threads; at most {} are possible", text_of(block),
                         text_of(r.most_shape));
    case Limit::shared_bytes:
      return fmt::format("{} bytes of shared memory per block; at most {} are possible", r.value,
                         r.most);
    case Limit::required_block:
      return fmt::format("`{}` needs blocks of {} threads", r.kernel, text_of(r.most_shape));
    case Limit::resources:
      return fmt::format(
          "not one block of `{}` fits a multiprocessor: {} threads, {} registers per thread",
          r.kernel, block.count(), r.value);
    case Limit::cluster:
      return fmt::format(
          "a grid of {} blocks in clusters of {}: the grid must be a multiple of the cluster",
          text_of(grid), text_of(r.most_shape));
    case Limit::resident_blocks:
      return fmt::format("a cooperative launch of {} blocks of `{}`; {} fit the device at once",
                         r.value, r.kernel, r.most);
  }
  return "";
}

}  // namespace

std::string describe(const KernelFault& fault) {
  if (fault.trap)
    return sim::describe(*fault.trap) +
           (fault.call_line > 0 ? fmt::format(" (called on line {})", fault.call_line) : "");
  if (fault.refusal) return describe(*fault.refusal);
  if (fault.driver)
    return fmt::format("{}: {} ({})", fault.driver->kernel, fault.driver->name, fault.driver->text);
  switch (fault.kind) {
    case sim::TrapKind::input:
      return "a timed launch changed an array that it may only read";
    case sim::TrapKind::output:
      return "its results differ between launches with the same input";
    case sim::TrapKind::time_limit:
      return fmt::format("the timed launches did not end within {:.0f} s and were stopped",
                         fault.seconds);
    default:
      return "";
  }
}

std::vector<std::string> describe(const std::vector<AccessCountedAsPtx>& accesses) {
  std::vector<std::string> lines;
  for (const AccessCountedAsPtx& a : accesses) {
    const std::string name = access_name(a.why);
    std::string line = sim::source_or_ptx_line(a.line, a.ptx_line) + ": " +
                       (name.empty() ? a.instruction : name) + ": " + describe(a.why);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

}  // namespace lab32::device
