#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pictures/make.h"
#include "pictures/text.h"

namespace lab32::pictures {
namespace {

constexpr uint64_t kMost = 32;  // rows and columns that are drawn, which fit 80 characters

uint32_t drawn(uint64_t count) { return static_cast<uint32_t>(std::min(count, kMost)); }

// The part of the rows or columns that is drawn, "the first 32 of 4,096 rows"; "" if all are.
std::string drawn_part_text(uint32_t count, uint64_t all, const char* what) {
  return count == all ? "" : fmt::format("the first {} of {} {}", count, grouped_digits(all), what);
}

// "Drawn: the first 32 of 64 rows, the first 32 of 64 columns.", or "" if everything is drawn.
std::string drawn_part_note(const SwizzleMapping& m) {
  const std::string rows = drawn_part_text(m.rows, m.all_rows, "rows"),
                    columns = drawn_part_text(m.columns, m.all_columns, "columns");
  if (rows.empty() && columns.empty()) return "";
  return "Drawn: " + rows + (rows.empty() || columns.empty() ? "" : ", ") + columns + ".\n";
}

// Whether the column of that index is drawn; or the row, if groups change their row.
bool is_drawn(const SwizzleMapping& m, uint64_t column_or_row) {
  return column_or_row < (m.turned ? m.rows : m.columns);
}

// Whether group n leaves its row (or its column if groups change their row). No swizzle does, but a
// student's function may.
bool moves_to_another_row(const SwizzleMapping& m, uint32_t n) {
  return m.turned ? m.to[n] % m.all_columns != n % m.columns
                  : m.to[n] / m.all_columns != n / m.columns;
}

bool any_moves_to_another_row(const SwizzleMapping& m) {
  for (uint32_t n = 0; n < m.to.size(); ++n)
    if (moves_to_another_row(m, n)) return true;
  return false;
}

// Whether a group that stays in its row (or column) moves out of the drawn part of the table.
bool has_group_moving_off_picture(const SwizzleMapping& m) {
  for (uint32_t n = 0; n < m.to.size(); ++n) {
    const uint64_t to_row = m.to[n] / m.all_columns, to_column = m.to[n] % m.all_columns;
    if (!moves_to_another_row(m, n) && !is_drawn(m, m.turned ? to_row : to_column)) return true;
  }
  return false;
}

}  // namespace

std::string CuteSwizzle::name() const {
  return fmt::format("Swizzle<{}, {}, {}>", bits, base, shift);
}

CuteSwizzle read_swizzle(const std::string& text) {
  long long bits = 0, base = 0, shift = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%lld,%lld,%lld%c", &bits, &base, &shift, &rest) != 3)
    throw Error("--swizzle " + text + ": write three numbers B,M,S, such as 3,4,3");
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("--swizzle {}: CuTe has no such Swizzle: {}", text, why));
  };
  // The static_asserts of cute/swizzle.hpp.
  if (bits < 0) refuse("B (BBits) is 0 or more");
  if (base < 0) refuse("M (MBase) is 0 or more");
  // CuTe's masks are constants of type int, so a Swizzle with a shift beyond the bits of an int
  // does not compile.
  constexpr int kInt = 32;
  const bool far = shift <= -kInt || shift >= kInt;
  const long long distance = far ? kInt : std::llabs(shift);
  if (far || base >= kInt || base + distance >= kInt)
    refuse("M + |S| is at most 31, since its masks are ints");
  if (bits > distance) refuse("B (BBits) is at most |S| (SShift), or YYY and ZZZ would overlap");
  if (bits + base + distance > kInt) refuse("B + M + |S| is at most 32, since its masks are ints");
  return {static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift)};
}

uint32_t swizzled_offset(const CuteSwizzle& s, uint32_t offset) {
  const int y = s.base + (s.shift > 0 ? s.shift : 0), z = s.base - (s.shift < 0 ? s.shift : 0);
  return offset ^ ((offset >> y & ((1u << s.bits) - 1)) << z);
}

std::vector<uint32_t> offsets_of_drawn_groups(const CuteSwizzle& s) {
  std::vector<uint32_t> offsets;
  for (uint32_t row = 0; row < drawn(s.rows()); ++row)
    for (uint32_t column = 0; column < drawn(s.columns()); ++column)
      offsets.push_back(static_cast<uint32_t>((row * s.columns() + column) << s.base));
  return offsets;
}

SwizzleMapping mapping_of(const CuteSwizzle& s, const std::vector<uint32_t>& to) {
  // If S is negative, YYY is in the column and ZZZ in the row, so groups change their row.
  SwizzleMapping mapping{s.name(),    drawn(s.rows()), drawn(s.columns()), s.rows(),
                         s.columns(), 1u << s.base,    s.shift < 0,        {}};
  for (const uint32_t offset : to) mapping.to.push_back(offset >> s.base);
  return mapping;
}

std::string text(const SwizzleMapping& m, bool colour) {
  const TerminalPainter paint(colour);
  const bool groups = m.unit > 1;
  std::string out = fmt::format(
      "{}: where {} lie.\nA number is the {} that {} goes to{}.\n", m.name,
      groups ? fmt::format("groups of {} elements", grouped_digits(m.unit)) : "elements",
      m.turned ? "row" : "column", groups ? "a group" : "an element",
      any_moves_to_another_row(m) ? fmt::format("; ✗ it leaves its {}", m.turned ? "column" : "row")
                                  : "");
  if (std::max(m.columns, m.rows) > 10) out += "From 10 on it is a letter: a is 10, v is 31.\n";
  if (has_group_moving_off_picture(m)) out += "→ it leaves what is drawn.\n";
  out += drawn_part_note(m) + "\n" + pad_right("column", 8);
  for (uint32_t column = 0; column < m.columns; ++column) out += " " + lane_character(column);
  out += "\n";
  for (uint32_t row = 0; row < m.rows; ++row) {
    out += pad_right(fmt::format("row {}", row), 8);
    for (uint32_t column = 0; column < m.columns; ++column) {
      const uint32_t to = m.to[row * m.columns + column];
      const uint64_t to_row = to / m.all_columns, to_column = to % m.all_columns;
      const uint64_t shown = m.turned ? to_row : to_column;
      out += moves_to_another_row(m, row * m.columns + column)
                 ? paint(Hue::bad, " ✗")
                 : paint(shown == (m.turned ? row : column) ? Hue::idle : Hue::good,
                         is_drawn(m, shown) ? " " + lane_character(shown) : " →");
    }
    out += "\n";
  }
  if (m.turned) return out;
  out += pad_right("lies in", 8);
  for (uint32_t column = 0; column < m.columns; ++column) {
    std::set<uint64_t> places;
    for (uint32_t row = 0; row < m.rows; ++row)
      places.insert(m.to[row * m.columns + column] % m.all_columns);
    out +=
        paint(places.size() == m.rows ? Hue::good : Hue::warn, " " + lane_character(places.size()));
  }
  return out + fmt::format("\n\nLast row: in how many columns the {}{} {}{} of a column lie{}.\n",
                           m.rows == m.all_rows ? "" : "first ", m.rows,
                           groups ? "group" : "element", m.rows == 1 ? "" : "s",
                           m.rows == 1 ? "s" : "");
}

}  // namespace lab32::pictures
