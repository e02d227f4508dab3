#include "simulator/core/warp/trap.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace lab32::sim {

namespace {

constexpr const char* kWords[] = {
#define KIND(id, name, words) words,
#include "simulator/core/warp/traps.def"
};

struct TrapReasonRow {
  const char* name;
  TrapKind kind;
};
constexpr TrapReasonRow kTrapReasons[] = {
#define REASON(kind, id) {#id, TrapKind::kind},
#include "simulator/core/warp/traps.def"
};

std::string name_of(const std::optional<BlockAndThreadIndex>& id) {
  const auto [block, thread] = id.value_or(BlockAndThreadIndex{});
  return fmt::format("thread ({},{},{}) of block ({},{},{})", thread[0], thread[1], thread[2],
                     block[0], block[1], block[2]);
}

std::string thread_index_text(const std::optional<BlockAndThreadIndex>& id) {
  const BlockAndThreadIndex t = id.value_or(BlockAndThreadIndex{});
  return fmt::format("thread ({},{},{})", t.thread[0], t.thread[1], t.thread[2]);
}

std::string warp_name(const TrapFacts& f) {
  return fmt::format("warp {} of block {}", f.warp.value_or(WarpMaskMismatch{}).warp, f.block);
}

// "lane 5 waits", "lanes 0 to 15 and 17 wait".
std::string words_of_waiting_lanes(uint32_t mask) {
  std::vector<std::string> ranges;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    int last = lane;
    while (last < 31 && (mask >> (last + 1) & 1) != 0) ++last;
    ranges.push_back(last == lane
                         ? fmt::format("{}", lane)
                         : fmt::format("{} {} {}", lane, last == lane + 1 ? "and" : "to", last));
    lane = last;
  }
  std::string list = ranges.empty() ? "" : ranges[0];
  for (size_t i = 1; i < ranges.size(); ++i)
    list += (i + 1 == ranges.size() ? " and " : ", ") + ranges[i];
  return __builtin_popcount(mask) == 1 ? fmt::format("lane {} waits", list)
                                       : fmt::format("lanes {} wait", list);
}

