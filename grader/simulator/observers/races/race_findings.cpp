// Records the hazards at pairs of instructions, and combines them to findings at pairs of source
// lines.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "simulator/observers/lanes.h"
#include "simulator/observers/races/race_check.h"

namespace lab32::counters {
namespace {

bool is_better_example(const Hazard& a, const Hazard& b) {
  return std::make_tuple(a.is_in_one_warp(), a.block.index, a.sequence) <
         std::make_tuple(b.is_in_one_warp(), b.block.index, b.sequence);
}

// Adds a hazard of another instance, or of another pair of sites on the same lines.
void merge_hazard(Hazard& to, const Hazard& from) {
  const uint64_t count = to.count + from.count;
  const sim::ValueUse use = to.used_as != sim::ValueUse::none ? to.used_as : from.used_as;
  if (to.count == 0 || is_better_example(from, to)) to = from;
  to.count = count;
  to.used_as = use;
}

Finding::Index3 thread_index_3d(uint32_t thread, const sim::BlockInfo& block) {
  if (block.dim_x == 0) return {thread, 0, 0};
  return {thread % block.dim_x, thread / block.dim_x % block.dim_y,
          thread / block.dim_x / block.dim_y};
}

Finding::Party party_of(const Hazard::Party& p, const sim::BlockInfo& block) {
  return {thread_index_3d(p.thread, block), p.thread / 32, p.use, p.bytes};
}

}  // namespace

RaceCheck::HazardEntry& RaceCheck::find_or_add_entry(const RaceKey& key) {
  RecentEntry& recent = recent_[(key.earlier * 5 + key.later) % recent_.size()];
  if (recent.entry == nullptr || !(recent.key == key)) recent = {key, &entries_[key]};
  HazardEntry& entry = *recent.entry;
  if (entry.in_block == 0) in_block_.push_back(&entry);
  return entry;
}

// Returns the hazard if the caller must describe it: on the first occurrence, or on the first one
// between two warps. Otherwise null.
Hazard* RaceCheck::hazard_to_describe(HazardEntry& entry, const RaceKey& key, bool between_warps) {
  Hazard& hazard = entry.hazard;
  if (hazard.count + entry.in_block != 0 && !(between_warps && hazard.is_in_one_warp()))
    return nullptr;
  hazard.kind = key.kind;
  hazard.note = key.note;
  hazard.block = block_;
  hazard.cluster.clear();
  hazard.sequence = sequence_;
  hazard.earlier.site = key.earlier;
  hazard.later.site = key.later;
  return &hazard;
}

void RaceCheck::report_race(const CurrentAccess& v, uint32_t lane, uint64_t cell,
                            const WarpCellAccessRecord& record, uint32_t lanes, bool same_value,
                            Hazard::Cause cause) {
  const bool stores = record.use == Use::write && v.record.use == Use::write;
  compared_values_ |= stores;
  const RaceKey key{Finding::Kind::race, stores && same_value, record.site, v.record.site};
  HazardEntry& entry = find_or_add_entry(key);
  if (Hazard* first = hazard_to_describe(entry, key, record.warp != v.record.warp)) {
    const uint32_t other = static_cast<uint32_t>(__builtin_ctz(lanes));
    first->offset = cell * shadow_.granule();
    first->earlier.thread = record.warp * 32u + other;
    first->earlier.use = record.use;
    first->earlier.bytes = record.bytes;
    first->later.thread = v.record.warp * 32u + lane;
    first->later.use = v.record.use;
    first->later.bytes = v.record.bytes;
    // The race is within one instruction if the other lane has accessed this cell in the same warp
    // instruction.
    first->cause = cause;
    if (cluster_) cluster_->make_block_relative(*first);
    const uint64_t at = cell * shadow_.granule() - v.access->address[other];
    first->one_instruction = record.warp == v.record.warp && record.site == v.record.site &&
                             other < lane && (v.access->mask >> other & 1) != 0 &&
                             at < v.record.bytes;
  }
  ++entry.in_block;
}

bool RaceCheck::report_unawaited_copy(const CurrentAccess& v, uint32_t lanes, uint64_t cell) {
  const auto at = copies_.find(cell);
  if (at == copies_.end()) return false;
  const PendingCopiesToCell& copy = at->second;
  const WarpCellAccessRecord record(0, copy.site, copy.thread / 32, Use::write, v.record.bytes);
  for (; lanes != 0; lanes &= lanes - 1)
    report_race(v, static_cast<uint32_t>(__builtin_ctz(lanes)), cell, record,
                1u << copy.thread % 32, false, Hazard::Cause::early);
  return true;
}

void RaceCheck::report_unwritten_read(const CurrentAccess& v, uint32_t lane, uint64_t cell) {
  const RaceKey key{Finding::Kind::uninitialised, false, 0, v.record.site};
  HazardEntry& entry = find_or_add_entry(key);
  if (Hazard* first = hazard_to_describe(entry, key)) {
    first->offset = cell * shadow_.granule();
    first->later.thread = v.record.warp * 32u + lane;
    first->later.use = v.record.use;
    first->later.bytes = v.record.bytes;
    if (cluster_) cluster_->make_block_relative(*first);
  }
  ++entry.in_block;
}

void RaceCheck::missing_lanes_used(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad) {
  ++sequence_;
  const RaceKey key{Finding::Kind::warp_mask, false, 0, site};
  HazardEntry& entry = find_or_add_entry(key);
  if (Hazard* first = hazard_to_describe(entry, key)) {
    first->later.thread = warp * 32;
    first->mask = mask;
    first->absent = bad;
    if (cluster_) cluster_->make_block_relative(*first);
  }
  ++entry.in_block;
}

void RaceCheck::fault(const sim::FaultEvent& fault) {
  ++sequence_;
  using What = sim::FaultEvent::Kind;
  if (fault.kind == What::shared_value) {
    HazardEntry& read = entries_[{Finding::Kind::uninitialised, false, 0, fault.site}];
    read.value_used = true;
    if (read.hazard.used_as == sim::ValueUse::none) read.hazard.used_as = fault.used_as;
    return;
  }
  const Finding::Kind kind = fault.kind == What::memory    ? Finding::Kind::memory
                             : fault.kind == What::barrier ? Finding::Kind::barrier
                                                           : Finding::Kind::uninitialised;
  const RaceKey key{kind, false, 0, fault.site};
  HazardEntry& entry = find_or_add_entry(key);
  if (Hazard* first = hazard_to_describe(entry, key)) first->fault = fault.facts;
  entry.in_block += fault.lanes;
}

Finding finding_of(const Hazard& h, const std::vector<sim::SharedVariable>& variables,
                   const PositionOf& position) {
  Finding f;
  f.kind = h.kind;
  f.note = h.note;
  f.count = h.count;
  f.block = {h.block.x, h.block.y, h.block.z};
  if (h.block.dim_x == 0)
    f.block_size = {h.block.threads, 1, 1};
  else
    f.block_size = {h.block.dim_x, h.block.dim_y, h.block.dim_z};
  if (const auto at = position(h.later.site)) {
    f.file = at->file;
    f.line = at->line;
    f.call_line = at->call_line;
  }
  f.party = party_of(h.later, h.block);
  uint32_t bytes = h.later.bytes;
  if (h.kind == Finding::Kind::race) {
    if (const auto at = position(h.earlier.site)) {
      f.other_file = at->file;
      f.other_line = at->line;
    }
    f.other = party_of(h.earlier, h.block);
    f.other_block = f.block;
    f.one_instruction = h.one_instruction;
    f.is_volatile = h.cause == Hazard::Cause::is_volatile;
    f.early = h.cause == Hazard::Cause::early;
    bytes = std::min(bytes, uint32_t{h.earlier.bytes});
  }
  if (!h.cluster.empty()) {
    const auto index_in_3d = [](const sim::BlockInfo& b) { return Finding::Index3{b.x, b.y, b.z}; };
    f.cluster = true;
    f.other_block = index_in_3d(h.cluster[1]);
    f.owner = index_in_3d(h.cluster[2]);
  }
  f.offset = h.offset;
  for (const sim::SharedVariable& v : variables) {
    if (h.offset < v.offset || h.offset - v.offset >= v.bytes) continue;
    f.object = v.name;
    f.offset = h.offset - v.offset;
    // The element index is in units of the access width.
    if (bytes != 0 && v.bytes > bytes) f.element = f.offset / bytes;
    break;
  }
  f.used_as = h.used_as;
  f.mask = h.mask;
  f.absent = h.absent;
  f.fault = h.fault;
  return f;
}

void RaceCheck::merge(const RaceCheck& other) {
  for (const auto& [key, entry] : other.entries_) {
    HazardEntry& own = entries_[key];
    merge_hazard(own.hazard, entry.hazard);
    own.explained += entry.explained;
    own.value_used |= entry.value_used;
  }
}

std::vector<Finding> RaceCheck::findings(const std::vector<sim::SharedVariable>& variables,
                                         const PositionOf& position) const {
  // Unrolled copies of a line are one line for the student, and the two directions of a race are
  // one race.
  using Line = std::pair<std::string, int>;
  using Lines = std::tuple<Line, Line, Finding::Kind, bool>;
  std::map<Lines, Hazard> by_line;
  const auto line_of = [&](uint32_t site) -> Line {
    const auto at = position(site);
    return at ? Line{at->file, at->line} : Line{"", 0};
  };
  for (const auto& [key, recorded] : entries_) {
    Hazard entry = recorded.hazard;
    Line later = line_of(key.later), earlier = later;
    if (key.kind == Finding::Kind::race) earlier = line_of(key.earlier);
    if (key.kind == Finding::Kind::uninitialised) {
      entry.count -= std::min(entry.count, recorded.explained);
      // An unwritten word may be read as long as the kernel only copies its value, so such reads
      // are not findings.
      if (entry.count == 0 || (!entry.fault && !recorded.value_used)) continue;
    }
    if (later < earlier) std::swap(later, earlier);
    merge_hazard(by_line[{earlier, later, key.kind, key.note}], entry);
  }

  std::vector<Finding> findings;
  for (const auto& [lines, hazard] : by_line) {
    const auto& [a, b, kind, note] = lines;
    if (note && by_line.count({a, b, kind, false}) != 0) continue;
    // A shuffle that continued without the lanes that it waited for also counts on absent lanes.
    // The barrier finding covers this case.
    if (kind == Finding::Kind::warp_mask && by_line.count({a, b, Finding::Kind::barrier, false}))
      continue;
    findings.push_back(finding_of(hazard, variables, position));
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.line, a.other_line, a.kind, a.note, a.other_file) <
           std::tie(b.file, b.line, b.other_line, b.kind, b.note, b.other_file);
  });
  return findings;
}

}  // namespace lab32::counters
