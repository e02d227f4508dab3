#include "simulator/core/warp/block_context.h"

#include <sys/mman.h>

#include <cstring>

#include "base/error.h"

namespace lab32::sim {
namespace {

// Output beyond this limit is dropped. It exceeds the output limit of a whole launch
// (kOutputLimit).
constexpr size_t kKeptOutput = 2 << 20;

}  // namespace

ClusterSharedMemory::ClusterSharedMemory(uint32_t blocks, bool undefined)
    : size_(base_of_rank(blocks) * (undefined ? 2 : 1)) {
  void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw MachineError("no address space for the shared memory of a cluster");
  bytes_ = static_cast<std::byte*>(at);
  if (undefined) undefined_ = bytes_ + base_of_rank(blocks);
}

ClusterSharedMemory::~ClusterSharedMemory() { munmap(bytes_, size_); }

SharedMemory::SharedMemory(const LaunchContext& launch, ClusterContext* cluster, uint32_t rank,
                           bool follows)
    : launch_(launch), cluster_(cluster), base_(base_of_rank(rank)), follows_(follows) {
  if (cluster_ == nullptr) own_.resize(fault_sink_offset() + kWarpSize * kSinkBytes);
  data_ = cluster_ == nullptr ? own_.data() : cluster_->memory().bytes();
  if (cluster_ != nullptr && follows_)
    undefined_.use_external_storage(cluster_->memory().undefined());
}

void SharedMemory::reset_for_next_block() {
  // Poison: a read of memory that was never written returns NaN or -1.
  std::memset(data_ + base_, 0xff, size());
  if (follows_) {
    const bool undefined = launch_.begins_undefined();
    if (cluster_ == nullptr)
      undefined_.mark_first_undefined(undefined ? size() : 0, own_.size());
    else
      std::memset(undefined_.data() + base_, undefined ? 0xff : 0, size());
  }
  if (launch_.reserves_shared()) {
    const uint64_t at = base_ + launch_.reserved_at();
    std::memset(data_ + at, 0, LaunchContext::kReservedShared);
    if (follows_) undefined_.mark_defined(at, LaunchContext::kReservedShared);
  }
}

BlockContext::BlockContext(const LaunchContext& launch, std::vector<Observer*> observers,
                           SerialEquivalenceRollback::Worker* guard,
                           const PossibleRaceDetector* suspects, ClusterContext* cluster,
                           uint32_t rank)
    : launch_(launch),
      checks_reads_(launch.checks_reads()),
      tally_(launch.program->sites.size()),
      runs_(tally_.size()),
      reports_(launch, std::move(observers), suspects),
      shared_(launch, cluster, rank, checks_reads_),
      faults_(launch, info_, reports_),
      accesses_({launch, info_, shared_, reports_, faults_, tally_, guard}) {
  info_.threads = static_cast<uint32_t>(launch_.block.count());
  info_.shared_bytes = launch_.shared_bytes;
  info_.dim_x = launch_.block.x;
  info_.dim_y = launch_.block.y;
  info_.dim_z = launch_.block.z;
  info_.grid_x = launch_.grid.x;
  info_.grid_y = launch_.grid.y;
  info_.rank = rank;
  info_.cluster_blocks = cluster == nullptr ? 0 : cluster->blocks();
}

void BlockContext::flush_straight_line_run_counts() {
  for (const DecodedFunction& function : launch_.program->functions)
    for (const Inst& in : function.code) {
      StraightLineIssueCounts& run = runs_[in.site];
      for (uint32_t i = 0; run.warps != 0 && i < in.run; ++i) {
        tally_[in.site + i].warps += run.warps;
        tally_[in.site + i].lanes += run.lanes;
      }
      run = {};
    }
}

uint64_t BlockContext::issue_count_of_site(uint32_t site) const {
  const InstructionSite& at = launch_.program->sites[site];
  const std::vector<Inst>& code = launch_.program->functions[at.function].code;
  uint64_t warps = tally_[site].warps;
  // The warps that issued the instruction as a part of a run of instructions are counted at the
  // run's first instruction.
  for (uint32_t back = 0; back <= at.index && code[at.index - back].run > back; ++back)
    warps += runs_[site - back].warps;
  return warps;
}

void BlockContext::start(uint64_t index) {
  info_.index = index;
  info_.x = static_cast<uint32_t>(index % launch_.grid.x);
  info_.y = static_cast<uint32_t>(index / launch_.grid.x % launch_.grid.y);
  info_.z = static_cast<uint32_t>(index / launch_.grid.x / launch_.grid.y);
  const Dim3 &c = launch_.cluster, &g = launch_.grid;
  info_.cluster =
      (uint64_t{info_.z / c.z} * (g.y / c.y) + info_.y / c.y) * (g.x / c.x) + info_.x / c.x;
  shared_.reset_for_next_block();
  if (checks_reads_) origins_.clear();
  bulk_copies_.clear();
  reports_.reset_for_next_block();
  accesses_.reset_for_next_block();
  output_.clear();
}

bool BlockContext::prints_no_more() const { return muted_ || output_.size() >= kKeptOutput; }

void BlockContext::charge_growth_of_local_memory(uint32_t warp, uint64_t more, bool in_call) {
  const uint64_t bytes = local_bytes_ + more;
  if (launch_.meter != nullptr && !launch_.meter->allows_local_bytes_of_block(bytes)) {
    TrapFacts full = faults_.facts(
        in_call ? TrapReason::block_call_memory : TrapReason::block_local_memory, warp);
    full.value = bytes;
    full.limit = launch_.meter->most_local_bytes();
    throw Trap{std::move(full), 0};
  }
  local_bytes_ = bytes;
}

void BlockContext::append_printf_output(const std::string& text) {
  if (!prints_no_more()) output_ += text;
}

}  // namespace lab32::sim
