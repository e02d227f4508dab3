// What is wrong with an access, in words, and what then: a trap, or, in a launch that keeps going,
// word to the observers and another place for the access.
#include <fmt/format.h>

#include <cstring>

#include "sim/block.h"

namespace lab32::sim {
namespace {

const char* verb(Block::Use use) {
  return use == Block::Use::read ? "reads" : use == Block::Use::write ? "writes" : "updates";
}

std::string what(const Warp& warp, int lane, Block::Use use, unsigned bytes) {
  return fmt::format("{} {} {} byte{}", warp.thread_name(lane), verb(use), bytes,
                     bytes == 1 ? "" : "s");
}

}  // namespace

void Block::raise(const Warp& warp, const Inst& in, uint32_t lanes, Mistake::Kind kind,
                  const std::function<Complaint(int)>& complain) {
  const int first = __builtin_ctz(lanes);
  if (!launch_.keep_going) {
    const Complaint c = complain(first);
    warp.trap(in, c.kind, c.message);
  }
  Mistake mistake{kind, in.site, static_cast<uint32_t>(__builtin_popcount(lanes)), ""};
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
  // A sentence costs more than the access, and only the first one is shown.
  if ((told_[in.site] & bit) == 0) {
    told_[in.site] |= bit;
    Complaint c = complain(first);
    if (kind == Mistake::Kind::memory && !first_bad_access_)
      first_bad_access_ = Trap{c.kind, c.message, in.site, true, info_.index};
    mistake.message = std::move(c.message);
  }
  for (Observer* o : observers_) o->mistake(mistake);
}

// ---------------------------------------------------------------------------------------------
// Device memory

Block::Complaint Block::complain_global(const Warp& warp, int lane, uint64_t at, unsigned bytes,
                                        Use use) const {
  const Memory& memory = *launch_.memory;
  const std::string who = what(warp, lane, use, bytes);
  const Allocation* a = memory.find(at);
  if (a && !a->freed && at + bytes <= a->end) {
    const uint64_t offset = at - a->begin;
    if (at % bytes != 0)
      return {"misaligned",
              fmt::format("{} at offset {} of `{}`: an access of {} bytes needs an address that "
                          "is a multiple of {}",
                          who, offset, a->name, bytes, bytes)};
    if (use != Use::read && a->read_only)
      return {"read-only", fmt::format("{} at offset {} of `{}`, which kernels cannot write", who,
                                       offset, a->name)};
    return {"uninitialised", fmt::format("{} at offset {} of `{}`, which nothing has written", who,
                                         offset, a->name)};
  }
  if (a && a->freed)
    return {"freed",
            fmt::format("{} at offset {} of `{}`, which was freed", who, at - a->begin, a->name)};
  if (at < 4096) return {"null", fmt::format("{} at address {:#x}: a null pointer", who, at)};
  const Allocation* near = memory.nearest(at);
  if (at < kGlobalBase || at >= kGlobalBase + memory.used() + (64u << 20) || !near)
    return {"out of bounds", fmt::format("{} at {:#x}, which is no device memory", who, at)};
  const uint64_t size = near->end - near->begin;
  if (at >= near->begin) {
    const uint64_t past = at + bytes - near->end;
    return {"out of bounds",
            fmt::format("{} at offset {} of `{}`: {} byte{} past its end ({} bytes)", who,
                        at - near->begin, near->name, past, past == 1 ? "" : "s", size)};
  }
  return {"out of bounds",
          fmt::format("{} {} byte{} before the start of `{}`", who, near->begin - at,
                      near->begin - at == 1 ? "" : "s", near->name)};
}

void Block::bad_global(const Warp& warp, const Inst& in, uint64_t* address, uint32_t lanes,
                       unsigned bytes, Use use) {
  // What lies in a lane's sink, and which complaint is the first, must not depend on host threads.
  if (launch_.keep_going && guard_) throw OrderMatters{};
  raise(warp, in, lanes, Mistake::Kind::memory,
        [&](int l) { return complain_global(warp, l, address[l], bytes, use); });
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    address[l] = kGlobalBase + static_cast<uint64_t>(l) * kSinkBytes;
    std::memset(launch_.memory->host(address[l]), 0xff, kSinkBytes);
  }
}
static_assert(kWarpSize * 16 <= kMemoryStart, "the sinks lie before the first allocation");

