// The swizzle lab's own arithmetic against the document's table, CuTe's own header, and the
// recorded copies of an H200's copy engine.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "base/text.h"
#include "grading/engine/runner.h"
#include "labs/swizzle/mapping.h"

namespace lab32::tests {
namespace {

using checks::swizzle::Swizzle;

bool bijective(const Swizzle& s, uint32_t offsets) {
  std::set<uint32_t> reached;
  for (uint32_t offset = 0; offset < offsets; ++offset) reached.insert(s(offset));
  return reached.size() == offsets && *reached.rbegin() == offsets - 1;
}

// Whether no value repeats in any row or column of the table with 2^S columns (groups of 2^M).
bool no_two_alike(const Swizzle& s, uint32_t rows) {
  const uint32_t columns = 1u << s.shift;
  const auto at = [&](uint32_t row, uint32_t column) {
    return (s((row * columns + column) << s.base) >> s.base) % columns;
  };
  for (uint32_t row = 0; row < rows; ++row) {
    std::set<uint32_t> values;
    for (uint32_t column = 0; column < columns; ++column) values.insert(at(row, column));
    if (values.size() != columns) return false;
  }
  for (uint32_t column = 0; column < columns; ++column) {
    std::set<uint32_t> values;
    for (uint32_t row = 0; row < rows; ++row) values.insert(at(row, column));
    if (values.size() != rows) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("checks: swizzle: the document's table is Swizzle<3, 0, 3>, to the last entry") {
  const RegularExpression entry(R"(row ([0-9]), column ([0-9]))");
  const Swizzle swizzle{3, 0, 3};
  int entries = 0;
  for (const TableRow& cells :
       read_csv_table(lab32_root().string() + "/data/documented/swizzle_table.csv")) {
    const auto m = entry.match(cells.at("metric"));
    REQUIRE_MESSAGE(m, cells.at("metric"));
    const uint32_t row = std::stoul(m->at(1)), column = std::stoul(m->at(2));
    CHECK(swizzle(8 * row + column) == 8 * row + std::stoul(cells.at("value")));
    ++entries;
  }
  CHECK(entries == 64);
}

TEST_CASE("checks: swizzle: what CuTe's own header gives") {
  const auto path = lab32_root().string() + "/data/measured/swizzle/cute_swizzle.csv";
  int rows = 0;
  for (TableRow row : read_csv_table(path)) {
    const auto taken = [&](const char* column) { return std::stoi(row.extract(column).mapped()); };
    const Swizzle s{taken("B"), taken("M"), taken("S")};
    CAPTURE(s.name());
    REQUIRE(row.size() == 9);  // the other columns are offsets
    for (const auto& [offset, becomes] : row)
      CHECK(s(static_cast<uint32_t>(std::stoul(offset))) == std::stoul(becomes));
    ++rows;
  }
  // CuTe asserts |S| >= B.
  CHECK(rows == 5 * (11 + 10 + 8 + 6 + 4));
}

TEST_CASE("checks: swizzle: a bijection and its own inverse, for every B, M and S") {
  int tried = 0;
  for (int bits = 0; bits <= 4; ++bits)
    for (int base = 0; base <= 4; ++base)
      for (int shift = -5; shift <= 5; ++shift) {
        if (std::abs(shift) < bits) continue;
        const Swizzle s{bits, base, shift};
        CAPTURE(s.name());
        const uint32_t offsets = 1u << (base + std::abs(shift) + bits);
        CHECK(bijective(s, offsets));
        // YYY does not change, so the second XOR undoes the first. (With B = S = 0 there is none.)
        for (uint32_t offset = 0; offset < offsets; ++offset) REQUIRE(s(s(offset)) == offset);
        ++tried;
      }
  CHECK(tried == 5 * (11 + 10 + 8 + 6 + 4));
  // Outside CuTe's assertion: with S = 0, bits are XORed with themselves and become 0.
  CHECK_FALSE(bijective({3, 0, 0}, 64));
}

TEST_CASE("checks: swizzle: no two alike in a row or column, over 2^B rows where B <= S") {
  for (int base : {0, 2, 4})
    for (int shift = 1; shift <= 5; ++shift)
      for (int bits = 1; bits <= shift; ++bits) {
        const Swizzle s{bits, base, shift};
        CAPTURE(s.name());
        CHECK(no_two_alike(s, 1u << bits));
        // One more row repeats row 0.
        CHECK_FALSE(no_two_alike(s, (1u << bits) + 1));
      }
  // B > S: there are more rows than distinct columns.
  CHECK_FALSE(no_two_alike({3, 0, 2}, 8));
}

TEST_CASE("checks: swizzle: the document's formulas hold for rows of 128 bytes only") {
  for (int row_bytes : {16, 32, 64, 128, 256})
    for (int element : {1, 2, 4, 8}) {
      const int nx = row_bytes / element, ny = 16;
      std::set<std::pair<int, int>> places;
      bool inside = true;
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          const checks::swizzle::DocumentedSwizzlePosition p =
              checks::swizzle::documented_place(y, x, nx, element);
          places.insert({p.y, p.x});
          inside = inside && p.y < ny && p.x < nx;
        }
      CAPTURE(row_bytes);
      CAPTURE(element);
      CHECK((inside && places.size() == static_cast<size_t>(nx) * ny) == (row_bytes == 128));
    }
}

TEST_CASE("checks: swizzle: the copy engine XORs bits of the address, three, two or one") {
  int boxes = 0, narrow = 0, shifted = 0;
  std::set<int> modes;
  for (const checks::swizzle::MeasuredBoxLayout& box : checks::swizzle::measured_box_layouts()) {
    CAPTURE(box.mode);
    CAPTURE(box.element_bytes);
    CAPTURE(box.columns);
    CAPTURE(box.base);
    const Swizzle s{box.mode == 128 ? 3 : box.mode == 64 ? 2 : box.mode == 32 ? 1 : 0, 4, 3};
    const int row_bytes = box.columns * box.element_bytes;
    const int pitch = box.mode ? box.mode : row_bytes;
    for (int i = 0; i < box.rows * box.columns; ++i) {
      const int address = box.base + i / box.columns * pitch + i % box.columns * box.element_bytes;
      REQUIRE(box.landing[i] == static_cast<int>(s(address)));
    }
    ++boxes;
    narrow += row_bytes < box.mode;
    shifted += box.base % 1024 != 0;
    modes.insert(box.mode);
  }
  CHECK(boxes == 33);
  CHECK(narrow == 7);
  CHECK(shifted == 13);
  CHECK(modes == std::set<int>{0, 32, 64, 128});
}

}  // namespace lab32::tests
