// Prints the results of CuTe's own Swizzle (CUTLASS, cute/swizzle.hpp) for some offsets, for every B and M up
// to 4 and S from -5 to 5 that it accepts, as CSV. Needs no GPU. PACKAGE is the folder to which the Python
// package nvidia-cutlass 4.2.0.0, which contains the header, was unpacked:
//
//   nvcc -std=c++17 -I PACKAGE/cutlass_library/source/include cute_swizzle.cu && ./a.out
#include <cstdint>
#include <cstdio>
#include <cute/swizzle.hpp>

namespace {

// Each bit up to 15 is 1 in some offsets and 0 in others; the last offset has much higher bits.
constexpr uint32_t kOffsets[] = {1, 21, 106, 511, 1365, 2730, 4095, 39321, 0x76543210};

template <int B, int M, int S>
void row() {
  if constexpr ((S < 0 ? -S : S) >= B) {
    printf("%d,%d,%d", B, M, S);
    for (uint32_t offset : kOffsets) printf(",%u", cute::Swizzle<B, M, S>::apply(offset));
    printf("\n");
  }
  if constexpr (S < 5) {
    row<B, M, S + 1>();
  } else if constexpr (M < 4) {
    row<B, M + 1, -5>();
  } else if constexpr (B < 4) {
    row<B + 1, 0, -5>();
  }
}

}  // namespace

int main() {
  printf("B,M,S");
  for (uint32_t offset : kOffsets) printf(",%u", offset);
  printf("\n");
  row<0, 0, -5>();
}