void Block::unwritten_global(const Warp& warp, const Inst& in, const uint64_t* address,
                             uint32_t lanes, unsigned bytes, Use use) {
  raise(warp, in, lanes, Mistake::Kind::uninitialised,
        [&](int l) { return complain_global(warp, l, address[l], bytes, use); });
  // An atomic has written by now; its next one shall not be told again.
  if (use == Use::update) launch_.memory->mark_lanes(address, lanes, bytes);
}

// ---------------------------------------------------------------------------------------------
// Shared memory

Block::Complaint Block::complain_shared(const Warp& warp, int lane, uint64_t offset, unsigned bytes,
                                        Use use) const {
  const uint64_t size = launch_.shared_bytes;
  // Addresses of 32 bits wrap: what lies before the start comes out close to 2^32.
  const int64_t at = offset >> 32 == 0 ? static_cast<int32_t>(static_cast<uint32_t>(offset))
                                       : static_cast<int64_t>(offset);
  const std::string who = what(warp, lane, use, bytes);
  if (at >= 0 && offset + bytes <= size)
    return {"misaligned",
            fmt::format("{} at offset {} of shared memory: an access of {} bytes needs an offset "
                        "that is a multiple of {}",
                        who, at, bytes, bytes)};
  if (size == 0)
    return {"out of bounds", fmt::format("{} of shared memory, but the block has none", who)};
  if (at < 0)
    return {"out of bounds", fmt::format("{} {} byte{} before the start of shared memory", who, -at,
                                         at == -1 ? "" : "s")};
  const uint64_t past = offset + bytes - size;
  return {"out of bounds",
          fmt::format("{} at offset {} of shared memory: {} byte{} past its end ({} bytes)", who,
                      at, past, past == 1 ? "" : "s", size)};
}

void Block::bad_shared(const Warp& warp, const Inst& in, uint64_t* offset, uint32_t mask,
                       unsigned bytes, Use use) {
  const uint64_t size = launch_.shared_bytes;
  uint32_t wrong = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t at = offset[__builtin_ctz(r)];
    if (at > size || at + bytes > size || at % bytes != 0) wrong |= r & (~r + 1);
  }
  raise(warp, in, wrong, Mistake::Kind::memory,
        [&](int l) { return complain_shared(warp, l, offset[l], bytes, use); });
  for (uint32_t r = wrong; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    offset[l] = shared_sink() + static_cast<uint64_t>(l) * kSinkBytes;
    std::memset(shared() + offset[l], 0xff, kSinkBytes);
  }
}

// ---------------------------------------------------------------------------------------------
// Local memory

void Block::check_local(Warp& warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                        bool store) {
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t a = offset[l], top = warp.local_top();
    const bool outside = a < kLocalStart || a > top || a + bytes > top;
    if (outside || a % bytes != 0) {
      raise(warp, in, 1u << l, Mistake::Kind::memory, [&](int) {
        return outside
                   ? Complaint{"out of bounds",
                               fmt::format("{} {} {} bytes at offset {} of its local memory, which "
                                           "holds {} bytes",
                                           warp.thread_name(l), store ? "writes" : "reads", bytes,
                                           static_cast<int64_t>(a) - kLocalStart,
                                           top - kLocalStart)}
                   : Complaint{"misaligned",
                               fmt::format("{} accesses {} bytes at offset {} of its local memory, "
                                           "which is no multiple of {}",
                                           warp.thread_name(l), bytes, a - kLocalStart, bytes)};
      });
      offset[l] = 0;  // before the first variable: a null pointer's place
      std::memset(warp.local(l), 0xff, kSinkBytes);
      continue;
    }
    uint8_t* written = warp.local_written(l) + a;
    if (store) {
      std::memset(written, 1, bytes);
    } else if (checks_reads_ && std::memchr(written, 0, bytes)) {
      raise(warp, in, 1u << l, Mistake::Kind::uninitialised, [&](int) {
        return Complaint{"uninitialised",
                         fmt::format("{} reads {} bytes of a local array that it has not written",
                                     warp.thread_name(l), bytes)};
      });
    }
  }
}

}  // namespace lab32::sim
