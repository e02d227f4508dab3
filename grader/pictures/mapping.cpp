#include "pictures/mapping.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "base/layout.h"
#include "pictures/paint.h"

namespace lab32::pictures {
namespace {

constexpr int kMostBits = 5;  // of a table that fits 80 columns, and of its rows

}  // namespace

std::string SwizzleShape::name() const {
  return fmt::format("Swizzle<{}, {}, {}>", bits, base, shift);
}

SwizzleShape read_swizzle(const std::string& text) {
  SwizzleShape s;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%d,%d,%d%c", &s.bits, &s.base, &s.shift, &rest);
  if (read != 3)
    throw Error("--swizzle " + text + ": three numbers are wanted, B,M,S, as in 3,4,3");
  const int distance = s.shift < 0 ? -s.shift : s.shift;
  if (s.bits < 0 || s.bits > kMostBits || s.base < 0 || s.base > 20 || distance > kMostBits)
    throw Error(fmt::format("--swizzle {}: B goes from 0 to {}, M from 0 to 20, S from -{} to {}",
                            text, kMostBits, kMostBits, kMostBits));
  if (s.bits > distance)
    throw Error(fmt::format("--swizzle {}: B is at most |S|, or YYY and ZZZ would overlap", text));
  return s;
}

uint32_t swizzled(const SwizzleShape& s, uint32_t offset) {
  const int y = s.base + (s.shift > 0 ? s.shift : 0), z = s.base - (s.shift < 0 ? s.shift : 0);
  return offset ^ ((offset >> y & ((1u << s.bits) - 1)) << z);
}

// With S below 0 YYY is in the column and ZZZ in the row: the table is turned.
std::vector<uint32_t> offsets_of(const SwizzleShape& s) {
  std::vector<uint32_t> offsets;
  for (uint32_t row = 0; row < s.rows(); ++row)
    for (uint32_t column = 0; column < s.columns(); ++column)
      offsets.push_back((row * s.columns() + column) << s.base);
  return offsets;
}

Mapping mapping_of(const SwizzleShape& s, const std::vector<uint32_t>& to) {
  Mapping mapping{s.name(), s.rows(), s.columns(), 1u << s.base, s.shift < 0, {}};
  for (const uint32_t offset : to) mapping.to.push_back(offset >> s.base);
  return mapping;
}

std::string text(const Mapping& m, bool colour) {
  const Paint paint(colour);
  std::string out = fmt::format(
      "{}: where groups of {} element{} lie.\n"
      "A number is the {} that a group goes to; ✗ it leaves its {}.\n\n{}",
      m.name, m.unit, m.unit == 1 ? "" : "s", m.turned ? "row" : "column",
      m.turned ? "column" : "row", pad_right("column", 8));
  for (uint32_t column = 0; column < m.columns; ++column) out += fmt::format("{:>2}", column % 100);
  out += "\n";
  for (uint32_t row = 0; row < m.rows; ++row) {
    out += pad_right(fmt::format("row {}", row), 8);
    for (uint32_t column = 0; column < m.columns; ++column) {
      const uint32_t to = m.to[row * m.columns + column];
      const uint32_t to_row = to / m.columns, to_column = to % m.columns;
      const bool leaves = m.turned ? to_column != column : to_row != row;
      const uint32_t shown = m.turned ? to_row : to_column;
      out += leaves ? paint(Hue::bad, " ✗")
                    : paint(shown == (m.turned ? row : column) ? Hue::idle : Hue::good,
                            fmt::format("{:>2}", shown % 100));
    }
    out += "\n";
  }
  if (m.turned) return out;
  out += pad_right("lies in", 8);
  for (uint32_t column = 0; column < m.columns; ++column) {
    std::set<uint32_t> places;
    for (uint32_t row = 0; row < m.rows; ++row)
      places.insert(m.to[row * m.columns + column] % m.columns);
    out +=
        paint(places.size() == m.rows ? Hue::good : Hue::warn, fmt::format("{:>2}", places.size()));
  }
  return out +
         fmt::format("\n\nLast row: in how many columns the {} groups of a column lie.\n", m.rows);
}

}  // namespace lab32::pictures
