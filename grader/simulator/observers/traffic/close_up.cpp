#include "simulator/observers/traffic/close_up.h"

#include <algorithm>
#include <tuple>

#include "simulator/observers/lanes.h"
#include "simulator/observers/traffic/traffic.h"

namespace lab32::counters {
namespace {

constexpr size_t kMostSteps = 64, kMostShuffles = 24;

// True if a costs more than b relative to the ideal.
template <typename A, typename B>
bool worse(const A& a, const B& b) {
  return uint64_t{a.cost} * b.ideal > uint64_t{b.cost} * a.ideal;
}

// True if a block's accesses should replace those of another block. A block without requests never
// does.
bool better_kept(const CloseUpLine& a, const CloseUpLine& b) {
  if (a.requests.empty()) return false;
  if (b.requests.empty()) return true;
  const CloseUpRequest &x = a.requests[a.worst], &y = b.requests[b.worst];
  if (worse(x, y)) return true;
  return !worse(y, x) && a.block < b.block;
}

bool names(const std::string& choice, const std::string& file) {
  if (choice.empty() || choice == file) return true;
  const size_t size = choice.size();
  return file.size() > size && file.compare(file.size() - size, size, choice) == 0 &&
         file[file.size() - size - 1] == '/';
}

bool wants(const CloseUpChoice& choice, const Position& at) {
  if (!names(choice.file, at.file)) return false;
  return !choice.except || at.line < choice.except->first || at.line > choice.except->second;
}

CloseUpRequest request_of(uint32_t warp, uint32_t number, const sim::Access& access,
                          const AccessCost& cost) {
  CloseUpRequest request;
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

bool CloseUpObserver::Before::operator()(const Key& a, const Key& b) const {
  return std::tie(a.first.file, a.first.line, a.second) <
         std::tie(b.first.file, b.first.line, b.second);
}

std::unique_ptr<sim::Observer> CloseUpObserver::fork() const {
  return std::make_unique<CloseUpObserver>(choice_, position_);
}

CloseUpObserver::Site& CloseUpObserver::site_of(uint32_t number) {
  if (sites_.size() <= number) sites_.resize(number + 1);
  Site& site = sites_[number];
  if (!site.known) {
    site.known = true;
    site.at = position_(number);
    if (site.at && !wants(choice_, *site.at)) site.at.reset();
  }
  return site;
}

CloseUpObserver::Line& CloseUpObserver::line_of(Site& site, bool shared) {
  Line*& line = site.line[shared ? 1 : 0];
  if (line == nullptr) {
    line = &lines_[{*site.at, shared}];
    line->now.file = site.at->file;
    line->now.line = site.at->line;
    line->now.shared = shared;
  }
  return *line;
}

void CloseUpObserver::block_begin(const sim::BlockInfo& block) {
  block_ = block;
  looks_ = !choice_.block || *choice_.block == block.index;
  follows_ = looks_ && !has_story_;
  if (!follows_) return;
  story_ = {};
  story_.block = block.index;
  story_.threads = block.threads;
  step_of_warp_.assign((block.threads + kWarpSize - 1) / kWarpSize, 0);
  has_story_ = true;
}

void CloseUpObserver::block_end() {
  for (auto& [key, line] : lines_) {
    CloseUpLine& now = line.now;
    now.block = block_.index;
    if (better_kept(now, line.kept)) line.kept = now;
    now.requests_in_block = 0;
    now.ptx_level = false;
    now.requests.clear();
    now.worst = 0;
    std::fill(line.seen.begin(), line.seen.end(), 0);
  }
}

// Most accesses are only counted, so a request is copied only if it is recorded.
void CloseUpObserver::access(uint32_t warp, const sim::Access& access) {
  const bool shared = access.space == sim::AccessSpace::shared;
  if (!looks_ || access.mask == 0 || (!shared && access.space != sim::AccessSpace::global)) return;
  Site& site = site_of(access.site);
  if (!site.at) return;
  work(warp, access.mask, site.at->line);
  if (choice_.line && *choice_.line != site.at->line) return;
  auto& [line, kept, seen] = line_of(site, shared);
  ++line.requests_in_block;
  const AccessCost cost = cost_of(access);
  line.ptx_level |= access.ptx_level || cost.estimated;
  if (seen.size() <= warp) seen.resize(warp + 1);
  const uint32_t number = seen[warp]++;
  if ((choice_.warp && *choice_.warp != warp) || (choice_.request && *choice_.request != number))
    return;
  const bool worst = line.requests.empty() || worse(cost, line.requests[line.worst]);
  const bool room = line.requests.size() < choice_.most;
  if (!room && !worst) return;
  CloseUpRequest request = request_of(warp, number, access, cost);
  if (room) {
    line.requests.push_back(std::move(request));
  } else {  // a worse request after the limit takes the last place
    line.requests.back() = std::move(request);
  }
  if (worst) line.worst = static_cast<uint32_t>(line.requests.size() - 1);
}

// Marks lanes as working in the warp's current step. Steps beyond kMostSteps are dropped.
void CloseUpObserver::work(uint32_t warp, uint32_t mask, int line) {
  if (!follows_ || warp >= step_of_warp_.size()) return;
  const size_t step = step_of_warp_[warp];
  if (step >= kMostSteps) {
    story_.more_steps = true;
    return;
  }
  if (story_.steps.size() <= step) story_.steps.resize(step + 1);
  CloseUpStep& now = story_.steps[step];
  now.working.resize(step_of_warp_.size());
  now.working[warp] |= mask;
  now.line = line;
}

void CloseUpObserver::block_barrier(const uint32_t* /*lane_mask_of_warp*/, uint32_t /*warps*/,
                                    bool whole_block) {
  if (!follows_ || !whole_block || step_of_warp_.empty()) return;
  const size_t last = *std::max_element(step_of_warp_.begin(), step_of_warp_.end());
  std::fill(step_of_warp_.begin(), step_of_warp_.end(), last + 1);
  if (last < story_.steps.size()) story_.steps[last].warp_barrier = false;
}

void CloseUpObserver::warp_barrier(uint32_t warp, uint32_t /*mask*/) {
  if (!follows_ || warp >= step_of_warp_.size()) return;
  const size_t step = step_of_warp_[warp]++;
  if (step < story_.steps.size()) story_.steps[step].warp_barrier = true;
}

void CloseUpObserver::shuffle(uint32_t warp, const sim::ShuffleEvent& event) {
  if (!follows_) return;
  const std::optional<Position>& position = site_of(event.site).at;
  if (!position) return;
  work(warp, event.mask, position->line);
  if (warp != choice_.warp.value_or(0)) return;
  if (story_.shuffles.size() == kMostShuffles) {
    story_.more_shuffles = true;
    return;
  }
  CloseUpShuffle& kept = story_.shuffles.emplace_back();
  kept.file = position->file;
  kept.line = position->line;
  kept.warp = warp;
  kept.mask = event.mask;
  kept.in_range = event.in_range;
  kept.absent = event.absent;
  std::copy(event.from, event.from + kWarpSize, kept.from.begin());
}

void CloseUpObserver::merge(sim::Observer& observer) {
  auto& other = static_cast<CloseUpObserver&>(observer);
  for (auto& [key, line] : other.lines_) {
    CloseUpLine& kept = lines_[key].kept;
    if (better_kept(line.kept, kept)) kept = std::move(line.kept);
  }
  if (other.has_story_ && (!has_story_ || other.story_.block < story_.block)) {
    story_ = std::move(other.story_);
    has_story_ = true;
  }
}

CloseUp CloseUpObserver::result() const {
  CloseUp result = story_;
  for (CloseUpStep& step : result.steps)
    step.working.resize((result.threads + kWarpSize - 1) / kWarpSize);
  for (const auto& [key, line] : lines_)
    if (!line.kept.requests.empty()) result.lines.push_back(line.kept);
  return result;
}

}  // namespace lab32::counters