std::string bytes_of(uint64_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

const char* access_verb(AccessUse use) {
  return use == AccessUse::read ? "reads" : use == AccessUse::write ? "writes" : "updates";
}

// " of block 2 of its cluster" if the memory belongs to another block; "" if it is the block's own.
std::string words_of_other_block(const FaultyMemoryAccess& a) {
  return a.rank == FaultyMemoryAccess::kOwnBlock
             ? ""
             : fmt::format(" of block {} of its cluster", a.rank);
}

// The accessed object in a message: "`in`", "shared memory", "its local memory".
std::string name_of_object(const FaultyMemoryAccess& a) {
  if (a.space == AccessSpace::shared && a.object.empty())
    return "shared memory" + words_of_other_block(a);
  return a.space == AccessSpace::local ? "its local memory"
                                       : "`" + a.object + "`" + words_of_other_block(a);
}

// The accessed elements in a message: "in[7]", "in[4] to in[7]", "s[1].mass"; empty if the type is
// unknown.
std::string element_names_of(const FaultyMemoryAccess& a) {
  if (!a.place.empty()) return a.place;
  const auto element = static_cast<int64_t>(a.element);
  if (element == 0 || a.offset % element != 0 || a.bytes % a.element != 0) return "";
  const int64_t first = a.offset / element, last = first + a.bytes / element - 1;
  const std::string one = fmt::format("{}[{}]", a.object, first);
  return last == first ? one : fmt::format("{} to {}[{}]", one, a.object, last);
}

// Words that say where the array ends: "the last is s[63]", or how far past the end the access is.
std::string words_of_array_end(const FaultyMemoryAccess& a) {
  if (!a.last_place.empty()) return "the last is " + a.last_place;
  if (a.element == 0)
    return fmt::format("{} past the end of `{}`",
                       bytes_of(static_cast<uint64_t>(a.offset) + a.bytes - a.size), a.object);
  const uint64_t count = a.size / a.element;
  if (count == 0) return "`" + a.object + "` has no elements";
  return fmt::format("the last is {}[{}]", a.object, count - 1);
}

std::string describe_access(const TrapFacts& f, const FaultyMemoryAccess& a) {
  const std::string elements = element_names_of(a);
  if (!elements.empty()) {
    const std::string what = fmt::format("{} {} {}{}", name_of(f.thread), access_verb(a.use),
                                         elements, words_of_other_block(a));
    if (f.reason == TrapReason::past_end) return what + "; " + words_of_array_end(a);
    if (f.reason == TrapReason::before_start)
      return fmt::format("{}, before the start of `{}`", what, a.object);
    if (f.reason == TrapReason::unwritten)
      return what + ", which nothing has written" + words_of_value_use(f.used_as);
  }
  const std::string object = name_of_object(a);
  const std::string what =
      fmt::format("{} {} {}", name_of(f.thread), access_verb(a.use), bytes_of(a.bytes));
  const std::string where = fmt::format("{} at offset {} of {}", what, a.offset, object);
  switch (f.reason) {
    case TrapReason::past_end:
      return fmt::format("{}: {} past its end ({} bytes)", where,
                         bytes_of(static_cast<uint64_t>(a.offset) + a.bytes - a.size), a.size);
    case TrapReason::before_start:
      return fmt::format("{} {} before the start of {}", what,
                         bytes_of(static_cast<uint64_t>(-a.offset)), object);
    case TrapReason::no_such_memory:
      if (a.space == AccessSpace::shared) return what + " of shared memory, but the block has none";
      return fmt::format("{} at {:#x}, which is not device memory", what, a.address);
    case TrapReason::outside_local:
      return fmt::format("{}, which holds {} bytes", where, a.size);
    case TrapReason::null_pointer:
      return fmt::format("{} at address {:#x}: a null pointer", what, a.address);
    case TrapReason::freed:
      return where + ", which was freed";
    case TrapReason::not_mapped:
      return where + ", where no memory is mapped with this access";
    case TrapReason::read_only:
      return where + ", which kernels cannot write";
    case TrapReason::not_enabled:
      return where + ", memory of another device to which this device has no access";
    case TrapReason::misaligned:
      if (a.space == AccessSpace::local)
        return fmt::format(
            "{} accesses {} bytes at offset {} of its local memory, which is not a multiple of {}",
            name_of(f.thread), a.bytes, a.offset, a.bytes);
      return fmt::format("{}: an access of {} bytes needs an {} that is a multiple of {}", where,
                         a.bytes, a.space == AccessSpace::global ? "address" : "offset", a.bytes);
    default:  // unwritten
      return where + ", which nothing has written" + words_of_value_use(f.used_as);
  }
}

// Describes a fault in an access to another block's shared memory.
std::string describe_remote_shared_access(const TrapFacts& f, const FaultyMemoryAccess& a) {
  const std::string elements = element_names_of(a);
  const std::string what =
      elements.empty()
          ? fmt::format("{} {} {} at offset {} of {}", name_of(f.thread), access_verb(a.use),
                        bytes_of(a.bytes), a.offset, name_of_object(a))
          : fmt::format("{} {} {}{}", name_of(f.thread), access_verb(a.use), elements,
                        words_of_other_block(a));
  switch (f.reason) {
    case TrapReason::no_such_block:
      return fmt::format("{}, which has {} block{}", what, f.limit, f.limit == 1 ? "" : "s");
    case TrapReason::block_exited:
      return what + ", which has exited";
    case TrapReason::not_own_block:
      return what + " by an instruction that reaches its own block's only (.shared::cta)";
    case TrapReason::block_not_started:
      return what + ", and nothing makes sure that this block has started";
    default:
      return what + ", and nothing keeps this block from exiting before";
  }
}

}  // namespace

const char* words_of_value_use(ValueUse use) {
  switch (use) {
    case ValueUse::address:
      return "; the value becomes an address";
    case ValueUse::branch:
      return "; the value decides a branch";
    case ValueUse::atomic:
      return "; the value goes into an atomic";
    case ValueUse::output:
      return "; the value is stored in device memory";
    case ValueUse::none:
      break;
  }
  return "";
}

TrapKind kind_of(TrapReason reason) { return kTrapReasons[static_cast<size_t>(reason)].kind; }

bool is_nonfatal_trap(TrapKind kind) {
  switch (kind) {
    case TrapKind::out_of_bounds:
    case TrapKind::misaligned:
    case TrapKind::null:
    case TrapKind::freed:
    case TrapKind::read_only:
    case TrapKind::peer:
    case TrapKind::cluster:
    case TrapKind::uninitialised:
    case TrapKind::barrier:
    case TrapKind::shuffle:
      return true;
    case TrapKind::instruction_limit:
    case TrapKind::deadlock:
    case TrapKind::trap:
    case TrapKind::assertion:
    case TrapKind::stack:
    case TrapKind::launch:
    case TrapKind::input:
    case TrapKind::output:
    case TrapKind::time_limit:
      break;
  }
  return false;
}

