#include "simulator/observers/traffic/launch_detail.h"

#include <algorithm>
#include <tuple>

#include "simulator/observers/lanes.h"
#include "simulator/observers/traffic/traffic.h"

namespace lab32::counters {
namespace {

constexpr size_t kMaxSteps = 64, kMaxShuffles = 24;

// True if a costs more than b relative to the ideal.
template <typename A, typename B>
bool has_higher_cost_ratio(const A& a, const B& b) {
  return uint64_t{a.cost} * b.ideal > uint64_t{b.cost} * a.ideal;
}

// True if a block's accesses should replace those of another block. A block without requests never
// does.
bool is_preferred_line_detail(const LineDetail& a, const LineDetail& b) {
  if (a.requests.empty()) return false;
  if (b.requests.empty()) return true;
  const RequestDetail &x = a.requests[a.worst], &y = b.requests[b.worst];
  if (has_higher_cost_ratio(x, y)) return true;
  return !has_higher_cost_ratio(y, x) && a.block < b.block;
}

bool matches_path_suffix(const std::string& choice, const std::string& file) {
  if (choice.empty() || choice == file) return true;
  const size_t size = choice.size();
  return file.size() > size && file.compare(file.size() - size, size, choice) == 0 &&
         file[file.size() - size - 1] == '/';
}

bool filter_includes(const DetailFilter& choice, const SourcePosition& at) {
  if (!matches_path_suffix(choice.file, at.file)) return false;
  return !choice.except || at.line < choice.except->first || at.line > choice.except->second;
}

RequestDetail request_of(uint32_t warp, uint32_t number, const sim::IssuedWarpAccess& access,
                         const AccessCost& cost) {
  RequestDetail request;
  request.warp = warp;
  request.number = number;
  request.kind = access.kind;
  request.bytes = access.bytes;
  request.matrix = access.matrix;
  request.mask = access.mask;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    if (access.mask >> lane & 1) request.address[lane] = access.address[lane];
  request.cost = cost.cost;
  request.ideal = cost.ideal;
  return request;
}

}  // namespace

bool DetailObserver::LineOrder::operator()(const Key& a, const Key& b) const {
  return std::tie(a.first.file, a.first.line, a.second) <
         std::tie(b.first.file, b.first.line, b.second);
}

std::unique_ptr<sim::Observer> DetailObserver::fork() const {
  return std::make_unique<DetailObserver>(choice_, position_);
}

DetailObserver::SelectedLineOfSite& DetailObserver::site_of(uint32_t number) {
  if (sites_.size() <= number) sites_.resize(number + 1);
  SelectedLineOfSite& site = sites_[number];
  if (!site.known) {
    site.known = true;
    site.at = position_(number);
    if (site.at && !filter_includes(choice_, *site.at)) site.at.reset();
  }
  return site;
}

DetailObserver::LineRequests& DetailObserver::line_of(SelectedLineOfSite& site, bool shared) {
  LineRequests*& line = site.line[shared ? 1 : 0];
  if (line == nullptr) {
    line = &lines_[{*site.at, shared}];
    line->current.file = site.at->file;
    line->current.line = site.at->line;
    line->current.shared = shared;
  }
  return *line;
}

void DetailObserver::block_begin(const sim::BlockInfo& block) {
  block_ = block;
  sequence_ = 0;
  block_selected_ = !choice_.block || *choice_.block == block.index;
  records_steps_ = block_selected_ && !has_detail_;
  if (!records_steps_) return;
  detail_ = {};
  detail_.block = block.index;
  detail_.threads = block.threads;
  step_of_warp_.assign((block.threads + kWarpSize - 1) / kWarpSize, 0);
  has_detail_ = true;
}

void DetailObserver::block_end() {
  for (auto& [key, line] : lines_) {
    LineDetail& now = line.current;
    now.block = block_.index;
    if (is_preferred_line_detail(now, line.best)) line.best = now;
    now.requests_in_block = 0;
    now.ptx_level = false;
    now.requests.clear();
    now.worst = 0;
    std::fill(line.seen.begin(), line.seen.end(), 0);
  }
}

// Most accesses are only counted, so a request is copied only if it is recorded.
void DetailObserver::access(uint32_t warp, const sim::IssuedWarpAccess& access) {
  const bool shared = access.space == sim::AccessSpace::shared;
  if (!block_selected_ || access.mask == 0 || (!shared && access.space != sim::AccessSpace::global))
    return;
  ++sequence_;
  SelectedLineOfSite& site = site_of(access.site);
  if (!site.at) return;
  mark_lanes_working(warp, access.mask, site.at->line);
  if (choice_.line && *choice_.line != site.at->line) return;
  auto& [line, best, seen] = line_of(site, shared);
  ++line.requests_in_block;
  const AccessCost cost = cost_of(access);
  line.ptx_level |= access.ptx_level || cost.estimated;
  if (seen.size() <= warp) seen.resize(warp + 1);
  const uint32_t number = seen[warp]++;
  if ((choice_.warp && *choice_.warp != warp) || (choice_.request && *choice_.request != number))
    return;
  const bool worst =
      line.requests.empty() || has_higher_cost_ratio(cost, line.requests[line.worst]);
  const bool room = line.requests.size() < choice_.most;
  if (!room && !worst) return;
  RequestDetail request = request_of(warp, number, access, cost);
  request.site = access.site;
  request.sequence = sequence_;
  if (room) {
    line.requests.push_back(std::move(request));
  } else {  // at the limit, the worst request replaces the last one
    line.requests.back() = std::move(request);
  }
  if (worst) line.worst = static_cast<uint32_t>(line.requests.size() - 1);
}

// Marks lanes as working in the warp's current step. Steps beyond kMaxSteps are dropped.
void DetailObserver::mark_lanes_working(uint32_t warp, uint32_t mask, int line) {
  if (!records_steps_ || warp >= step_of_warp_.size()) return;
  const size_t step = step_of_warp_[warp];
  if (step >= kMaxSteps) {
    detail_.more_steps = true;
    return;
  }
  if (detail_.steps.size() <= step) detail_.steps.resize(step + 1);
  LanesWorkingBetweenBarriers& now = detail_.steps[step];
  now.working.resize(step_of_warp_.size());
  now.working[warp] |= mask;
  now.line = line;
}

void DetailObserver::block_barrier(const uint32_t* /*lane_mask_of_warp*/, uint32_t /*warps*/,
                                   bool whole_block) {
  if (!records_steps_ || !whole_block || step_of_warp_.empty()) return;
  const size_t last = *std::max_element(step_of_warp_.begin(), step_of_warp_.end());
  std::fill(step_of_warp_.begin(), step_of_warp_.end(), last + 1);
  if (last < detail_.steps.size()) detail_.steps[last].warp_barrier = false;
}

void DetailObserver::warp_barrier(uint32_t warp, uint32_t /*mask*/) {
  if (!records_steps_ || warp >= step_of_warp_.size()) return;
  const size_t step = step_of_warp_[warp]++;
  if (step < detail_.steps.size()) detail_.steps[step].warp_barrier = true;
}

void DetailObserver::shuffle(uint32_t warp, const sim::ShuffleEvent& event) {
  if (!records_steps_) return;
  const std::optional<SourcePosition>& position = site_of(event.site).at;
  if (!position) return;
  mark_lanes_working(warp, event.mask, position->line);
  if (warp != choice_.warp.value_or(0)) return;
  if (detail_.shuffles.size() == kMaxShuffles) {
    detail_.more_shuffles = true;
    return;
  }
  ShuffleDetail& kept = detail_.shuffles.emplace_back();
  kept.file = position->file;
  kept.line = position->line;
  kept.site = event.site;
  kept.warp = warp;
  kept.mask = event.mask;
  kept.in_range = event.in_range;
  kept.absent = event.absent;
  std::copy(event.from, event.from + kWarpSize, kept.from.begin());
}

void DetailObserver::merge(sim::Observer& observer) {
  auto& other = static_cast<DetailObserver&>(observer);
  for (auto& [key, line] : other.lines_) {
    LineDetail& kept = lines_[key].best;
    if (is_preferred_line_detail(line.best, kept)) kept = std::move(line.best);
  }
  if (other.has_detail_ && (!has_detail_ || other.detail_.block < detail_.block)) {
    detail_ = std::move(other.detail_);
    has_detail_ = true;
  }
}

LaunchDetail DetailObserver::result() const {
  LaunchDetail result = detail_;
  for (LanesWorkingBetweenBarriers& step : result.steps)
    step.working.resize((result.threads + kWarpSize - 1) / kWarpSize);
  for (const auto& [key, line] : lines_)
    if (!line.best.requests.empty()) result.lines.push_back(line.best);
  return result;
}

}  // namespace lab32::counters
