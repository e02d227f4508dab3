#include "labs/bank_conflicts/references.h"

namespace lab32::checks::bank_conflicts {

std::vector<int> integers(Random& random, size_t count, uint32_t bound) {
  std::vector<int> values(count);
  for (int& v : values) v = static_cast<int>(random.below(bound));
  return values;
}

std::vector<uint8_t> pixels(Random& random, size_t count) {
  std::vector<uint8_t> values(count);
  for (uint8_t& v : values) v = static_cast<uint8_t>(random.below(256));
  return values;
}

std::vector<int> row_scan_of(std::vector<int> in) {
  for (size_t i = 0; i < in.size(); ++i)
    if (i % kRowLength != 0) in[i] += in[i - 1];
  return in;
}

std::vector<int> row_moments_of(const std::vector<uint8_t>& in) {
  std::vector<int> sums(in.size() / kRowLength);
  for (size_t i = 0; i < in.size(); ++i)
    sums[i / kRowLength] += static_cast<int>(i % kRowLength + 1) * in[i];
  return sums;
}

}  // namespace lab32::checks::bank_conflicts
