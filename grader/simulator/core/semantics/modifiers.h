// The modifiers that change what a row computes, as its function for one lane takes them.
#pragma once

namespace lab32::sim {

struct Modifiers {
  bool ftz = false;      // subnormal operands and results are zero
  bool sat = false;      // the result is clamped to [0, 1]
  bool relu = false;     // a negative result is zero
  bool nan = false;      // .NaN: min and max of a NaN are NaN
  bool xorsign = false;  // the result has the sign of the operands' product
};

}  // namespace lab32::sim
