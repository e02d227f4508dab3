#include "simulator/observers/races/finding.h"

#include <fmt/format.h>

#include "simulator/core/warp/trap.h"

namespace lab32::counters {
namespace {

using Use = sim::AccessUse;

std::string thread_name_in_block(const Finding& f, const Finding::Party& party) {
  const auto [x, y, z] = party.thread;
  if (f.block_size[1] == 1 && f.block_size[2] == 1) return fmt::format("thread {}", x);
  return f.block_size[2] == 1 ? fmt::format("thread ({},{})", x, y)
                              : fmt::format("thread ({},{},{})", x, y, z);
}

std::string block_name(const Finding::Index3& block) {
  const auto [x, y, z] = block;
  if (y == 0 && z == 0) return fmt::format("block {}", x);
  return z == 0 ? fmt::format("block ({},{})", x, y) : fmt::format("block ({},{},{})", x, y, z);
}

// "tile[17]", or "the shared byte 68" if no variable has this offset.
std::string shared_place(const Finding& f) {
  if (!f.place.empty()) return f.place;
  if (f.object.empty()) return fmt::format("the shared byte {}", f.offset);
  return f.element ? fmt::format("{}[{}]", f.object, *f.element) : f.object;
}

std::string block_name(const Finding& f) { return block_name(f.block); }

std::string line_number_text(const Finding& f) {
  return f.line == 0 ? "an unknown line" : fmt::format("line {}", f.line);
}

std::string other_line_name(const Finding& f) {
  if (f.other_line == 0) return "an unknown line";
  return f.other_file == f.file ? fmt::format("line {}", f.other_line)
                                : fmt::format("line {} of {}", f.other_line, f.other_file);
}

bool same_line(const Finding& f) { return f.line == f.other_line && f.file == f.other_file; }
bool same_block(const Finding& f) { return f.block == f.other_block; }
bool same_warp(const Finding& f) {
  return f.party.warp == f.other.warp && (!f.cluster || same_block(f));
}

std::string lane_list(uint32_t mask) {
  std::string list;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    uint32_t last = lane;
    while (last < 31 && (mask >> (last + 1) & 1) != 0) ++last;
    if (!list.empty()) list += ", ";
    list += last == lane ? fmt::format("{}", lane) : fmt::format("{}-{}", lane, last);
    lane = last;
  }
  return list;
}

const char* past_tense(Use use) {
  return use == Use::read ? "read it" : use == Use::write ? "wrote it" : "updated it atomically";
}

const char* present_tense(Use use) {
  return use == Use::read ? "reads it" : use == Use::write ? "writes it" : "updates it atomically";
}

// "out[0]". An array without a name in the source gives "element 0 of cudaMalloc no. 1".
std::string array_place(const Finding& f) {
  if (!f.place.empty()) return f.place;
  if (!f.element) return f.object;
  const bool is_name = f.object.find(' ') == std::string::npos;
  return fmt::format(is_name ? "{0}[{1}]" : "element {1} of {0}", f.object, *f.element);
}

constexpr const char* kVolatile =
    "; `volatile` makes no access atomic and orders none: the result depends on which came first";

// Says what would order two accesses to device memory.
std::string missing_order(const Finding& f) {
  if (f.read_only)
    return "; __ldg() and `const __restrict__` are only for data that no thread writes "
           "during the launch, whatever lies between";
  if (f.sizes)
    return fmt::format(
        "; atomics of {} and of {} bytes are not atomic to each other: access a "
        "place by atomics of one size",
        f.other.bytes, f.party.bytes);
  if (f.scope)
    return "; one of the atomics has block scope only (_block, or thread_scope_block), so it is "
           "not atomic for other blocks";
  const bool atomic = (f.other.use == Use::update) != (f.party.use == Use::update);
  const std::string only_atomics = atomic ? "; an atomic is safe only against other atomics" : "";
  if (!same_block(f))
    return (f.update ? "; blocks run in any order and at the same time, so one overwrites what "
                       "another has added: use an atomic, such as atomicAdd"
                     : "; nothing orders the blocks of a launch: use an atomic, or a fence "
                       "(__threadfence()) and an atomic flag, or a second launch") +
           only_atomics;
  if (f.update)
    return "; threads that read, change and write one word overwrite each other's results: use an "
           "atomic";
  return (same_warp(f) ? ", and no __syncwarp() lies between (the lanes of a warp are not in step)"
                       : ", and no __syncthreads() lies between") +
         only_atomics;
}

// Describes a load that may miss a store, although both are atomic.
std::string stale_value_text(const Finding& f, const std::string& what, const std::string& store,
                             const std::string& load) {
  if (f.update)
    return fmt::format(
        "lost update of {}: on {}, {} may read it before {} has stored there, and overwrites that "
        "value; a load and a store are two steps: use one atomic update, such as atomicAdd",
        what, line_number_text(f), load, store);
  return fmt::format(
      "stale value of {}: {} {} on {}, but {} may read an older value on {}; is there a fence "
      "(__threadfence()) between the store and the flag or ticket that announces it, and between "
      "that and the load?",
      what, store, past_tense(f.other.use), other_line_name(f), load, line_number_text(f));
}

std::string global_race_text(const Finding& f) {
  const auto name = [&](const Finding::Party& party, const Finding::Index3& block) {
    return fmt::format("{} of {}", thread_name_in_block(f, party), block_name(block));
  };
  const unsigned bytes = std::min(f.party.bytes, f.other.bytes);
  const std::string what = f.object.empty() ? "device memory"
                                            : fmt::format("{} ({} byte{})", array_place(f), bytes,
                                                          bytes == 1 ? "" : "s");
  const std::string a = name(f.other, f.other_block), b = name(f.party, f.block);
  if (f.stale) return stale_value_text(f, what, a, b);
  if (f.note)
    return fmt::format(
        "{} and {} both store the same value in {}: harmless, but one thread is enough", a, b,
        what);
  if (f.one_instruction)
    return fmt::format(
        "race on {}: on {}, {} and {} store different values at once, and which one "
        "remains is undefined; let one thread store, or use an atomic",
        what, line_number_text(f), a, b);
  return fmt::format("race on {}: {} {} on {}, {} {} on {}{}{}", what, a, past_tense(f.other.use),
                     other_line_name(f), b, present_tense(f.party.use), line_number_text(f),
                     f.is_volatile ? kVolatile : "", missing_order(f));
}

std::string race_text(const Finding& f) {
  if (f.global) return global_race_text(f);
  const std::string what = shared_place(f), block = block_name(f.cluster ? f.owner : f.block);
  std::string a = thread_name_in_block(f, f.other), b = thread_name_in_block(f, f.party);
  if (f.cluster && (!same_block(f) || f.owner != f.block)) {
    a += " of " + block_name(f.other_block);
    b += " of " + block_name(f.block);
  }
  if (f.early)
    return fmt::format(
        "race on {} (shared, {}): {} {} on {}, but the copy begun on {} is not waited for", what,
        block, b, present_tense(f.party.use), line_number_text(f), other_line_name(f));
  if (f.note) {
    return fmt::format(
        "{} and {} both store the same value in {} (shared, {}): harmless, but one thread is "
        "enough",
        a, b, what, block);
  }
  if (f.one_instruction) {
    return fmt::format(
        "race on {} (shared, {}): on {}, {} and {} store different values at once, and which one "
        "remains is undefined; let one thread store, or use an atomic",
        what, block, line_number_text(f), a, b);
  }
  std::string text =
      fmt::format("race on {} (shared, {}): {} {} on {}, {} {} on {}{}, and ", what, block, a,
                  past_tense(f.other.use), other_line_name(f), b, present_tense(f.party.use),
                  line_number_text(f), f.is_volatile ? kVolatile : "");
  if (f.cluster && !same_block(f)) {
    text += "no cluster.sync() lies between";
  } else if (!same_warp(f)) {
    text += "no __syncthreads() lies between";
  } else if (same_line(f)) {
    text +=
        "nothing keeps the lanes of a warp in step; read into a register, __syncwarp(), then write";
  } else {
    text += "no __syncwarp() lies between (the lanes of a warp are not in step)";
  }
  if ((f.other.use == Use::update) != (f.party.use == Use::update)) {
    text += "; an atomic is safe only against other atomics";
  }
  return text;
}

// The usual fix of an error that the simulator itself has found.
const char* usual_fix_of_fault(const sim::TrapFacts& fault) {
  using Reason = sim::TrapReason;
  switch (fault.reason) {
    case Reason::null_pointer:
      return "did its allocation fail, or was it never allocated?";
    case Reason::freed:
      return "free memory after the last kernel that uses it";
    case Reason::misaligned:
      return "a vector type's address is a multiple of its size";
    case Reason::not_mapped:
      return "call cuMemMap() and cuMemSetAccess() before the kernel, and cuMemUnmap() after it";
    case Reason::not_enabled:
      return "call cudaDeviceEnablePeerAccess() on the device that runs the kernel, or "
             "cudaMemPoolSetAccess() for a pool";
    case Reason::read_only:
      return "a kernel cannot write constants and parameters";
    case Reason::no_such_memory:
      if (fault.access && fault.access->space == sim::AccessSpace::global)
        return "is it the address of a host variable, or is an index wrong?";
      break;
    case Reason::lane_missing:
    case Reason::lane_not_named:
      return "all lanes that the mask names must reach it, and no others";
    case Reason::threads_missing:
    case Reason::barrier_skipped:
      return "every thread of the block must reach a barrier: move it out of the condition";
    case Reason::two_barriers:
      return "all threads of a warp must reach the same barrier: move it out of the condition";
    case Reason::no_such_block:
      return "a cluster's blocks have the ranks 0 to num_blocks() - 1";
    case Reason::block_not_started:
      return "call cluster.sync() before the first access to another block";
    case Reason::block_exited:
    case Reason::block_may_exit:
      return "call cluster.sync() at the end of the kernel, so that all blocks stay until then";
    case Reason::not_own_block:
      return "use map_shared_rank() and a generic access, or .shared::cluster";
    case Reason::cluster_arrives_twice:
    case Reason::cluster_waits_first:
      return "each thread arrives once and then waits once";
    case Reason::proxy_fence:
      return "the writing threads need fence.proxy.async.shared::cta, then a barrier, before the "
             "copy";
    case Reason::bulk_overwritten:
    case Reason::bulk_at_end:
      return "the copying thread needs cp.async.bulk.commit_group and "
             "cp.async.bulk.wait_group.read, and a barrier before other threads write there";
    case Reason::unwritten:
      return fault.access && fault.access->space == sim::AccessSpace::local
                 ? "give its elements a value first"
                 : "copy or set the array before the launch";
    default:
      break;
  }
  return "compare the index with the number of elements before the access";
}

// " (called on line 42)" if the line belongs to an inlined function, else "".
std::string call_line_text(const Finding& f) {
  return f.call_line == 0 ? "" : fmt::format(" (called on line {})", f.call_line);
}

std::string absent_lanes_message(const Finding& f) {
  const bool one = (f.absent & (f.absent - 1)) == 0;
  return fmt::format(
      "in warp {} of {}, the operation{} with mask 0x{:08x} needs lane{} {}, which {} not take "
      "part, so its result is undefined; let all lanes of the mask reach it, or name (and read) "
      "only those that do",
      f.party.warp, block_name(f), call_line_text(f), f.mask, one ? "" : "s", lane_list(f.absent),
      one ? "does" : "do");
}

// True if the sentence contains the line numbers.
bool names_its_lines(const Finding& f) { return f.kind == Finding::Kind::race && !f.note; }

std::string finding_sentence(const Finding& f) {
  if (f.fault)
    return fmt::format("{}{}; {}", sim::describe(*f.fault), call_line_text(f),
                       usual_fix_of_fault(*f.fault));
  if (f.kind == Finding::Kind::race) return race_text(f);
  if (f.kind == Finding::Kind::warp_mask) return absent_lanes_message(f);
  const bool other = f.cluster && f.owner != f.block;
  return fmt::format("{} of {} reads {}{}, which no thread of the {} has written{}",
                     thread_name_in_block(f, f.party), block_name(f), shared_place(f),
                     other ? " of " + block_name(f.owner) : "", f.cluster ? "cluster" : "block",
                     sim::words_of_value_use(f.used_as));
}

}  // namespace

