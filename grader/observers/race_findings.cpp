// From what was seen at pairs of instructions to findings at pairs of source lines.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "observers/race_check.h"

namespace lab32::observe {
namespace {

bool before(const Hazard& a, const Hazard& b) {
  return std::tie(a.block.index, a.sequence) < std::tie(b.block.index, b.sequence);
}

// Takes in what another instance, or another pair of sites of the same lines, saw.
void fold(Hazard& to, const Hazard& from) {
  const uint64_t count = to.count + from.count;
  if (to.count == 0 || before(from, to)) to = from;
  to.count = count;
}

}  // namespace

void RaceCheck::merge(const RaceCheck& other) {
  for (const auto& [key, seen] : other.seen_) {
    Seen& own = seen_[key];
    fold(own.hazard, seen.hazard);
    own.explained += seen.explained;
  }
}

std::vector<Finding> RaceCheck::findings(const std::vector<sim::SharedVariable>& variables,
                                         const PositionOf& position) const {
  // Unrolled copies of a line are one line to the student, and so are the two directions of a race.
  using Line = std::pair<std::string, int>;
  using Lines = std::tuple<Line, Line, Finding::Kind, bool>;
  std::map<Lines, Hazard> by_line;
  const auto line_of = [&](uint32_t site) -> Line {
    const auto at = position(site);
    return at ? Line{at->file, at->line} : Line{"", 0};
  };
  for (const auto& [key, hazard_and_explained] : seen_) {
    Hazard seen = hazard_and_explained.hazard;
    Line later = line_of(key.later), earlier = later;
    if (key.kind == Finding::Kind::race) earlier = line_of(key.earlier);
    if (key.kind == Finding::Kind::uninitialised) {
      seen.count -= std::min(seen.count, hazard_and_explained.explained);
      if (seen.count == 0) continue;
    }
    if (later < earlier) std::swap(later, earlier);
    fold(by_line[{earlier, later, key.kind, key.note}], seen);
  }

  std::vector<Finding> findings;
  for (const auto& [lines, hazard] : by_line) {
    const auto& [a, b, kind, note] = lines;
    if (note && by_line.count({a, b, kind, false}) != 0) continue;
    // A shuffle that had to go on without the lanes it waited for misses them, too.
    if (kind == Finding::Kind::warp_mask && by_line.count({a, b, Finding::Kind::barrier, false}))
      continue;
    const Line later = line_of(hazard.later.site);
    const Line earlier = kind == Finding::Kind::race ? line_of(hazard.earlier.site) : Line{"", 0};
    findings.push_back({kind, note, later.first, later.second, earlier.second, hazard.count,
                        describe(hazard, variables, position)});
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.line, a.other_line, a.kind, a.note, a.message) <
           std::tie(b.file, b.line, b.other_line, b.kind, b.note, b.message);
  });
  return findings;
}

}  // namespace lab32::observe
