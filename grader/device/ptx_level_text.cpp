#include "device/ptx_level_text.h"

#include <algorithm>

#include "simulator/core/warp/unmatched_text.h"

namespace lab32::device {

std::vector<std::string> describe(const std::vector<PtxLevelAccess>& accesses) {
  std::vector<std::string> lines;
  for (const PtxLevelAccess& a : accesses) {
    const std::string name = access_name(a.why);
    std::string line = sim::line_name(a.line, a.ptx_line) + ": " +
                       (name.empty() ? a.instruction : name) + ": " + describe(a.why);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

}  // namespace lab32::device