const char* to_string(TrapKind kind) { return kTrapKinds[static_cast<size_t>(kind)]; }
const char* words(TrapKind kind) { return kWords[static_cast<size_t>(kind)]; }
const char* to_string(TrapReason reason) { return kTrapReasons[static_cast<size_t>(reason)].name; }

std::string describe(const TrapFacts& f) {
  const WarpMaskMismatch warp = f.warp.value_or(WarpMaskMismatch{});
  switch (f.reason) {
    case TrapReason::past_end:
    case TrapReason::before_start:
    case TrapReason::no_such_memory:
    case TrapReason::outside_local:
    case TrapReason::not_mapped:
    case TrapReason::misaligned:
    case TrapReason::null_pointer:
    case TrapReason::freed:
    case TrapReason::read_only:
    case TrapReason::not_enabled:
    case TrapReason::unwritten:
      return describe_access(f, f.access.value_or(FaultyMemoryAccess{}));
    case TrapReason::no_such_block:
    case TrapReason::block_exited:
    case TrapReason::not_own_block:
    case TrapReason::block_not_started:
    case TrapReason::block_may_exit:
      return describe_remote_shared_access(f, f.access.value_or(FaultyMemoryAccess{}));
    case TrapReason::outside_surface:
      return fmt::format("{} {} a surface at {}; the array has {}", name_of(f.thread),
                         access_verb(f.access.value_or(FaultyMemoryAccess{}).use), f.name, f.cause);
    case TrapReason::threads_missing: {
      const std::string others = f.value == 1 ? " waits"
                                              : fmt::format(" and {} other thread{} wait",
                                                            f.value - 1, f.value == 2 ? "" : "s");
      return fmt::format(
          "block {}: {}{} at this barrier, which needs {} threads; the others never reach it{}",
          f.block, thread_index_text(f.thread), others, f.limit,
          f.cause.empty() ? "" : " (" + f.cause + ")");
    }
    case TrapReason::two_barriers:
      return fmt::format("{}: {} at this barrier, and {} at {}", warp_name(f),
                         words_of_waiting_lanes(warp.lanes), words_of_waiting_lanes(warp.mask),
                         f.value == 0 ? "another" : fmt::format("the one on line {}", f.value));
    case TrapReason::barrier_skipped:
      return fmt::format("{} exits the kernel without reaching this barrier, where {} waits",
                         name_of(f.thread), name_of(f.waiting));
    case TrapReason::counts_differ:
      return fmt::format("{} waits for {} threads at barrier {}, where others wait for {}",
                         name_of(f.thread), f.value, f.barrier, f.limit);
    case TrapReason::no_such_barrier:
      return fmt::format("{} uses barrier {}; a block has barriers 0 to 15", name_of(f.thread),
                         f.barrier);
    case TrapReason::count_not_of_warps:
      return fmt::format("a barrier for {} threads: the count must be a multiple of 32", f.value);
    case TrapReason::mbarrier_count:
      return fmt::format("{} makes an mbarrier for {} arrivals; 1 to {} are possible",
                         name_of(f.thread), f.value, f.limit);
    case TrapReason::mbarrier_bytes:
      return fmt::format("{} lets an mbarrier wait for {} bytes; {} are possible",
                         name_of(f.thread), f.value, f.limit);
    case TrapReason::proxy_fence:
      return fmt::format(
          "{} has the copy engine read {} at offset {} of {}, which {} has written, and the engine "
          "need not see that: there is no fence.proxy.async between",
          name_of(f.thread), bytes_of(f.access->bytes), f.access->offset, name_of_object(*f.access),
          thread_index_text(f.waiting));
    case TrapReason::bulk_overwritten:
      return fmt::format(
          "{} writes {} at offset {} of {}, which a copy that {} has issued may still read",
          name_of(f.thread), bytes_of(f.access->bytes), f.access->offset, name_of_object(*f.access),
          thread_index_text(f.waiting));
    case TrapReason::bulk_at_end:
      return fmt::format(
          "the block ends while a copy that {} has issued may still read {} at offset {} of {}",
          name_of(f.thread), bytes_of(f.access->bytes), f.access->offset,
          name_of_object(*f.access));
    case TrapReason::bulk_bytes:
      return fmt::format("{} copies {} in bulk; it must be a multiple of 16", name_of(f.thread),
                         bytes_of(f.value));
    case TrapReason::tensor_map:
      return fmt::format("{} uses the tensor map at {:#x}, which {}", name_of(f.thread), f.value,
                         f.cause);
    case TrapReason::tensor_coordinate:
      return fmt::format("{} copies a box of a tensor from {} on; {}", name_of(f.thread),
                         static_cast<int64_t>(f.value), f.cause);
    case TrapReason::mbarrier_arrivals:
      return fmt::format("{} arrives {} times at an mbarrier that waits for {}", name_of(f.thread),
                         f.value, f.limit);
    case TrapReason::mbarrier_completed:
      return fmt::format(
          "{} ends a phase of an mbarrier with an arrival that says it does not (.noComplete)",
          name_of(f.thread));
    case TrapReason::cluster_arrives_twice:
      return fmt::format(
          "{} arrives at the cluster's barrier again and has not waited there since it last did",
          name_of(f.thread));
    case TrapReason::cluster_waits_first:
      return fmt::format("{} waits at the cluster's barrier and has not arrived there",
                         name_of(f.thread));
    case TrapReason::lane_missing:
      return fmt::format(
          "{}: the mask {:#010x} names lane {}, which never reaches this operation; {} for it",
          warp_name(f), warp.mask, warp.lane, words_of_waiting_lanes(warp.lanes));
    case TrapReason::lane_not_named:
      return fmt::format(
          "{} executes a warp operation whose mask {:#010x} does not name its own lane {}",
          name_of(f.thread), warp.mask, warp.lane);
    case TrapReason::warp_divided:
      return fmt::format("{} executes {} with {} of its 32 lanes; it needs all of them",
                         warp_name(f), f.name, __builtin_popcount(warp.lanes));
    case TrapReason::instruction_limit:
      return fmt::format("{} still runs after {} instructions", warp_name(f), f.limit);
    case TrapReason::endless_loop:
      return fmt::format(
          "{} repeats this loop for ever: nothing changes from one round to the next",
          warp_name(f));
    case TrapReason::launch_limit:
      return fmt::format("the launch still runs after {} instructions of its warps together",
                         grouped_digits(f.limit));
    case TrapReason::launch_seconds:
      return fmt::format("the launch still runs after {} s of simulation", f.limit);
    case TrapReason::blocks_wait: {
      std::string text = f.value == 1 ? fmt::format("block {} waits", f.block)
                                      : fmt::format("{} blocks, the first of them block {}, wait",
                                                    f.value, f.block);
      text += " for something in device memory that none of them will write";
      if (f.limit != 0)
        text += fmt::format(
            " (no more than {} fit the device at once: block {} starts when one of them ends)",
            f.value, f.limit);
      return text;
    }
    case TrapReason::block_stuck:
      return fmt::format("none of the threads of block {} can go on", f.block);
    case TrapReason::trap_instruction:
      return fmt::format("{} executes {}", name_of(f.thread), f.name);
    case TrapReason::jump_table:
      return fmt::format("{} jumps to entry {} of a table of {}", name_of(f.thread), f.value,
                         f.limit);
    case TrapReason::no_function:
      return fmt::format("{} calls through the pointer {:#x}, which is not a function",
                         name_of(f.thread), f.value);
    case TrapReason::unsupported_function:
      return fmt::format("{} calls `{}`, which the simulator cannot run: {}", name_of(f.thread),
                         f.name, f.cause);
    case TrapReason::not_allocated:
      return fmt::format("{} frees {:#x}, which malloc() has not given", name_of(f.thread),
                         f.value);
    case TrapReason::no_condition:
      return fmt::format(
          "{} calls cudaGraphSetConditional() for {:#x}, which is not a handle of a running "
          "graph",
          name_of(f.thread), f.value);
    case TrapReason::freed_twice:
      return fmt::format("{} frees {:#x}, which was freed before", name_of(f.thread), f.value);
    case TrapReason::texture_object:
      return fmt::format("{} uses {} object {}, which {}", name_of(f.thread), f.name, f.value,
                         f.cause);
    case TrapReason::assertion:
      return fmt::format("{}: assertion `{}` failed (line {})", name_of(f.thread), f.name, f.value);
    case TrapReason::local_memory:
      return fmt::format("the kernel needs {} KiB of local memory per thread; {} are possible",
                         f.value, f.limit);
    case TrapReason::call_depth:
      return fmt::format(
          "{}: the functions called need more than {} KiB of local memory per thread: a recursion "
          "without end?",
          warp_name(f), f.limit);
    case TrapReason::block_local_memory:
    case TrapReason::block_call_memory:
      return fmt::format(
          "the threads of block {} need {} bytes of local memory together; {} are possible here{}",
          f.block, grouped_digits(f.value), grouped_digits(f.limit),
          f.reason == TrapReason::block_call_memory ? ": a recursion without end?" : "");
  }
  return "";
}

}  // namespace lab32::sim
