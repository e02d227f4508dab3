// Lists the members of a LaunchResult and of its parts, with their names in JSON, and the names of
// enum values. A list is written once and serves the writer and the reader. V is either of these
// (recording.cpp), and is called with each member and its name. Ref<V, T> is the type of the
// visited object: const for the writer.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/device.h"
#include "simulator/core/warp/access_plan.h"
#include "simulator/core/warp/trap.h"

namespace lab32::record {

template <class V, class T>
using Ref = typename V::template Of<T>;

template <class V>
void visit_fields(V& visit, Ref<V, Dim3> r) {
  visit("x", r.x);
  visit("y", r.y);
  visit("z", r.z);
}

template <class V>
void visit_fields(V& visit, Ref<V, device::LaunchShape> r) {
  visit("grid", r.grid);
  visit("block", r.block);
  visit("dynamic_shared", r.dynamic_shared);
}

// The field is absent if the number is 0: few positions are in functions that were inlined.
template <class V>
void visit_optional_field(V& visit, const char* name, Ref<V, int> r) {
  std::optional<int> some;
  if (r != 0) some = r;
  visit(name, some);
  if constexpr (V::kReads) r = some.value_or(0);
}

// Few predictions are unreliable.
template <class V>
void visit_optional_field(V& visit, const char* name, Ref<V, std::string> r) {
  std::optional<std::string> some;
  if (!r.empty()) some = r;
  visit(name, some);
  if constexpr (V::kReads) r = some.value_or("");
}

// Few launches have such traffic.
template <class V>
void visit_optional_field(V& visit, const char* name,
                          Ref<V, counters::TextureBulkRemoteTraffic> r) {
  std::optional<counters::TextureBulkRemoteTraffic> some;
  if (r.any()) some = r;
  visit(name, some);
  if constexpr (V::kReads) r = some.value_or(counters::TextureBulkRemoteTraffic());
}

// Visits all counters: the rows of counters.def.
template <class V, class Group>
std::enable_if_t<counters::kIsGroup<std::remove_const_t<Group>>> visit_fields(V& visit, Group& r) {
  const auto field = [&](const char* name, auto& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>,
                                 counters::TextureBulkRemoteTraffic>)
      visit_optional_field(visit, name, member);
    else
      visit(name, member);
  };
  counters::visit_each_counter(field, r);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::LineCounters> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("counters", r.counters);
}

template <class V>
void visit_fields(V& visit, Ref<V, sim::BlockAndThreadIndex> r) {
  visit("block", r.block);
  visit("thread", r.thread);
}

template <class V>
void visit_fields(V& visit, Ref<V, sim::FaultyMemoryAccess> r) {
  visit("space", r.space);
  visit("use", r.use);
  visit("bytes", r.bytes);
  visit("address", r.address);
  visit("object", r.object);
  visit("offset", r.offset);
  visit("size", r.size);
  visit("element", r.element);
  visit("place", r.place);
  visit("last_place", r.last_place);
  visit("rank", r.rank);
}

template <class V>
void visit_fields(V& visit, Ref<V, sim::WarpMaskMismatch> r) {
  visit("warp", r.warp);
  visit("lanes", r.lanes);
  visit("mask", r.mask);
  visit("lane", r.lane);
}

template <class V>
void visit_fields(V& visit, Ref<V, sim::TrapFacts> r) {
  visit("reason", r.reason);
  visit("block", r.block);
  visit("thread", r.thread);
  visit("waiting", r.waiting);
  visit("access", r.access);
  visit("warp", r.warp);
  visit("used_as", r.used_as);
  visit("barrier", r.barrier);
  visit("value", r.value);
  visit("limit", r.limit);
  visit("name", r.name);
  visit("cause", r.cause);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::Finding::Party> r) {
  visit("thread", r.thread);
  visit("warp", r.warp);
  visit("use", r.use);
  visit("bytes", r.bytes);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::Finding> r) {
  visit("kind", r.kind);
  visit("note", r.note);
  visit("file", r.file);
  visit("line", r.line);
  visit_optional_field(visit, "call_line", r.call_line);
  visit("count", r.count);
  visit("block", r.block);
  visit("block_size", r.block_size);
  visit("party", r.party);
  visit("other_file", r.other_file);
  visit("other_line", r.other_line);
  visit("other", r.other);
  visit("global", r.global);
  visit("other_block", r.other_block);
  visit("cluster", r.cluster);
  visit("owner", r.owner);
  visit("update", r.update);
  visit("scope", r.scope);
  visit("sizes", r.sizes);
  visit("read_only", r.read_only);
  visit("is_volatile", r.is_volatile);
  visit("stale", r.stale);
  visit("early", r.early);
  visit("one_instruction", r.one_instruction);
  visit("object", r.object);
  visit("place", r.place);
  visit("element", r.element);
  visit("offset", r.offset);
  visit("mask", r.mask);
  visit("absent", r.absent);
  visit("used_as", r.used_as);
  visit("fault", r.fault);
}

template <class V>
void visit_fields(V& visit, Ref<V, model::Occupancy> r) {
  visit("blocks", r.blocks);
  visit("warps", r.warps);
  visit("theoretical", r.theoretical);
  visit("limiter", r.limiter);
  visit("l1_bytes", r.l1_bytes);
  visit("registers", r.registers);
}

