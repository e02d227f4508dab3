// The swizzle lab, parts A and B: the XOR, and elements in chunks. Contract:
// labs/swizzle/swizzle.cu.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "labs/swizzle/mapping.h"
#include "pictures/make.h"

namespace lab32::checks::swizzle {
namespace {

const CheckFailureReason kWrongAnswer{CheckFailureReason::Kind::wrong_answer};

// The swizzles <bits, base, shift> for which the skeleton instantiates its functions.
const Swizzle kSwizzles[] = {{3, 0, 3}, {1, 0, 1}, {2, 0, 3}, {5, 0, 5}, {2, 1, 4},  {3, 3, 3},
                             {3, 4, 3}, {2, 4, 3}, {1, 4, 3}, {0, 4, 3}, {2, 0, -3}, {3, 2, -4}};

// Every offset below this is tried. The range contains all bits of YYY and ZZZ of the swizzles
// above.
constexpr uint32_t kOffsets = 4096;

const bool kDrawn = (swizzle_lab() = SwizzleLabHooks{
                         "swizzle",
                         [](const pictures::CuteSwizzle& s) {
                           return fmt::format("swizzle_all<{}, {}, {}>", s.bits, s.base, s.shift);
                         },
                         // The pictures leave out Swizzle<2, 0, +-3>, because A2 asks for two rows
                         // of the table of <2, 0, 3>.
                         [](const pictures::CuteSwizzle& s) {
                           return s.bits == 2 && (s.shift == 3 || s.shift == -3);
                         }})
                        .has_value();

// Adds a picture of the student's mapping for the report; to[i] is where it sends offset i.
void add_mapping_picture(Check& check, const pictures::CuteSwizzle& shape,
                         const std::vector<uint32_t>& to) {
  const std::vector<uint32_t> offsets = pictures::offsets_of_drawn_groups(shape);
  if (check.mappings.size() == std::size(kSwizzles) || offsets.back() >= to.size()) return;
  std::vector<uint32_t> places;
  for (const uint32_t offset : offsets) places.push_back(to[offset]);
  check.mappings.push_back(pictures::mapping_of(shape, places));
}

std::vector<uint32_t> run_student_swizzle(Check& check, const Swizzle& swizzle,
                                          const std::vector<uint32_t>& offsets) {
  const uint32_t n = static_cast<uint32_t>(offsets.size());
  Input<uint32_t> in(check, "in", offsets);
  Output<uint32_t> out(check, "out", n);
  run(check, {kernel_name_with_namespace(check, fmt::format("swizzle_all<{}, {}, {}>", swizzle.bits,
                                                            swizzle.base, swizzle.shift)),
              {{blocks_for(n, 256)}, {256}},
              {in, out, static_cast<int>(n)},
              swizzle.name()});
  const std::vector<uint32_t> to = out.read();
  add_mapping_picture(check, {swizzle.bits, swizzle.base, swizzle.shift}, to);
  return to;
}

std::string padded_grouped_binary(uint32_t value) {
  std::string text;
  for (int bit = value >> 12 ? 31 : 11; bit >= 0; --bit) {
    text += value >> bit & 1 ? '1' : '0';
    if (bit % 4 == 0 && bit > 0) text += '\'';
  }
  return text;
}

std::string bit_range_text(int first, int bits) {
  if (bits == 0) return "no bits";
  return bits == 1 ? fmt::format("bit {}", first)
                   : fmt::format("bits {} to {}", first, first + bits - 1);
}

// Loses the check if the student's function sends two offsets to one place: a tile stored in that
// order would lose data.
void check_bijective(Check& check, const Swizzle& swizzle, const std::vector<uint32_t>& got) {
  std::vector<int> from(kOffsets, -1);
  for (uint32_t offset = 0; offset < kOffsets; ++offset) {
    const uint32_t to = got[offset];
    if (to >= kOffsets) continue;  // check_swizzled_offsets reports an offset outside the range
    if (from[to] >= 0) {
      check.measured("a collision");
      check.fail_and_throw(
          check.line_of("swizzle"),
          fmt::format("{}: offsets {} and {} both go to {}, so the second store overwrites the "
                      "first.",
                      swizzle.name(), from[to], offset, to));
    }
    from[to] = static_cast<int>(offset);
  }
}

void check_swizzled_offsets(Check& check, const std::vector<SwizzleFunctionCall>& tries) {
  size_t wrong = 0;
  const SwizzleFunctionCall* shown = nullptr;
  for (const SwizzleFunctionCall& t : tries) {
    if (t.swizzle(t.offset) == t.got) continue;
    ++wrong;
    // Shows the wrong offset that has about four bits set: fewer bits explain too little, and more
    // are hard to read.
    if (!shown || std::abs(__builtin_popcount(t.offset) - 4) <
                      std::abs(__builtin_popcount(shown->offset) - 4))
      shown = &t;
  }
  check.figure("offsets", static_cast<double>(tries.size()));
  check.figure("wrong", static_cast<double>(wrong));
  if (!shown) {
    check.measured(fmt::format("{} right", grouped_digits(tries.size())));
    return;
  }
  check.measured(
      fmt::format("{} of {} wrong", grouped_digits(wrong), grouped_digits(tries.size())));
  const Swizzle& s = shown->swizzle;
  std::string message = fmt::format("{}: ", s.name());
  if (is_poison(shown->got))
    message += fmt::format("nothing was written for offset {}.", shown->offset);
  else
    message += fmt::format(
        "it maps offset {} to {}, which is wrong:\n"
        "    in  {}\n"
        "    out {}",
        shown->offset, shown->got, padded_grouped_binary(shown->offset),
        padded_grouped_binary(shown->got));
  message += fmt::format("\nYYY is {}, ZZZ is {}; bit 0 is the last digit. All other bits stay.",
                         bit_range_text(s.first_y(), s.bits), bit_range_text(s.first_z(), s.bits));
  const std::string hint = swizzle_misconception_hint(tries);
  if (!hint.empty()) message += "\n" + hint;
  check.fail_and_throw(check.line_of("swizzle"), message);
}

// The answer to a question that asks for a whole number from 0 to `most`. Loses the check if there
// is no such answer.
int submitted_whole_number(Check& check, const std::string& question, int most) {
  const int line = check.line_of(question.c_str());
  const std::optional<float> given = submitted_answer(check, question);
  if (!given)
    check.fail_and_throw({CheckFailureReason::Kind::missing, "", "LAB32_ANSWER(" + question + ")"},
                         0, fmt::format("The file has no LAB32_ANSWER({}, ...).", question));
  if (std::isnan(*given) || *given < 0) {
    check.measured("no answer");
    check.fail_and_throw(kWrongAnswer, line,
                         fmt::format("Not answered yet: {} (line {}).", question, line));
  }
  if (*given > static_cast<float>(most) || *given != std::floor(*given)) {
    check.measured("no such place");
    check.fail_and_throw(
        kWrongAnswer, line,
        fmt::format("{} is {}, but the question asks for a whole number from 0 to {}.", question,
                    answer_text_in_source(check, question, *given), most));
  }
  return static_cast<int>(*given);
}

// ---- B ----

struct CTypeNameAndSize {
  const char* name;
  int bytes;
};
constexpr CTypeNameAndSize kTypes[] = {{"char", 1}, {"short", 2}, {"int", 4}, {"double", 8}};
constexpr int kTileRows = 16;  // the default
constexpr int kChunkBytes = 16, kLineBytes = 128;

struct SwizzleTileShape {
  CTypeNameAndSize type;
  int row_bytes;
  int rows = kTileRows;
  int nx() const { return row_bytes / type.bytes; }
  int elements() const { return rows * nx(); }
  std::string tile_shape_text() const {
    return fmt::format("{} rows of {} {}s ({} bytes)", rows, nx(), type.name, row_bytes);
  }
};

struct StudentSwizzlePlacements {
  std::vector<int> chunk, documented, general;
};

StudentSwizzlePlacements run_student_swizzle_placements(Check& check,
                                                        const SwizzleTileShape& tile) {
  const uint32_t n = static_cast<uint32_t>(tile.elements());
  Output<int> chunk(check, "chunk", 5 * n), documented(check, "documented", 2 * n),
      general(check, "general", n);
  run(check, {kernel_name_with_namespace(check, fmt::format("place_all<{}>", tile.type.name)),
              {{blocks_for(n, 256)}, {256}},
              {tile.rows, tile.nx(), chunk, documented, general},
              tile.tile_shape_text()});
  return {chunk.read(), documented.read(), general.read()};
}

void check_chunks(Check& check, const SwizzleTileShape& tile, const StudentSwizzlePlacements& got) {
  static const char* const kFields[] = {"i16", "y16", "x16", "swz_y16", "swz_x16"};
  for (int i = 0; i < tile.elements(); ++i) {
    const int y = i / tile.nx(), x = i % tile.nx();
    const DocumentedSwizzleChunk c = documented_chunk(y, x, tile.nx(), tile.type.bytes);
    const std::array<int, 5> want = {c.i16, c.y16, c.x16, c.swz_y16, c.swz_x16};
    for (size_t k = 0; k < want.size(); ++k) {
      if (got.chunk[5 * i + k] == want[k]) continue;
      check.measured(fmt::format("{} wrong", kFields[k]));
      check.fail_and_throw(
          check.line_of("chunk_of"),
          fmt::format("{}: the {} of the element in row {}, column {} is not {}.",
                      tile.tile_shape_text(), kFields[k], y, x, got.chunk[5 * i + k]));
    }
  }
  for (int i = 0; i < tile.elements(); ++i) {
    const int y = i / tile.nx(), x = i % tile.nx();
    const DocumentedSwizzlePosition p = documented_place(y, x, tile.nx(), tile.type.bytes);
    const DocumentedSwizzlePosition q{got.documented[2 * i], got.documented[2 * i + 1]};
    if (p == q) continue;
    check.measured("place wrong");
    check.fail_and_throw(
        check.line_of("documented_place"),
        fmt::format("{}: the element in row {}, column {} does not go to row {}, column {}. Its "
                    "chunk goes to chunk column {}; the element keeps its place inside the chunk.",
                    tile.tile_shape_text(), y, x, q.y, q.x, got.chunk[5 * i + 4]));
  }
}

std::string at(int i, int nx) { return fmt::format("({}, {})", i / nx, i % nx); }

[[noreturn]] void lose_general(Check& check, const SwizzleTileShape& tile,
                               const std::string& column, const std::string& message) {
  check.measured(column);
  check.fail_and_throw(check.line_of("general_place"), tile.tile_shape_text() + ": " + message);
}

void check_permutation(Check& check, const SwizzleTileShape& tile,
                       const std::vector<int>& general) {
  std::vector<int> from(general.size(), -1);
  for (int i = 0; i < tile.elements(); ++i) {
    const int to = general[i];
    if (to < 0 || to >= tile.elements())
      lose_general(check, tile, "outside",
                   fmt::format("element (row, column) {} goes to place {}, outside the tile's {}.",
                               at(i, tile.nx()), to, tile.elements()));
    if (from[to] >= 0)
      lose_general(check, tile, "a collision",
                   fmt::format("elements (row, column) {} and {} both go to place {}.",
                               at(from[to], tile.nx()), at(i, tile.nx()), to));
    from[to] = i;
  }
}

void check_chunks_not_split(Check& check, const SwizzleTileShape& tile,
                            const std::vector<int>& general) {
  const int each = kChunkBytes / tile.type.bytes;
  for (int i = 0; i < tile.elements(); ++i) {
    const int first = i / each * each;
    if (general[first] % each == 0 && general[i] == general[first] + i % each) continue;
    lose_general(
        check, tile, "a split chunk",
        fmt::format("the chunk of element {} is split or misaligned: its elements go to places "
                    "{} and {}. A vector access or ldmatrix moves 16 bytes at once.",
                    at(first, tile.nx()), general[first], general[i]));
  }
}

// Checks that ldmatrix reads a matrix without bank conflicts: its 8 chunks, which are those of 8
// rows in one column, should use all 32 banks.
void check_ldmatrix_bank_conflicts(Check& check, const SwizzleTileShape& tile,
                                   const std::vector<int>& general) {
  for (int row = 0; row < tile.rows; row += 8) {
    for (int x = 0; x < tile.nx(); x += kChunkBytes / tile.type.bytes) {
      std::array<int, 8> owner;
      owner.fill(-1);
      for (int y = row; y < row + 8; ++y) {
        const int to = general[y * tile.nx() + x] * tile.type.bytes;
        int& slot = owner[to % kLineBytes / kChunkBytes];
        if (slot >= 0)
          lose_general(check, tile, "a bank conflict",
                       fmt::format("rows {} and {} keep column {} in the same four banks (from "
                                   "bank {} on).",
                                   slot, y, x, to % kLineBytes / 4));
        slot = y;
      }
    }
  }
}

}  // namespace

TEST_SUITE("lab:swizzle") {
  LAB_CHECK("A1 the table of <3, 0, 3>") {
    check.expected("the table");
    const Swizzle swizzle = kSwizzles[0];
    std::vector<uint32_t> offsets(64);
    std::iota(offsets.begin(), offsets.end(), 0);
    const std::vector<uint32_t> got = run_student_swizzle(check, swizzle, offsets);
    size_t right = 0;
    for (uint32_t i : offsets) right += got[i] == swizzle(i);
    check.measured(fmt::format("{} of 64 right", right));
    for (uint32_t i : offsets) {
      if (got[i] == swizzle(i)) continue;
      check.fail_and_throw(
          check.line_of("swizzle"),
          fmt::format("Offset {} is row {}, column {}, and the document's table does not have {} "
                      "there.",
                      i, i / 8, i % 8,
                      is_poison(got[i])     ? "an unwritten value"
                      : got[i] / 8 != i / 8 ? fmt::format("another row ({})", got[i] / 8)
                                            : fmt::format("column {}", got[i] % 8)));
    }
  }

  LAB_CHECK("A2 any B, M, S" * takes_rubric_keys(whole("random_offsets", 1, 10000))) {
    check.expected("all right");
    std::vector<uint32_t> offsets(kOffsets);
    std::iota(offsets.begin(), offsets.end(), 0);
    Random random = check.random();
    for (uint32_t i = 0; i < check.row.required_count("random_offsets"); ++i)
      offsets.push_back(random.below(0x7fffffff));
    std::vector<SwizzleFunctionCall> tries;
    std::vector<std::vector<uint32_t>> all;
    for (const Swizzle& s : kSwizzles) {
      all.push_back(run_student_swizzle(check, s, offsets));
      for (size_t i = 0; i < offsets.size(); ++i) tries.push_back({s, offsets[i], all.back()[i]});
    }
    // A function that only returns its offset, or 0, has the same hint from check_swizzled_offsets,
    // so it is not checked here.
    if (swizzle_misconception_hint(tries).empty())
      for (size_t i = 0; i < all.size(); ++i) check_bijective(check, kSwizzles[i], all[i]);
    check_swizzled_offsets(check, tries);
  }

  LAB_CHECK("A3 alike in a column") {
    check.expected("a counter-example");
    const int one = submitted_whole_number(check, "alike_row_1", 7),
              other = submitted_whole_number(check, "alike_row_2", 7);
    const int line = check.line_of("alike_row_2");
    check.measured(fmt::format("rows {} and {}", one, other));
    if (one == other)
      check.fail_and_throw(kWrongAnswer, line,
                           "These are the same row, but the question asks for two different rows.");
    const Swizzle swizzle{2, 0, 3};
    if (swizzle(8 * one) % 8 != swizzle(8 * other) % 8)
      check.fail_and_throw(
          kWrongAnswer, line,
          fmt::format("{} keeps column 0 of rows {} and {} in different columns. How many "
                      "row bits does it look at?",
                      swizzle.name(), one, other));
  }

  LAB_CHECK("B1 chunks of 16 bytes") {
    check.expected("all right");
    for (const CTypeNameAndSize& type : kTypes) {
      const SwizzleTileShape tile{type, kLineBytes};
      check_chunks(check, tile, run_student_swizzle_placements(check, tile));
    }
    check.measured("4 types right");
  }

  LAB_CHECK("B2 collision") {
    check.expected("a collision");
    const int nx = 16, bytes = 4;
    const int y1 = submitted_whole_number(check, "collision_y_1", kTileRows - 1);
    const int x1 = submitted_whole_number(check, "collision_x_1", nx - 1);
    const int y2 = submitted_whole_number(check, "collision_y_2", kTileRows - 1);
    const int x2 = submitted_whole_number(check, "collision_x_2", nx - 1);
    const int line = check.line_of("collision_y_2");
    if (y1 == y2 && x1 == x2) {
      check.measured("one element");
      check.fail_and_throw(kWrongAnswer, line,
                           "These are the same element, but the question asks for two different "
                           "elements.");
    }
    const DocumentedSwizzlePosition p = documented_place(y1, x1, nx, bytes);
    const DocumentedSwizzlePosition q = documented_place(y2, x2, nx, bytes);
    check.measured(p == q ? "found" : "no collision");
    if (!(p == q))
      check.fail_and_throw(
          kWrongAnswer, line,
          fmt::format("Element ({}, {}) goes to row {}, column {}, and ({}, {}) to row {}, "
                      "column {}. How many rows share one y16, and what does the `% nx` do "
                      "to 8 columns of chunks?",
                      y1, x1, p.y, p.x, y2, x2, q.y, q.x));
  }

  LAB_CHECK("B3 rows of any width" * takes_rubric_keys(wholes("row_bytes", 16, 1024, 0, 16))) {
    check.expected("all right");
    // Random widths in addition to the published ones. 8 rows fill whole lines at any width.
    Random random = check.random();
    std::vector<std::pair<int, int>> shapes;
    for (double row_bytes : check.row.required_numbers("row_bytes"))
      shapes.emplace_back(static_cast<int>(row_bytes), kTileRows);
    for (int i = 0; i < 4; ++i)
      shapes.emplace_back(16 * (1 + random.below(40)), 8 * (1 + random.below(12)));
    for (int width : {16, 32, 64}) shapes.emplace_back(width, 8 * (3 + random.below(6)));
    int tiles = 0;
    for (const auto& [row_bytes, rows] : shapes) {
      for (const CTypeNameAndSize& type : kTypes) {
        const SwizzleTileShape tile{type, row_bytes, rows};
        const std::vector<int> general = run_student_swizzle_placements(check, tile).general;
        check_permutation(check, tile, general);
        check_chunks_not_split(check, tile, general);
        if (tile.row_bytes <= kLineBytes && kLineBytes % tile.row_bytes == 0)
          check_ldmatrix_bank_conflicts(check, tile, general);
        ++tiles;
        if (tile.row_bytes != kLineBytes) continue;
        for (int i = 0; i < tile.elements(); ++i) {
          const DocumentedSwizzlePosition p =
              documented_place(i / tile.nx(), i % tile.nx(), tile.nx(), type.bytes);
          if (general[i] != p.y * tile.nx() + p.x)
            lose_general(
                check, tile, "not the document's",
                fmt::format(
                    "element (row, column) {} does not go where the document's formulas put it. "
                    "They hold for this tile.",
                    at(i, tile.nx())));
        }
      }
    }
    check.measured(fmt::format("{} tiles right", tiles));
  }
}

}  // namespace lab32::checks::swizzle
