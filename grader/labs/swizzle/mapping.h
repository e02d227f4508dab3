// The mappings of the swizzle lab: CUTLASS's Swizzle, the document's formulas, the boxes that an
// H200's copy engine has written, and the misconceptions that the grader recognises.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/words/words.h"

namespace lab32::checks::swizzle {

// Swizzle<bits, base, shift> of CUTLASS: XORs `bits` bits of an offset, from bit base + max(0,
// shift) on (YYY), into those from bit base - min(0, shift) on (ZZZ).
struct Swizzle {
  int bits, base, shift;

  int first_y() const { return base + (shift > 0 ? shift : 0); }
  int first_z() const { return base - (shift < 0 ? shift : 0); }
  uint32_t operator()(uint32_t offset) const;
  std::string name() const;
};

// One answer of the student's function. swizzle_misconception_hint() returns a sentence about the
// misconception that would give all of these answers; empty if no known misconception does.
struct SwizzleFunctionCall {
  Swizzle swizzle;
  uint32_t offset, got;
};
std::string swizzle_misconception_hint(const std::vector<SwizzleFunctionCall>& tries);

// Where the document's formulas place element (y, x) of rows of nx elements: the chunk of 16 bytes
// that holds it, and the places of chunk and element. The formulas hold for rows of 128 bytes.
struct DocumentedSwizzleChunk {
  int i16, y16, x16, swz_y16, swz_x16;
};
DocumentedSwizzleChunk documented_chunk(int y, int x, int nx, int element_bytes);

struct DocumentedSwizzlePosition {
  int y, x;
  bool operator==(const DocumentedSwizzlePosition& o) const { return y == o.y && x == o.x; }
};
DocumentedSwizzlePosition documented_place(int y, int x, int nx, int element_bytes);

// A box that the copy engine has written to shared memory
// (grader/labs/swizzle/measure/tensor_maps.cu).
struct MeasuredBoxLayout {
  int mode, element_bytes, columns, rows, base;
  std::vector<int> landing;  // the byte offset of element y * columns + x from a multiple of 1024
};

// All boxes of data/measured/h200-tensor_maps.csv. Throws Error if the file cannot be read.
std::vector<MeasuredBoxLayout> measured_box_layouts();

}  // namespace lab32::checks::swizzle
