#include "labs/swizzle/mapping.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "grading/engine/runner.h"

namespace lab32::checks::swizzle {
namespace {

uint32_t moved(uint32_t y, int shift) { return shift >= 0 ? y >> shift : y << -shift; }

uint32_t low_bits(int bits) { return (uint32_t{1} << bits) - 1; }

struct Misconception {
  uint32_t (*answer)(const Swizzle& s, uint32_t offset);
  const char* hint;
};

const Misconception kMisconceptions[] = {
    {[](const Swizzle&, uint32_t) { return uint32_t{0}; },
     "It seems to return 0 for every offset."},
    {[](const Swizzle&, uint32_t offset) { return offset; },
     "It seems to return the offset unchanged."},
    {[](const Swizzle& s, uint32_t offset) { return offset ^ moved(offset, s.shift); },
     "It seems to shift all bits of the offset, instead of those of YYY only."},
    {[](const Swizzle& s, uint32_t offset) {
       return offset ^ moved(offset & low_bits(s.bits) << std::max(0, s.shift), s.shift);
     },
     "It seems to ignore M: both groups of bits begin M bits higher."},
    {[](const Swizzle& s, uint32_t offset) {
       return offset ^ moved(offset & low_bits(s.bits) << s.first_z(), -s.shift);
     },
     "It seems to XOR ZZZ into YYY: this changes the row instead of the column."},
    {[](const Swizzle& s, uint32_t offset) {
       return offset + moved(offset & low_bits(s.bits) << s.first_y(), s.shift);
     },
     "It seems to add: a sum carries into bits that must not change."},
    {[](const Swizzle& s, uint32_t offset) {
       return Swizzle{s.bits, s.base, std::abs(s.shift)}(offset);
     },
     "It seems to treat a negative S as a positive one: if S is negative, YYY "
     "lies below ZZZ."},
};

std::vector<int> parse_ints_until_non_number(const std::string& text) {
  std::istringstream in(text);
  std::vector<int> found;
  for (int value; in >> value;) found.push_back(value);
  return found;
}

}  // namespace

uint32_t Swizzle::operator()(uint32_t offset) const {
  return offset ^ moved(offset & low_bits(bits) << first_y(), shift);
}

std::string Swizzle::name() const { return fmt::format("Swizzle<{}, {}, {}>", bits, base, shift); }

std::string swizzle_misconception_hint(const std::vector<SwizzleFunctionCall>& tries) {
  for (const Misconception& idea : kMisconceptions) {
    bool all = true;
    for (const SwizzleFunctionCall& t : tries)
      all = all && idea.answer(t.swizzle, t.offset) == t.got;
    if (all) return idea.hint;
  }
  return "";
}

DocumentedSwizzleChunk documented_chunk(int y, int x, int nx, int element_bytes) {
  DocumentedSwizzleChunk c;
  c.i16 = (y * nx + x) * element_bytes / 16;
  c.y16 = c.i16 / 8;
  c.x16 = c.i16 % 8;
  c.swz_y16 = c.y16;
  // The document writes y16 ^ x16, for a tile of 8 rows; in a taller tile the pattern repeats every
  // 8 rows.
  c.swz_x16 = (c.y16 % 8) ^ c.x16;
  return c;
}

DocumentedSwizzlePosition documented_place(int y, int x, int nx, int element_bytes) {
  const DocumentedSwizzleChunk c = documented_chunk(y, x, nx, element_bytes);
  const int each = 16 / element_bytes;
  return {c.swz_y16, c.swz_x16 * each % nx + x % each};
}

std::vector<MeasuredBoxLayout> measured_box_layouts() {
  const auto path = lab32_root() / "data" / "measured" / "h200-tensor_maps.csv";
  const auto broken = [&](const std::string& what) {
    return Error(
        fmt::format("{}: {}; the file comes with the project: restore it with "
                    "`git checkout`",
                    path.string(), what));
  };
  std::ifstream file(path);
  if (!file) throw broken("cannot be read");
  std::vector<MeasuredBoxLayout> boxes;
  bool head = true;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (head) {
      if (line != "mode,element_bytes,columns,rows,base,y,landing") throw broken("unknown columns");
      head = false;
      continue;
    }
    std::replace(line.begin(), line.end(), ',', ' ');
    const std::vector<int> v = parse_ints_until_non_number(line);
    if (v.size() < 6 || v.size() != 6 + static_cast<size_t>(v[2]))
      throw broken(fmt::format("a row of {} numbers", v.size()));
    if (v[5] == 0) boxes.push_back({v[0], v[1], v[2], v[3], v[4], {}});
    if (boxes.empty()) throw broken("the first row is not row 0 of a box");
    boxes.back().landing.insert(boxes.back().landing.end(), v.begin() + 6, v.end());
  }
  for (const MeasuredBoxLayout& box : boxes)
    if (box.landing.size() != static_cast<size_t>(box.rows) * box.columns)
      throw broken("a box has not all of its rows");
  if (boxes.empty()) throw broken("no box");
  return boxes;
}

}  // namespace lab32::checks::swizzle