std::string describe(const Finding& f) {
  if (names_its_lines(f)) return finding_sentence(f);
  if (f.kind == Finding::Kind::race && !same_line(f))
    return fmt::format("{} and {}: {}", other_line_name(f), line_number_text(f),
                       finding_sentence(f));
  return line_number_text(f) + ": " + finding_sentence(f);
}

std::string describe_without_line(const Finding& f) {
  const bool two = f.kind == Finding::Kind::race && !same_line(f);
  return two || f.line == 0 ? describe(f) : finding_sentence(f);
}

std::string usual_fix(const Finding& f) {
  if (f.global) return "";
  if (f.early)
    return "let the thread that began the copy wait for it, then put a barrier before other "
           "threads use the data";
  if (f.kind == Finding::Kind::race && !f.note && f.cluster && !same_block(f))
    return "call cluster.sync() between the two accesses; in a loop also at its end, before the "
           "next round overwrites what other threads still read";
  if (f.kind == Finding::Kind::race && !f.note && !f.one_instruction &&
      !(same_warp(f) && same_line(f)))
    return "put a barrier that both threads pass between the two accesses; in a loop put another "
           "at its end, before the next round overwrites what other threads still read";
  if (f.kind == Finding::Kind::uninitialised && !f.fault)
    return "let the threads write all of it, including the tail of the last block, and put a "
           "barrier after that";
  return "";
}

RaceWords words_of_race(const Finding& f) {
  RaceWords words;
  const Finding::Index3& other_block = f.global || f.cluster ? f.other_block : f.block;
  words.first = thread_name_in_block(f, f.other) + " of " + block_name(other_block);
  words.second = thread_name_in_block(f, f.party) + " of " + block_name(f.block);
  words.place = f.global ? array_place(f) : shared_place(f);
  if (f.early)
    words.missing = "a wait for the copy";
  else if (f.read_only)
    words.missing = "an ordinary load";
  else if (f.sizes)
    words.missing = "atomics of one size";
  else if (f.scope)
    words.missing = "an atomic of a wider scope";
  else if (f.stale && !f.update)
    words.missing = "a fence (__threadfence())";
  else if (f.update || f.one_instruction)
    words.missing = "an atomic";
  else if (f.global && !same_block(f))
    words.missing = "an order of the blocks";
  else if (f.cluster && !same_block(f))
    words.missing = "cluster.sync()";
  else
    words.missing = same_warp(f) ? "__syncwarp()" : "__syncthreads()";
  return words;
}

}  // namespace lab32::counters
