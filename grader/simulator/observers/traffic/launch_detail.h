// Records details of a launch for pictures and explanations: the address of each lane in requests
// of chosen source lines, the lanes that work between barriers, and the source lane of each
// shuffle. The record is bounded: one block for each line, and a limited number of its requests.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"

namespace lab32::counters {

// Selects what is recorded. By default all lines of the file are recorded, each in the block with
// its worst access.
struct DetailFilter {
  std::string file;         // the name in the PTX, or the end of it behind a '/'
  std::optional<int> line;  // only this one
  // First and last line of a range that is not recorded.
  std::optional<std::pair<int, int>> except;
  std::optional<uint64_t> block;
  std::optional<uint32_t> warp;     // in the block
  std::optional<uint32_t> request;  // index among the line's requests in each warp
  uint32_t most = 16;               // requests recorded for each line
};

// A warp-wide access as ptxas issues it.
struct RequestDetail {
  uint32_t warp = 0;    // in the block
  uint32_t number = 0;  // index among the line's requests in that warp
  sim::AccessKind kind = sim::AccessKind::load;
  uint8_t bytes = 4;  // per lane
  bool matrix = false;
  uint32_t mask = 0;
  std::array<uint64_t, 32> address{};  // lanes outside mask: 0
  std::vector<std::string> place;      // by lane, "tile[3][0]"; empty if no variable is known
  uint32_t cost = 0, ideal = 0;        // sectors, or wavefronts
  uint32_t site = 0;                   // the instruction, because a line may have several
  uint64_t sequence = 0;               // number of the access in its block
};

struct LineDetail {
  std::string file;
  int line = 0;
  bool shared = false;  // else global
  uint64_t block = 0;
  uint32_t requests_in_block = 0;
  bool ptx_level = false;  // ptxas may issue these accesses in another way
  // The first requests, and the worst one if it comes later.
  std::vector<RequestDetail> requests;
  uint32_t worst = 0;  // index in `requests`
};

// The lanes that work between two barriers. A lane works if it loads, stores or shuffles.
struct LanesWorkingBetweenBarriers {
  std::vector<uint32_t> working;  // lane masks, by warp
  int line = 0;                   // the last line that accessed memory or shuffled
  // Whether __syncwarp() ended the step, and not __syncthreads() or the end of the block.
  bool warp_barrier = false;
};

struct ShuffleDetail {
  std::string file;
  int line = 0;
  uint32_t site = 0;  // the instruction, because a line may have several
  uint32_t warp = 0;
  uint32_t mask = 0, in_range = 0, absent = 0;
  std::array<uint8_t, 32> from{};
};

// An allocation that recorded requests access.
struct AccessedArray {
  uint64_t begin = 0, bytes = 0;
  std::string name;        // in the host's source
  int32_t parameter = -1;  // index of the kernel's parameter that points into it
};

struct LaunchDetail {
  std::vector<AccessedArray> arrays;
  std::vector<AccessedArray> shared_arrays;  // the kernel's variables in shared memory, by offset
  std::vector<LineDetail> lines;             // sorted by file and line, global before shared memory
  uint64_t block = 0;                        // the block whose steps and shuffles are recorded
  uint32_t threads = 0;                      // per block
  std::vector<LanesWorkingBetweenBarriers> steps;
  bool more_steps = false;
  std::vector<ShuffleDetail> shuffles;  // shuffles of one warp
  bool more_shuffles = false;
};

class DetailObserver : public sim::Observer {
 public:
  DetailObserver(DetailFilter choice, PositionOf position)
      : choice_(std::move(choice)), position_(std::move(position)) {}

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void access(uint32_t warp, const sim::IssuedWarpAccess& access) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  void warp_barrier(uint32_t warp, uint32_t mask) override;
  void shuffle(uint32_t warp, const sim::ShuffleEvent& event) override;
  bool wants_accesses() const override { return true; }
  bool wants_shuffles() const override { return true; }

  LaunchDetail result() const;

 private:
  // Accesses of one source line to global or to shared memory.
  struct LineRequests {
    // Requests of the current block, and of the block with the worst access.
    LineDetail current, best;
    std::vector<uint32_t> seen;  // number of requests in the current block, by warp
  };
  using Key = std::pair<SourcePosition, bool>;  // shared
  struct LineOrder {
    bool operator()(const Key& a, const Key& b) const;
  };
  struct SelectedLineOfSite {
    bool known = false;
    std::optional<SourcePosition> at;     // empty: the line is not selected
    std::array<LineRequests*, 2> line{};  // in lines_: global, shared; null before the first access
  };
  SelectedLineOfSite& site_of(uint32_t site);
  LineRequests& line_of(SelectedLineOfSite& site, bool shared);
  void mark_lanes_working(uint32_t warp, uint32_t mask, int line);

  DetailFilter choice_;
  PositionOf position_;
  std::vector<SelectedLineOfSite> sites_;
  bool block_selected_ = false;  // the current block is selected
  sim::BlockInfo block_{};
  uint64_t sequence_ = 0;  // accesses of the current block
  std::map<Key, LineRequests, LineOrder> lines_;
  bool has_detail_ = false,
       records_steps_ = false;  // whether detail_ is set; whether it is that of the current block
  std::vector<size_t> step_of_warp_;
  LaunchDetail detail_;  // without `lines`
};

}  // namespace lab32::counters
