// Directions and the faces of a cube.
#include <cmath>

#include "simulator/core/semantics/approx.h"
#include "simulator/core/semantics/texture_filter.h"

namespace lab32::sim {
namespace {

// What ptxas does before the texture unit sees them: the largest component becomes 1, by an
// approximate reciprocal that takes and gives no subnormals.
float reciprocal(float x) {
  if (x < 0x1p-126f) return INFINITY;
  const float r = RcpApprox::apply(x);
  return r < 0x1p-126f ? 0.0f : r;
}

int64_t on_face(float along) {
  const double x = std::isnan(along) ? 0 : std::fmin(std::fmax(along, -1.0f), 1.0f);
  return static_cast<int64_t>(std::floor((x + 1) / 2 * 0x1p21));
}

// Twice the coordinates of a texel's centre on a face of `size`, from the middle: a point on the
// cube whose faces lie at ±size.
struct Point {
  int32_t x, y, z;
};
Point point_of(const CubeTexel& t, int32_t size) {
  const int32_t s = 2 * t.x + 1 - size, u = 2 * t.y + 1 - size;
  switch (t.face) {
    case 0:
      return {size, -u, -s};
    case 1:
      return {-size, -u, s};
    case 2:
      return {s, size, u};
    case 3:
      return {s, -size, -u};
    case 4:
      return {s, -u, size};
    default:
      return {-s, -u, -size};
  }
}

}  // namespace

OnCube on_cube(float x, float y, float z) {
  const float scale = reciprocal(std::fmax(std::fmax(std::fabs(x), std::fabs(y)), std::fabs(z)));
  x *= scale;
  y *= scale;
  z *= scale;
  const auto size = [](float v) { return std::isnan(v) ? 0 : std::fabs(v); };
  if (size(z) >= size(y) && size(z) >= size(x))
    return z < 0 ? OnCube{5, on_face(-x), on_face(-y)} : OnCube{4, on_face(x), on_face(-y)};
  if (size(y) >= size(x))
    return y >= 0 ? OnCube{2, on_face(x), on_face(z)} : OnCube{3, on_face(x), on_face(-z)};
  return x >= 0 ? OnCube{0, on_face(-z), on_face(-y)} : OnCube{1, on_face(z), on_face(-y)};
}

void share_corner(unsigned corner, uint32_t* weights) {
  const uint32_t third = (weights[corner] * 85 + 128) >> 8;
  weights[corner ^ 1] += third;
  weights[corner ^ 2] += third;
  weights[corner ^ 3] += weights[corner] - 2 * third;
  weights[corner] = 0;
}

CubeTexel across_edge(const CubeTexel& outside, int32_t size) {
  // The texel lies half a texel beyond the edge: on the neighbour, half a texel from it.
  const auto inside = [&](int32_t i) { return i < 0 ? 0 : i >= size ? size - 1 : i; };
  const Point edge = point_of({outside.face, inside(outside.x), inside(outside.y)}, size);
  const Point beyond = point_of(outside, size);
  const bool out_x = std::abs(beyond.x) > size, out_y = std::abs(beyond.y) > size;
  const auto sign = [](int32_t v) { return v < 0 ? -1 : 1; };
  const bool had_x = outside.face < 2, had_y = outside.face == 2 || outside.face == 3;
  // The face that it left is a plane of one axis; there it is half a texel inside now.
  Point p = edge;
  if (had_x)
    p.x = sign(p.x) * (size - 1);
  else if (had_y)
    p.y = sign(p.y) * (size - 1);
  else
    p.z = sign(p.z) * (size - 1);
  CubeTexel t;
  int32_t s = 0, u = 0;
  if (out_x) {
    t.face = beyond.x > 0 ? 0 : 1;
    s = beyond.x > 0 ? -p.z : p.z;
    u = -p.y;
  } else if (out_y) {
    t.face = beyond.y > 0 ? 2 : 3;
    s = p.x;
    u = beyond.y > 0 ? p.z : -p.z;
  } else {
    t.face = beyond.z > 0 ? 4 : 5;
    s = beyond.z > 0 ? p.x : -p.x;
    u = -p.y;
  }
  t.x = (s + size - 1) / 2;
  t.y = (u + size - 1) / 2;
  return t;
}

}  // namespace lab32::sim
