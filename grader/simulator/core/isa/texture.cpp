// tex and tld4: selects the texels of a fetch, reads them and computes the result.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "simulator/core/isa/texel_access.h"
#include "simulator/core/semantics/lanes.h"
#include "simulator/core/semantics/texture_filter.h"

namespace lab32::sim {
namespace {

constexpr unsigned kMostTaps = WarpTexelAccess::kMostTexels;

// The texels that the fetch of one lane combines, and their weights.
struct TexelFilterTaps {
  std::array<WeightedTexel, kMostTaps> tap;
  std::array<uint64_t, kMostTaps> address;  // 0: the border
  unsigned count = 0;

  void add_texel(uint64_t at, uint32_t weight, unsigned part) {
    address[count] = at;
    tap[count].weight = weight;
    tap[count].part = static_cast<uint8_t>(part);
    ++count;
  }
};

struct TextureCoordinates {
  std::array<float, 3> at{};
  uint32_t layer = 0;
  int32_t index = 0;  // by index
  float level = -32;  // the level that ptxas passes if the program names none
  bool level_is_known = true;
};

uint64_t texel_address(const TextureObject& t, const MipmapLevel& grid, int32_t x, int32_t y,
                       uint32_t slice) {
  if (x == kBorder || y == kBorder) return 0;
  return grid.begin + slice * grid.slice_bytes + static_cast<uint64_t>(y) * grid.pitch +
         static_cast<uint64_t>(x) * t.array.format.bytes();
}

// The level in 1/256: the requested level plus the sampler's bias, each clamped.
int32_t mipmap_level_in_256ths(const TextureObject& t, float asked) {
  const double l = std::isnan(asked) ? 0 : std::clamp<double>(asked, -1024, 1024);
  const auto last = static_cast<int32_t>(t.array.levels.size() - 1) * 256;
  const int32_t wanted = static_cast<int32_t>(l * 256) + t.sampler.bias;
  const int32_t high = std::min(t.sampler.highest, last), low = std::min(t.sampler.lowest, last);
  return std::max(std::min(wanted, high), std::max(low, 0));
}

uint32_t first_slice_of_layer(const TextureObject& t, const TextureCoordinates& c) {
  const uint32_t faces = t.array.cube ? 6 : 1;
  const uint32_t layers = t.array.levels[0].slices / faces;
  return t.array.layered ? std::min(c.layer, layers - 1) * faces : 0;
}

// Whether the point is between texel 0 and neighbour i, so that neighbour i has weight.
bool neighbour_has_weight(unsigned i, const TexelPairOnAxis* around) {
  for (unsigned k = 0; k < 3; ++k)
    if ((i >> k & 1) != 0 && around[k].fraction == 0) return false;
  return true;
}

// Adds the texels around a point of a cube's face, including those of neighbouring faces. At a
// corner there are only three.
void add_cube_face_texels(const TextureObject& t, const MipmapLevel& grid, uint32_t first,
                          const PointOnCubeFace& on, uint32_t whole, unsigned part,
                          TexelFilterTaps& footprint) {
  const auto n = static_cast<int32_t>(grid.width);
  const int64_t scaled[2] = {on.x * n, on.y * n};
  TexelPairOnAxis around[3];
  for (int k = 0; k < 2; ++k) {
    const int64_t rounded = (scaled[k] - (1 << 20) + (1 << 12)) >> 13;
    around[k].texel = {static_cast<int32_t>(rounded >> 8), static_cast<int32_t>(rounded >> 8) + 1};
    around[k].fraction = static_cast<uint32_t>(rounded & 255);
  }
  uint32_t weight[4];
  split_weight(2, {around[0].fraction, around[1].fraction, 0}, whole, weight);
  const auto outside = [&](int32_t i) { return i < 0 || i >= n; };
  for (unsigned i = 0; i < 4; ++i)
    if (outside(around[0].texel[i & 1]) && outside(around[1].texel[i >> 1]))
      drop_corner_texel(i, weight);
  for (unsigned i = 0; i < 4; ++i) {
    const int32_t x = around[0].texel[i & 1], y = around[1].texel[i >> 1];
    if (!neighbour_has_weight(i, around) || (outside(x) && outside(y))) continue;
    CubeTexel own{on.face, x, y};
    if (outside(x) || outside(y)) own = texel_across_edge(own, n);
    footprint.add_texel(texel_address(t, grid, own.x, own.y, first + own.face), weight[i], part);
  }
}

// Adds the texels of one level.
void add_texels_of_level(const TextureObject& t, unsigned level, const TextureCoordinates& c,
                         uint32_t whole, unsigned part, TexelFilterTaps& footprint) {
  const MipmapLevel& grid = t.array.levels[level];
  const TextureSamplingSettings& s = t.sampler;
  uint32_t slice = first_slice_of_layer(t, c);
  const uint32_t size[3] = {grid.width, grid.height, grid.slices};
  int64_t at[3] = {};
  unsigned dimensions = t.array.dimensions;
  if (t.array.cube) {
    const PointOnCubeFace on = point_on_cube_face(c.at[0], c.at[1], c.at[2]);
    if (s.seamless && s.linear)
      return add_cube_face_texels(t, grid, slice, on, whole, part, footprint);
    slice += on.face;
    at[0] = on.x * grid.width;
    at[1] = on.y * grid.height;
    dimensions = 2;
  } else {
    for (unsigned k = 0; k < dimensions; ++k)
      at[k] = fixed_point_position(c.at[k], size[k], s.address[k], s.normalized);
  }
  const auto mode = [&](unsigned k) {
    if (t.array.cube && s.seamless) return AddressMode::clamp;
    return s.normalized || s.address[k] == AddressMode::border ? s.address[k] : AddressMode::clamp;
  };
  if (!s.linear) {
    int32_t texel[3] = {};
    for (unsigned k = 0; k < dimensions; ++k) texel[k] = nearest_texel(at[k], size[k], mode(k));
    if (dimensions == 3) slice = static_cast<uint32_t>(texel[2]);
    const bool beyond = dimensions == 3 && texel[2] == kBorder;
    footprint.add_texel(beyond ? 0 : texel_address(t, grid, texel[0], texel[1], slice), whole,
                        part);
    return;
  }
  // In border mode a one-dimensional texture is two-dimensional with a height of 1, so that the
  // border along y matters.
  if (dimensions == 1 && !t.array.layered && mode(1) == AddressMode::border) dimensions = 2;
  TexelPairOnAxis around[3];
  for (unsigned k = 0; k < dimensions; ++k)
    around[k] = texel_pair_on_axis(at[k], size[k], mode(k), true);
  uint32_t weight[8];
  split_weight(dimensions, {around[0].fraction, around[1].fraction, around[2].fraction}, whole,
               weight, part == 0 && whole != 256);
  for (unsigned i = 0; i < 1u << dimensions; ++i) {
    if (!neighbour_has_weight(i, around)) continue;
    const int32_t z = around[2].texel[i >> 2];
    if (dimensions == 3) slice = static_cast<uint32_t>(z);
    const uint64_t where =
        texel_address(t, grid, around[0].texel[i & 1], around[1].texel[i >> 1 & 1], slice);
    footprint.add_texel(dimensions == 3 && z == kBorder ? 0 : where, weight[i], part + (i >> 2));
  }
}

void add_texels_of_fetch(const TextureObject& t, const TextureCoordinates& c,
                         TexelFilterTaps& footprint) {
  if (t.array.linear) {
    const auto size = static_cast<int64_t>(t.array.levels[0].width);
    const bool there = c.index >= 0 && c.index < size;
    footprint.add_texel(there ? texel_address(t, t.array.levels[0], c.index, 0, 0) : 0, 256, 0);
    return;
  }
  const int32_t level = mipmap_level_in_256ths(t, c.level);
  if (!t.sampler.linear_mipmap)
    return add_texels_of_level(t, static_cast<unsigned>((level + 128) >> 8), c, 256, 0, footprint);
  const auto lower = static_cast<unsigned>(level >> 8);
  const auto share = static_cast<uint32_t>(level & 255);
  add_texels_of_level(t, lower, c, 256 - share, 0, footprint);
  if (share != 0)
    add_texels_of_level(t, lower + 1, c, share, t.array.dimensions == 3 ? 2 : 1, footprint);
}

// tld4: adds the texels (0, 1), (1, 1), (1, 0), (0, 0).
void add_texels_of_gather(const TextureObject& t, const TextureCoordinates& c,
                          TexelFilterTaps& footprint) {
  const MipmapLevel& grid = t.array.levels[0];
  const TextureSamplingSettings& s = t.sampler;
  TexelPairOnAxis around[2];
  const uint32_t size[2] = {grid.width, grid.height};
  for (unsigned k = 0; k < 2; ++k) {
    const AddressMode mode =
        s.normalized || s.address[k] == AddressMode::border ? s.address[k] : AddressMode::clamp;
    around[k] = texel_pair_on_axis(fixed_point_position(c.at[k], size[k], mode, s.normalized),
                                   size[k], mode, false);
  }
  constexpr int kX[] = {0, 1, 1, 0}, kY[] = {1, 1, 0, 0};
  for (unsigned i = 0; i < 4; ++i)
    footprint.add_texel(texel_address(t, grid, around[0].texel[kX[i]], around[1].texel[kY[i]], 0),
                        256, 0);
}

// The requirement of the instruction that the object does not meet; empty: it meets all.
std::string texture_mismatch(const TextureOrSurfaceOp& op, const TextureObject& t) {
  const TexelArray& a = t.array;
  if (t.surface) return "is a surface object";
  if (op.by_index && !a.linear) return "reads an array, which has no integer coordinates";
  if (!op.by_index && a.linear) return "reads linear memory, which only tex1Dfetch can";
  if (op.cube != a.cube) return a.cube ? "reads a cube map" : "reads no cube map";
  if (op.layered != a.layered) return a.layered ? "reads layers" : "reads no layers";
  if (!a.cube && op.dimensions != a.dimensions)
    return fmt::format("has {} dimension{}", a.dimensions, a.dimensions == 1 ? "" : "s");
  if (op.kind == TextureOrSurfaceOp::Kind::gradient && t.sampler.anisotropy > 1)
    return "is anisotropic, and the choice of texels by derivatives is not simulated there";
  return {};
}

uint32_t channel_bits_of(const TexelFormat& format, const std::byte* texel, unsigned channel) {
  uint32_t bits = 0;
  const unsigned bytes = format.bits / 8u;
  std::memcpy(&bits, texel + channel * bytes, bytes);
  return bits;
}

// The level, in 1/256, that a lane's two derivatives select; nothing if a GPU's choice is unknown.
// The CUDA programming guide has no formula. If each derivative is along a separate axis and the
// sizes are powers of two, the longer one determines the level (H200, H100, 2026-11-26). For other
// derivatives a GPU uses neither the length nor the longer one, and it scales by other sizes in an
// unknown way.
std::optional<int32_t> level_of_derivatives(const ExecContext& x, const TextureOrSurfaceOp& op,
                                            const TextureObject& t, int lane) {
  if (t.array.levels.size() == 1) return 0;
  if (op.dimensions == 3) return std::nullopt;
  const MipmapLevel& grid = t.array.levels[0];
  const uint32_t size[2] = {grid.width, grid.height};
  double longest = 0;
  uint32_t axes = 0;
  for (const auto& along : op.derivative) {
    uint32_t own = 0;
    for (size_t k = 0; k < op.dimensions; ++k) {
      const double change = bit_copy<float>(load_lane<uint32_t>(x.regs + along[k].offset, lane));
      const double step = std::abs(size[k] * change);
      if (!std::isfinite(step)) return std::nullopt;
      if (step != 0 && (size[k] & (size[k] - 1)) != 0) return std::nullopt;
      if (step != 0) own |= 1u << k;
      longest = std::max(longest, step);
    }
    if (own == 3 || (own & axes) != 0) return std::nullopt;
    axes |= own;
  }
  return mipmap_level_of_step(longest);
}

TextureCoordinates texture_coordinates_of(const ExecContext& x, const TextureOrSurfaceOp& op,
                                          const TextureObject& t, int lane) {
  TextureCoordinates c;
  const auto word = [&](const RegisterSlot& slot) {
    return load_lane<uint32_t>(x.regs + slot.offset, lane);
  };
  if (op.layer.bytes != 0) c.layer = word(op.layer);
  if (op.by_index) {
    c.index = static_cast<int32_t>(word(op.coordinate[0]));
    return c;
  }
  for (size_t k = 0; k < 3; ++k)
    if (op.coordinate[k].bytes != 0) c.at[k] = bit_copy<float>(word(op.coordinate[k]));
  if (op.level.bytes != 0) c.level = bit_copy<float>(word(op.level));
  if (op.kind == TextureOrSurfaceOp::Kind::gradient) {
    const std::optional<int32_t> level = level_of_derivatives(x, op, t, lane);
    c.level_is_known = level.has_value();
    c.level = static_cast<float>(level.value_or(0)) / 256;
  }
  return c;
}

// Computes the results of one lane from its texels.
void compute_texture_results_of_lane(const TextureOrSurfaceOp& op, const TextureObject& t,
                                     TexelFilterTaps& footprint, const std::byte* texels,
                                     uint32_t* result) {
  const TexelFormat& format = t.array.format;
  const auto bits = [&](unsigned tap, unsigned channel) {
    if (footprint.address[tap] != 0)
      return channel_bits_of(format, texels + static_cast<size_t>(tap) * 16, channel);
    return t.array.linear ? 0 : border_bits(format, t.sampler, channel);
  };
  std::fill_n(result, 4, 0u);
  if (op.kind == TextureOrSurfaceOp::Kind::gather) {
    if (op.component >= format.channels) return;
    const bool as_is = format.kind != TexelFormat::Kind::floating && !t.sampler.reads_normalized;
    for (unsigned i = 0; i < 4; ++i) {
      footprint.tap[i].bits = bits(i, op.component);
      result[i] = as_is
                      ? convert_channel_bits(format, t.sampler, op.component, footprint.tap[i].bits)
                      : filter_channel(format, t.sampler, op.component, &footprint.tap[i], 1);
    }
    return;
  }
  for (unsigned channel = 0; channel < format.channels; ++channel) {
    if (!t.sampler.linear && footprint.count == 1) {
      result[channel] = convert_channel_bits(format, t.sampler, channel, bits(0, channel));
      continue;
    }
    for (unsigned i = 0; i < footprint.count; ++i) footprint.tap[i].bits = bits(i, channel);
    result[channel] =
        filter_channel(format, t.sampler, channel, footprint.tap.data(), footprint.count);
  }
}

WarpTexelAccess::Kind texel_access_kind_of(const TextureOrSurfaceOp& op) {
  if (op.by_index) return WarpTexelAccess::Kind::index;
  if (op.kind == TextureOrSurfaceOp::Kind::gather) return WarpTexelAccess::Kind::gather;
  return op.kind == TextureOrSurfaceOp::Kind::gradient ? WarpTexelAccess::Kind::gradient
                                                       : WarpTexelAccess::Kind::fetch;
}

void fetch_from_texture(const ExecContext& x, const Inst& in, const TextureOrSurfaceOp& op,
                        const TextureObject& t, bool of_all) {
  std::array<TexelFilterTaps, kWarpSize> footprints;
  unsigned taps = 0;
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    TexelFilterTaps& own = footprints[static_cast<size_t>(l)];
    const TextureCoordinates c = texture_coordinates_of(x, op, t, l);
    if (!c.level_is_known) {
      ExecContext one = x;
      one.mask = 1u << l;
      throw_texture_object_trap(
          one, in, op,
          "has levels; the level that a GPU chooses is known only for derivatives along one axis "
          "each, in one or two dimensions whose sizes are powers of 2");
    }
    if (op.kind == TextureOrSurfaceOp::Kind::gather)
      add_texels_of_gather(t, c, own);
    else
      add_texels_of_fetch(t, c, own);
    taps = std::max(taps, own.count);
  }
  if (x.warp->block().reports().reports_accesses()) {
    std::array<uint64_t, size_t{kWarpSize} * kMostTaps> address;
    std::array<uint8_t, kWarpSize> count{};
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      count[l] = static_cast<uint8_t>(footprints[l].count);
      std::copy_n(footprints[l].address.begin(), count[l], address.begin() + l * kMostTaps);
    }
    x.warp->block().reports().texel_access(
        x.warp->index(),
        {in.site, texel_access_kind_of(op), false, static_cast<uint8_t>(t.array.format.bytes()),
         x.mask, of_all ? &t : nullptr, address.data(), count.data()});
  }
  alignas(64) std::array<std::byte, size_t{kWarpSize} * kMostTaps * 16> texels;
  CheckedTexelReader reads(x, in, t.array.format.bytes());
  for (unsigned k = 0; k < taps; ++k) {
    uint32_t lanes = 0;
    alignas(64) uint64_t address[kWarpSize];
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      const TexelFilterTaps& own = footprints[static_cast<size_t>(l)];
      if (k >= own.count || own.address[k] == 0) continue;
      address[l] = own.address[k];
      lanes |= 1u << l;
    }
    if (lanes != 0)
      reads.read(address, lanes, texels.data() + static_cast<size_t>(k) * 16, kMostTaps * 16);
  }
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    uint32_t result[4];
    compute_texture_results_of_lane(op, t, footprints[static_cast<size_t>(l)],
                                    texels.data() + static_cast<size_t>(l) * kMostTaps * 16,
                                    result);
    for (unsigned v = 0; v < 4; ++v)
      if (op.value[v].bytes != 0) store_lane<uint32_t>(x.regs + op.value[v].offset, l, result[v]);
  }
  if (op.resident.bytes != 0) {
    const uint32_t others = load_lane<uint32_t>(x.regs + op.resident.offset, 0);
    store_lane<uint32_t>(x.regs + op.resident.offset, 0, others | x.mask);
  }
  reads.mark_undefined_results(op);
}

void fetch_texels(const ExecContext& x, const Inst& in) {
  const TextureOrSurfaceOp& op = texture_op(x, in);
  for_each_texture_object(x, in, op, [&](const ExecContext& lanes, const TextureObject& t) {
    if (const std::string why = texture_mismatch(op, t); !why.empty())
      throw_texture_object_trap(lanes, in, op, why);
    fetch_from_texture(lanes, in, op, t, lanes.mask == x.mask);
  });
}

}  // namespace

ExecFn pick_tex(const ptx::Instruction& in) {
  texture_or_surface_op_of(in);  // throws if the form is not supported
  return fetch_texels;
}
ExecFn pick_tex_level(const ptx::Instruction& in) { return pick_tex(in); }
ExecFn pick_tex_grad(const ptx::Instruction& in) { return pick_tex(in); }
ExecFn pick_tld4(const ptx::Instruction& in) { return pick_tex(in); }

}  // namespace lab32::sim
