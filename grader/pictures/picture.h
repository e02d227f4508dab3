// The data of pictures of a launch, independent of how they are drawn. make.h builds it; text.h
// draws it on a terminal; json.cpp serialises it (Schema lab32-pictures/1), and the Python package
// (grader/python/lab32/pictures) draws that as SVG and HTML.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/grid.h"

namespace lab32::pictures {

// A warp-wide access to global or shared memory, lane by lane.
struct PicturedRequest {
  uint32_t warp = 0;    // in the block
  uint32_t number = 0;  // index among the line's requests of that warp, from 0
  std::string kind;     // load, store, red, atom
  uint32_t bytes = 4;   // per lane
  bool matrix = false;  // ldmatrix, stmatrix: the address of a lane is that of a row of 16 bytes
  uint32_t mask = 0;
  // The address of each active lane: in global memory, or as an offset in the block's shared
  // memory.
  std::array<uint64_t, kWarpSize> address{};
  std::array<std::string, kWarpSize> name{};  // "in[17]", "tile[3][0]"
  uint32_t cost = 0, ideal = 0;               // sectors, or wavefronts
  // For shared memory: for each bank, the wavefronts that its words need in the worst phase of the
  // access.
  std::array<uint32_t, kWarpSize> degree{};
};

// The requests of a source line in one block: the block with the line's worst access.
struct PicturedLineRequests {
  std::string file;
  int line = 0;
  std::string source;
  bool shared = false;  // else global
  uint64_t block = 0;
  uint32_t requests_in_block = 0;
  bool ptx_level = false;
  std::vector<PicturedRequest> requests;
  uint32_t worst = 0;
  uint64_t waste = 0;  // sectors or wavefronts of the whole launch beyond the ideal
};

// What lanes do between two barriers: which of them load, store or shuffle.
struct BarrierInterval {
  std::vector<uint32_t> working;  // mask of lanes, by warp
  int line = 0;
  std::string source;
  bool warp_barrier = false;
};

struct BarrierIntervalsOfBlock {
  uint64_t block = 0;
  uint32_t threads = 0;
  std::vector<BarrierInterval> steps;
  bool more = false;
};

struct PicturedShuffle {
  int line = 0;
  std::string source;
  uint32_t mask = 0, in_range = 0, absent = 0;
  std::array<uint8_t, kWarpSize> from{};
};

struct PicturedShuffles {
  uint64_t block = 0;
  uint32_t warp = 0;
  std::vector<PicturedShuffle> shuffles;
  bool more = false;
};

// PicturedTraffic other than loads and stores of global memory and of the block's own shared
// memory.
struct TextureBulkClusterTraffic {
  uint64_t texture_requests = 0, texture_sectors = 0;  // textures and surfaces
  uint64_t bulk_sectors = 0, ideal_bulk_sectors = 0;   // the copy engine
  uint64_t cluster_requests = 0, cluster_sectors = 0;  // other blocks' shared memory
  bool unknown = false;  // there is also traffic whose counts on a GPU are not known
};

// The bytes that a launch moves between the kernel and device memory. The simulator counts requests
// and sectors, and models what the caches do.
struct PicturedTraffic {
  uint64_t requests = 0, sectors = 0, ideal_sectors = 0, asked_bytes = 0;  // global memory
  uint64_t shared_requests = 0, wavefronts = 0, ideal_wavefronts = 0;
  struct CacheHitRatesAndTraffic {
    double l1_percent = 0, l2_percent = 0;  // hit rates of sectors
    uint64_t l2_read_sectors = 0, l2_write_sectors = 0, dram_read = 0, dram_written = 0;
  };
  std::optional<CacheHitRatesAndTraffic> caches;   // modelled
  std::optional<TextureBulkClusterTraffic> other;  // not included in the counts above
};

// A race: two accesses without an order between them.
struct PicturedRace {
  struct Party {
    std::string thread;  // "thread 3 of block 0"
    uint32_t warp = 0;
    std::string use;  // reads, writes, updates
    int line = 0;
    std::string source;
  };
  Party first, second;  // first and second in the order of the simulation
  std::string place;    // "s[16]"
  std::string missing;  // the missing synchronisation: "__syncthreads()"
};

// A bad access, or another error that ended a kernel.
struct PicturedKernelFault {
  std::string kind, words;
  int line = 0;
  std::string source;
  std::string thread;  // empty: not known
  std::string object;  // empty: no array is involved, and there is no picture
  int64_t offset = 0;  // offset of the access in the object, in bytes
  uint64_t size = 0;   // bytes of the object
  uint32_t bytes = 0;
};

// The share of a source line in the cost of a launch.
struct LineCost {
  int line = 0;
  // The PTX instructions of all warps, and the active lanes in them.
  uint64_t instructions = 0, lanes = 0;
  uint64_t sectors = 0, ideal_sectors = 0, wavefronts = 0, ideal_wavefronts = 0;
  std::optional<TextureBulkClusterTraffic> other;
  double share = 0;  // share in the resource that bounds the modelled launch; 0 without a model
};

// A swizzle: the new place of each group of elements.
struct SwizzleMapping {
  std::string name;                        // "Swizzle<3, 0, 3>"
  uint32_t rows = 0, columns = 0;          // the drawn part, from row 0 and column 0
  uint64_t all_rows = 0, all_columns = 0;  // size of the whole table
  uint32_t unit = 1;                       // elements per group
  bool turned = false;                     // true: groups change their row instead of their column
  // The new place of each group, row by row, as an index in the whole table.
  std::vector<uint32_t> to;
};

struct PicturedLaunch {
  std::string kernel, setting, shape;
  std::string bound;              // the modelled bottleneck: "DRAM", "shared memory", ...; or empty
  std::optional<double> seconds;  // modelled
  std::vector<PicturedLineRequests> accesses;  // the one with the most waste first
  std::optional<BarrierIntervalsOfBlock> steps;
  std::optional<PicturedShuffles> shuffles;
  std::optional<PicturedTraffic> traffic;
  std::optional<PicturedTraffic>
      reference;  // traffic of the reference solution's launch for the same work
  std::optional<PicturedRace> race;
  std::optional<PicturedKernelFault> fault;
  std::vector<SwizzleMapping> mappings;  // computed by the student's own function
  std::vector<LineCost> lines;
};

struct PicturedCheck {
  std::string lab, check;  // empty for a program
  std::string file;
  std::string message;  // the message of the check
  PicturedLaunch launch;
  // From these the lab draws pictures of its own (grader/labs/<lab>/pictures.py).
  std::string device = {};
  bool passed = false;
  std::map<std::string, double> figures = {};
  std::string missing = {};  // why the launch has no picture; empty: it has one
};

// The name and the message of the check; "" for a program.
std::string heading(const PicturedCheck& shown);
std::string text(const PicturedCheck& shown, bool colour);
// Schema lab32-pictures/1 (README.md).
std::string json(const PicturedCheck& shown);
nlohmann::ordered_json to_json(const PicturedLaunch& launch);

}  // namespace lab32::pictures
