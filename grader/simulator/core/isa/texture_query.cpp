// txq and suq: how large the array is that an object names. What else they can ask (channels,
// layers, the sampler) ptxas looks up in a table that the driver keeps of texture and surface
// references, which left CUDA; what it holds of objects is not known.
#include "simulator/core/isa/texel_access.h"
#include "simulator/core/warp/refuse.h"

namespace lab32::sim {
namespace {

using ptx::Mod;

void check_query(const ptx::Instruction& in) {
  if (!in.has(Mod::width) && !in.has(Mod::height) && !in.has(Mod::depth))
    refuse(in,
           "ptxas looks this up in a table of references, and what it holds of objects is not "
           "known");
}

std::string query_misfit(const Inst& in, const TextureObject& t, bool of_surface) {
  if (t.surface != of_surface) return t.surface ? "is a surface object" : "is a texture object";
  const unsigned needed = in.ptx->has(Mod::depth) ? 3 : in.ptx->has(Mod::height) ? 2 : 1;
  const unsigned has = t.array.cube ? 2 : t.array.dimensions;
  if (has < needed)
    return fmt::format("has {} dimension{}, and what a GPU gives for more is not known", has,
                       has == 1 ? "" : "s");
  return {};
}

uint32_t size_of(const Inst& in, const TexelGrid& grid) {
  if (in.ptx->has(Mod::width)) return grid.width;
  return in.ptx->has(Mod::height) ? grid.height : grid.slices;
}

template <bool of_surface>
void query(const Exec& x, const Inst& in) {
  TextureOp op;
  op.kind = of_surface ? TextureOp::Kind::load : TextureOp::Kind::fetch;
  op.object = in.mem_base;
  each_object(x, in, op, [&](const Exec& lanes, const TextureObject& t) {
    if (const std::string why = query_misfit(in, t, of_surface); !why.empty())
      bad_object(lanes, in, op, why);
    for (uint32_t r = lanes.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      const uint32_t level =
          in.src_count > 0 ? load_lane<uint32_t>(x.regs + in.src[0].offset, l) : 0;
      if (level >= t.array.levels.size())
        bad_object({x.regs, 1u << l, x.warp}, in, op, fmt::format("has no level {}", level));
      store_lane<uint32_t>(x.regs + in.dst[0].offset, l, size_of(in, t.array.levels[level]));
    }
  });
}

}  // namespace

ExecFn pick_txq(const ptx::Instruction& in) {
  check_query(in);
  return query<false>;
}
ExecFn pick_txq_level(const ptx::Instruction&) { return query<false>; }
ExecFn pick_suq(const ptx::Instruction& in) {
  check_query(in);
  return query<true>;
}

}  // namespace lab32::sim