template <class V>
void visit_fields(V& visit, Ref<V, model::ResourceTime> r) {
  visit("name", r.name);
  visit("seconds", r.seconds);
  visit("share", r.share);
  visit("words", r.words);
}

template <class V>
void visit_fields(V& visit, Ref<V, model::TimePrediction> r) {
  visit("seconds", r.seconds);
  visit("kernel_seconds", r.kernel_seconds);
  visit("error", r.error);
  visit_optional_field(visit, "unreliable", r.unreliable);
  visit("resources", r.resources);
  visit("bottleneck", r.bottleneck);
  visit("runner_up", r.runner_up);
}

template <class V>
void visit_fields(V& visit, Ref<V, device::KernelFault> r) {
  visit("kind", r.kind);
  visit("file", r.file);
  visit("line", r.line);
  visit_optional_field(visit, "call_line", r.call_line);
  visit("trap", r.trap);
}

template <class V>
void visit_fields(V& visit, Ref<V, sim::AccessWithoutSassMatch> r) {
  visit("reason", r.reason);
  visit("kind", r.kind);
  visit("space", r.space);
  visit("bytes", r.bytes);
  visit("seen", r.seen);
  visit("in_ptx", r.in_ptx);
  visit("in_machine_code", r.in_machine_code);
  visit("line", r.line);
  visit("ptx_line", r.ptx_line);
}

template <class V>
void visit_fields(V& visit, Ref<V, device::AccessCountedAsPtx> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("ptx_line", r.ptx_line);
  visit("instruction", r.instruction);
  visit("why", r.why);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::RequestDetail> r) {
  visit("warp", r.warp);
  visit("number", r.number);
  visit("kind", r.kind);
  visit("bytes", r.bytes);
  visit("matrix", r.matrix);
  visit("mask", r.mask);
  visit("address", r.address);
  visit("place", r.place);
  visit("cost", r.cost);
  visit("ideal", r.ideal);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::LineDetail> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("shared", r.shared);
  visit("block", r.block);
  visit("requests_in_block", r.requests_in_block);
  visit("ptx_level", r.ptx_level);
  visit("requests", r.requests);
  visit("worst", r.worst);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::LanesWorkingBetweenBarriers> r) {
  visit("working", r.working);
  visit("line", r.line);
  visit("warp_barrier", r.warp_barrier);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::ShuffleDetail> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("warp", r.warp);
  visit("mask", r.mask);
  visit("in_range", r.in_range);
  visit("absent", r.absent);
  visit("from", r.from);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::AccessedArray> r) {
  visit("begin", r.begin);
  visit("bytes", r.bytes);
  visit("name", r.name);
  visit("parameter", r.parameter);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::LaunchDetail> r) {
  visit("arrays", r.arrays);
  visit("lines", r.lines);
  visit("block", r.block);
  visit("threads", r.threads);
  visit("steps", r.steps);
  visit("more_steps", r.more_steps);
  visit("shuffles", r.shuffles);
  visit("more_shuffles", r.more_shuffles);
}

template <class V>
void visit_fields(V& visit, Ref<V, std::pair<int, int>> r) {
  visit("first", r.first);
  visit("last", r.second);
}

template <class V>
void visit_fields(V& visit, Ref<V, counters::DetailFilter> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("except", r.except);
  visit("block", r.block);
  visit("warp", r.warp);
  visit("request", r.request);
  visit("most", r.most);
}

template <class V>
void visit_fields(V& visit, Ref<V, device::LaunchResult> r) {
  visit("fault", r.fault);
  visit("counters", r.counters);
  visit("lines", r.lines);
  visit("hazards", r.hazards);
  visit("longest_warp", r.longest_warp);
  visit("occupancy", r.occupancy);
  visit("caches", r.caches);
  visit("predicted", r.predicted);
  visit("ptx_level", r.ptx_level);
  visit("peer_accesses", r.peer_accesses);
  visit("child_launches", r.child_launches);
  visit("launch_detail", r.launch_detail);
}

// The names of an enum's values, in the enum's order.
constexpr std::array kFindingKinds{"race", "uninitialised", "warp_mask", "memory", "barrier"};
constexpr std::array kSpaces{"global", "shared", "local", "constant"};
constexpr std::array kUses{"read", "write", "update"};
constexpr std::array kValueUses{"none", "address", "branch", "atomic", "output"};
constexpr std::array kAccessKinds{"load", "store", "red", "atom"};
constexpr std::array kTrapReasons{
#define REASON(kind, id) #id,
#include "simulator/core/warp/traps.def"
};
constexpr const auto& names(counters::Finding::Kind) { return kFindingKinds; }
constexpr const auto& names(sim::AccessSpace) { return kSpaces; }
constexpr const auto& names(sim::AccessUse) { return kUses; }
constexpr const auto& names(sim::ValueUse) { return kValueUses; }
constexpr const auto& names(sim::AccessKind) { return kAccessKinds; }
constexpr const auto& names(sim::AccessWithoutSassMatch::Reason) { return sim::kUnmatchedReasons; }
constexpr const auto& names(sim::TrapKind) { return sim::kTrapKinds; }
constexpr const auto& names(sim::TrapReason) { return kTrapReasons; }

}  // namespace lab32::record
