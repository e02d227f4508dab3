#include "pictures/make.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "device/run_text.h"
#include "simulator/core/warp/trap.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/traffic/banks.h"

namespace lab32::pictures {
namespace {

using counters::Counters;

constexpr size_t kMostAccesses = 4;

// A sector occupies the memory of an H200 about twice as long as a wavefront occupies its shared
// memory: 32 bytes at 4.2 TB/s, against one of 132 multiprocessors' wavefronts per clock at 1.7
// GHz.
constexpr uint64_t kSectorWeight = 2, kWavefrontWeight = 1;

const char* name_of(sim::AccessKind kind) {
  switch (kind) {
    case sim::AccessKind::load:
      return "load";
    case sim::AccessKind::store:
      return "store";
    case sim::AccessKind::red:
      return "red";
    case sim::AccessKind::atom:
      return "atom";
  }
  return "";
}

std::string dimensions(const Dim3& d) {
  std::string text = grouped_digits(d.x);
  if (d.y > 1 || d.z > 1) text += fmt::format(" x {}", d.y);
  if (d.z > 1) text += fmt::format(" x {}", d.z);
  return text;
}

std::string shape_text(const device::LaunchShape& shape) {
  return fmt::format("{} block{} of {} threads", dimensions(shape.grid),
                     shape.grid.count() == 1 ? "" : "s", dimensions(shape.block));
}

PicturedRequest request_of(const counters::RequestDetail& seen, bool shared,
                           const LaunchNames& names) {
  PicturedRequest r;
  r.warp = seen.warp;
  r.number = seen.number;
  r.kind = name_of(seen.kind);
  r.bytes = seen.bytes;
  r.matrix = seen.matrix;
  r.mask = seen.mask;
  r.address = seen.address;
  std::copy(seen.place.begin(), seen.place.end(), r.name.begin());
  r.cost = seen.cost;
  r.ideal = seen.ideal;
  for (uint32_t rest = r.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (!r.name[lane].empty()) continue;
    r.name[lane] =
        shared ? fmt::format("byte {}", r.address[lane]) : names.element(r.address[lane], r.bytes);
  }
  if (shared)
    r.degree = counters::bank_conflict_degrees(seen.address.data(), seen.bytes, seen.mask,
                                               seen.kind, seen.matrix);
  return r;
}

const Counters* counters_of_line(const device::LaunchResult& run, const std::string& file,
                                 int line) {
  for (const counters::LineCounters& l : run.lines)
    if (l.file == file && l.line == line) return &l.counters;
  return nullptr;
}

uint64_t beyond(uint64_t reached, uint64_t ideal) { return reached > ideal ? reached - ideal : 0; }

uint64_t weight(const PicturedLineRequests& a) {
  return a.waste * (a.shared ? kWavefrontWeight : kSectorWeight);
}

PicturedLineRequests line_access_with_empty_requests(const counters::LineDetail& line,
                                                     const LaunchNames& names) {
  PicturedLineRequests a;
  a.file = line.file;
  a.line = line.line;
  a.source = names.source.text_of(line.line);
  a.shared = line.shared;
  a.block = line.block;
  a.requests_in_block = line.requests_in_block;
  a.ptx_level = line.ptx_level;
  return a;
}

std::vector<PicturedLineRequests> accesses_of(const device::LaunchResult& run,
                                              const LaunchNames& names) {
  std::vector<PicturedLineRequests> accesses;
  for (const counters::LineDetail& line : run.launch_detail->lines) {
    PicturedLineRequests a = line_access_with_empty_requests(line, names);
    a.worst = line.worst;
    if (const Counters* c = counters_of_line(run, line.file, line.line))
      a.waste = line.shared ? c->shared_wavefronts() - c->ideal_shared_wavefronts()
                            : beyond(c->global_sectors(), c->l2_sectors_ideal);
    for (const counters::RequestDetail& request : line.requests)
      a.requests.push_back(request_of(request, line.shared, names));
    accesses.push_back(std::move(a));
  }
  std::stable_sort(accesses.begin(), accesses.end(),
                   [](const PicturedLineRequests& a, const PicturedLineRequests& b) {
                     return weight(a) > weight(b);
                   });
  if (accesses.size() > kMostAccesses) accesses.resize(kMostAccesses);
  return accesses;
}

std::optional<BarrierIntervalsOfBlock> steps_between_barriers_of(const counters::LaunchDetail& seen,
                                                                 const LaunchNames& names) {
  // A block with fewer than two steps has no picture of steps, since no lane waits in it.
  if (seen.steps.size() < 2) return std::nullopt;
  BarrierIntervalsOfBlock steps{seen.block, seen.threads, {}, seen.more_steps};
  for (const counters::LanesWorkingBetweenBarriers& step : seen.steps)
    steps.steps.push_back(
        {step.working, step.line, names.source.text_of(step.line), step.warp_barrier});
  return steps;
}

std::optional<TextureBulkClusterTraffic> texture_bulk_cluster_traffic(const Counters& c) {
  if (!c.other.any()) return std::nullopt;
  const auto texels = c.other.texture_and_surface_traffic(),
             remote = c.other.remote_shared_traffic();
  const auto bulk = c.other.bulk();
  return TextureBulkClusterTraffic{texels.requests, texels.sectors, bulk.sectors,     bulk.ideal,
                                   remote.requests, remote.sectors, c.other.unknown()};
}

PicturedTraffic traffic_of(const device::LaunchResult& run) {
  const Counters& c = *run.counters;
  PicturedTraffic t;
  t.requests = c.global_requests();
  t.sectors = c.global_sectors();
  t.ideal_sectors = c.l2_sectors_ideal;
  t.asked_bytes = c.global_bytes;
  t.shared_requests = c.shared_requests();
  t.wavefronts = c.shared_wavefronts();
  t.ideal_wavefronts = c.ideal_shared_wavefronts();
  if (const auto& m = run.caches)
    t.caches = {m->l1.percent(), m->l2.percent(), m->l2_read, m->l2_write + m->l2_red + m->l2_atom,
                m->dram_read,    m->dram_written};
  t.other = texture_bulk_cluster_traffic(c);
  return t;
}

const char* use_verb(sim::AccessUse use) {
  return use == sim::AccessUse::read    ? "reads"
         : use == sim::AccessUse::write ? "writes"
                                        : "updates";
}

std::optional<PicturedRace> first_race_of(const device::LaunchResult& run,
                                          const LaunchNames& names) {
  if (!run.hazards) return std::nullopt;
  for (const counters::Finding& f : *run.hazards)
    if (!f.note && f.kind == counters::Finding::Kind::race) return race_of(f, names);
  return std::nullopt;
}

std::string name_of(const sim::BlockAndThreadIndex& id) {
  return fmt::format("thread ({}) of block ({})", fmt::join(id.thread, ","),
                     fmt::join(id.block, ","));
}

std::optional<PicturedKernelFault> fault_of(const device::LaunchResult& run,
                                            const LaunchNames& names) {
  if (!run.fault) return std::nullopt;
  PicturedKernelFault fault;
  fault.kind = sim::words(run.fault->kind);
  fault.words = device::describe(*run.fault);
  fault.line = run.fault->line;
  if (run.fault->file == names.file) fault.source = names.source.text_of(fault.line);
  if (const auto& trap = run.fault->trap) {
    if (trap->thread) fault.thread = name_of(*trap->thread);
    if (const auto& access = trap->access) {
      fault.object = access->object;
      fault.offset = access->offset;
      fault.size = access->size;
      fault.bytes = access->bytes;
    }
  }
  return fault;
}

// How much a line uses of the resource that bounds the launch, in a unit of that resource.
uint64_t use_of_bottleneck_resource(const std::string& bound, const LineCost& line) {
  if (bound == "device memory" || bound == "L2" || bound == "L1" || bound == "atomics")
    return line.sectors;
  return bound == "shared memory" ? line.wavefronts : line.instructions;
}

std::vector<LineCost> line_costs(const device::LaunchResult& run, const LaunchNames& names,
                                 const std::string& bound) {
  std::vector<LineCost> lines;
  uint64_t all = 0;
  for (const counters::LineCounters& l : run.lines) {
    const Counters& c = l.counters;
    LineCost cost;
    cost.line = l.line;
    cost.instructions = c.warp_instructions;
    cost.lanes = c.lane_instructions;
    cost.sectors = c.global_sectors();  // includes atomics, like the picture of an access
    cost.ideal_sectors = c.l2_sectors_ideal;
    cost.wavefronts = c.shared_wavefronts();
    cost.ideal_wavefronts = c.ideal_shared_wavefronts();
    cost.other = texture_bulk_cluster_traffic(c);
    all += use_of_bottleneck_resource(bound, cost);
    if (l.file == names.file && l.line > 0) lines.push_back(cost);
  }
  if (!bound.empty() && all > 0)
    for (LineCost& line : lines)
      line.share =
          static_cast<double>(use_of_bottleneck_resource(bound, line)) / static_cast<double>(all);
  return lines;
}

}  // namespace

PicturedLineRequests single_request_picture(const counters::LineDetail& line,
                                            const counters::RequestDetail& request,
                                            const LaunchNames& names) {
  PicturedLineRequests access = line_access_with_empty_requests(line, names);
  access.requests.push_back(request_of(request, line.shared, names));
  return access;
}

std::optional<PicturedShuffles> recorded_shuffles_picture(const counters::LaunchDetail& seen,
                                                          const LaunchNames& names) {
  if (seen.shuffles.empty()) return std::nullopt;
  PicturedShuffles shuffles{seen.block, seen.shuffles[0].warp, {}, seen.more_shuffles};
  for (const counters::ShuffleDetail& s : seen.shuffles)
    shuffles.shuffles.push_back(
        {s.line, names.source.text_of(s.line), s.mask, s.in_range, s.absent, s.from});
  return shuffles;
}

PicturedRace race_of(const counters::Finding& f, const LaunchNames& names) {
  const counters::RaceWords words = counters::words_of_race(f);
  PicturedRace race;
  race.first = {words.first, f.other.warp, use_verb(f.other.use), f.other_line,
                f.other_file == names.file ? names.source.text_of(f.other_line) : ""};
  race.second = {words.second, f.party.warp, use_verb(f.party.use), f.line,
                 f.file == names.file ? names.source.text_of(f.line) : ""};
  race.place = words.place;
  race.missing = words.missing;
  return race;
}

PicturedLaunch make_pictured_launch(const device::LaunchResult& run,
                                    const device::LaunchShape& shape, const LaunchNames& names) {
  PicturedLaunch launch;
  launch.kernel = names.kernel;
  launch.setting = names.setting;
  launch.shape = shape_text(shape);
  launch.fault = fault_of(run, names);
  launch.race = first_race_of(run, names);
  if (run.predicted) {
    launch.seconds = run.predicted->kernel_seconds;
    if (!run.predicted->resources.empty()) launch.bound = run.predicted->resources[0].name;
  }
  if (run.launch_detail) {
    launch.accesses = accesses_of(run, names);
    launch.steps = steps_between_barriers_of(*run.launch_detail, names);
    launch.shuffles = recorded_shuffles_picture(*run.launch_detail, names);
  }
  if (run.counters) {
    launch.traffic = traffic_of(run);
    launch.lines = line_costs(run, names, launch.bound);
  }
  return launch;
}

uint64_t time_weighted_access_waste(const PicturedLaunch& launch) {
  uint64_t sum = 0;
  for (const PicturedLineRequests& access : launch.accesses) sum += weight(access);
  return sum;
}

std::string cost_of(const PicturedLineRequests& access, const PicturedRequest& request) {
  const char* unit = access.shared ? "wavefront" : "sector";
  const auto count = [&](uint32_t n) { return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s"); };
  if (request.cost <= request.ideal) return count(request.cost) + ", the minimum";
  return fmt::format("{} where {} would do", count(request.cost), request.ideal);
}

}  // namespace lab32::pictures
