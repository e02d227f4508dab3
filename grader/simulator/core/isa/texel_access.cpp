#include "simulator/core/isa/texel_access.h"

#include <cstring>

#include "simulator/core/warp/memory_lanes.h"

namespace lab32::sim {

void bad_object(const Exec& x, const Inst& in, const TextureOp& op, const std::string& why) {
  const int lane = __builtin_ctz(x.mask);
  TrapFacts facts = x.warp->block().facts(TrapReason::texture_object, x.warp->index(), lane);
  facts.name = op.of_surface() ? "surface" : "texture";
  facts.value = load_lane<uint64_t>(x.regs + op.object.offset, lane);
  facts.cause = why;
  throw Trap{std::move(facts), in.site};
}

const TextureObject& find_object(const Exec& x, const Inst& in, const TextureOp& op,
                                 uint64_t number) {
  const Memory& memory = *x.warp->block().launch().memory;
  const TextureObject* const object = memory.textures().find(number);
  if (object == nullptr) bad_object(x, in, op, "was never made");
  if (object->destroyed) bad_object(x, in, op, "was destroyed");
  if (object->device != memory.device()) bad_object(x, in, op, "was made for another device");
  return *object;
}

void report_texels(const Exec& x, const Inst& in, TexelAccess::Kind kind,
                   const TextureObject* object, unsigned bytes, uint32_t mask,
                   const uint64_t* address, const uint8_t* count) {
  TexelAccess access{};
  access.site = in.site;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.mask = mask;
  access.object = object;
  access.address = address;
  access.count = count;
  x.warp->block().report_texels(x.warp->index(), access);
}

void TexelReads::read(uint64_t* address, uint32_t lanes, std::byte* to, size_t stride) {
  Warp& w = *x_.warp;
  BlockContext& block = w.block();
  const std::byte* const base =
      block.global(w.index(), in_, address, lanes, bytes_, BlockContext::Use::read);
  UndefinedRead read;
  if (block.checks_reads() &&
      w.find_undefined(AccessSpace::global, address, lanes, bytes_, &read)) {
    const UndefinedBits::OfLanes found = w.origins_of(in_, read, bytes_);
    for (uint32_t r = read.lanes & ~undefined_; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      origins_[l] = found[l];
    }
    undefined_ |= read.lanes;
  }
  if (block.observes_order())
    block.report_ordered(w.index(), in_, AccessKind::load, bytes_, lanes, address, nullptr);
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memcpy(to + static_cast<size_t>(l) * stride, base + address[l], bytes_);
  }
}

void TexelReads::finish(const TextureOp& op) {
  if (undefined_ == 0) return;
  const Exec to = x_.warp->track().loaded(x_, in_, undefined_, origins_);
  for (const Slot& slot : op.value) {
    if (slot.bytes == 0) continue;
    for (uint32_t r = undefined_; r; r &= r - 1)
      std::memset(to.regs + slot.offset + __builtin_ctz(r) * slot.bytes, 0xff, slot.bytes);
  }
}

}  // namespace lab32::sim
