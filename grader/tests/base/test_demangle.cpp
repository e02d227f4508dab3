// Demangling is safe for any name, since students choose the names of kernels.
#include <doctest/doctest.h>

#include <chrono>

#include "base/text.h"

using namespace lab32;

TEST_CASE("base: a name that would expand to more text than there is memory is not demangled") {
  // A<A<...<A<int, int>, S0_>, S1_>, S2_> ...: the text doubles with each.
  const auto nested = [](int depth) {
    std::string name = "_Z1f1AI";
    for (int i = 1; i < depth; ++i) name += "S_I";
    name += "S_IiiE";
    const char* digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int i = 0; i < depth; ++i) name += std::string("S") + digits[i] + "_E";
    return name;
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) CHECK(demangle(nested(34)) == nested(34));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(demangle(nested(2)) == "f(A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, int> > >)");
  CHECK(
      demangle(
          "_ZN8__main__4make12_3clocals_3e5innerB2v1B8cw51cXTLE5ArrayIfLi1E1C7mutable7alignedEx") ==
      "inner(Array<float, 1, C, mutable, aligned>, long long)");
  CHECK(demangle("_Z" + std::string(3 << 20, 'x')).size() == (3 << 20) + 2);
}
