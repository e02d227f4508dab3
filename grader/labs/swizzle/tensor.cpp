// The swizzle lab, part D: the copy engine's swizzles, compared with what an H200 has written.
// Contract: labs/swizzle/swizzle.cu.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "labs/swizzle/mapping.h"

namespace lab32::checks::swizzle {
namespace {

std::string name_of(const TensorBox& box) {
  return fmt::format("{}-byte mode, a box of {} rows of {} elements of {} byte{}, base {}",
                     box.mode, box.rows, box.columns, box.element_bytes,
                     box.element_bytes == 1 ? "" : "s", box.base);
}

// A property of the boxes that the student's function gets wrong, for the message.
const char* hint(const TensorBox& box) {
  if (box.columns * box.element_bytes < box.mode)
    return "The box is narrower than the mode: how far apart do its rows begin?";
  if (box.base != 0)
    return "Your function is right for this box at base 0: does the engine XOR the bits "
           "of the offset in the box, or those of the address?";
  return "Which bits of the address does this mode XOR onto which? The mode's name is the width "
         "within which chunks change places.";
}

void check_mode(Check& check, const TensorBox& box) {
  Output<int> out(check, "out", box.landing.size());
  run(check, {given_kernel(check, "land_all"),
              {{blocks_for(box.landing.size(), 256)}, {256}},
              {box.mode, box.base, box.rows, box.columns, box.element_bytes, out},
              name_of(box)});
  const std::vector<int> got = out.read();
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == box.landing[i]) continue;
    check.measured(fmt::format("wrong, {} bytes", box.mode));
    check.lose(
        check.line_of("landing"),
        fmt::format(
            "{}: the element in row {}, column {} {}. An H200 puts it somewhere else.\n"
            "{}",
            name_of(box), i / box.columns, i % box.columns,
            is_poison(got[i]) ? "has no place" : fmt::format("does not go to byte {}", got[i]),
            hint(box)));
  }
}

// Launches the student's function for every box that an H200 has recorded (tensor_boxes()) in the
// swizzle modes of the rubric row, and compares where each element lands. For each mode the record
// begins with boxes at base 0 that are as wide as the mode, so that a message is about a simple
// box.
void check_modes(Check& check) {
  check.expected("as on an H200");
  int boxes = 0;
  for (double mode : check.row.numbers("modes")) {
    for (const TensorBox& box : tensor_boxes()) {
      if (box.mode != static_cast<int>(mode)) continue;
      check_mode(check, box);
      ++boxes;
    }
  }
  REQUIRE(boxes == static_cast<int>(check.row.number("boxes")));
  check.figure("boxes", boxes);
  check.measured(fmt::format("{} boxes right", boxes));
}

}  // namespace

TEST_SUITE("lab:swizzle") {
  LAB_CHECK("D1 the 128-byte mode" * takes("modes", "boxes")) { check_modes(check); }

  LAB_CHECK("D2 the 64- and 32-byte modes" * takes("modes", "boxes")) { check_modes(check); }
}

}  // namespace lab32::checks::swizzle
