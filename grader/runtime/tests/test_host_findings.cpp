// Padding that nothing has written, and kernels that order memory for the host.
#include <doctest/doctest.h>

#include "runtime/cudart/copy.h"
#include "runtime/cudart/device_code.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::cudart;

namespace {

// The gaps of `count` structures of `size` bytes.
Gaps repeated(const Gaps& one, uint64_t size, uint64_t count) {
  Gaps all;
  for (uint64_t i = 0; i < count; ++i)
    for (const auto& [begin, end] : one) all.emplace_back(begin + i * size, end + i * size);
  return all;
}

}  // namespace

TEST_SUITE("cudart: the host") {
  TEST_CASE("cudart: padding repeats in each structure, in front of an aligned member" * kSlow) {
    // {double, int}, {int, double}, {char, int, char}, {float3} of 16 bytes
    CHECK(may_be_padding(repeated({{12, 16}}, 16, 100), 1600));
    CHECK(may_be_padding(repeated({{4, 8}}, 16, 100), 1600));
    CHECK(may_be_padding(repeated({{1, 4}, {9, 12}}, 12, 3), 36));
    CHECK(may_be_padding(repeated({{12, 16}}, 16, 1), 16));
    // One structure has none.
    Gaps one_less = repeated({{12, 16}}, 16, 100);
    one_less.pop_back();
    CHECK_FALSE(may_be_padding(one_less, 1600));
    // The end of an array, both ends, each other word, and the last column of a matrix.
    CHECK_FALSE(may_be_padding({{3996, 4000}}, 4000));
    CHECK_FALSE(may_be_padding({{0, 4}, {3996, 4000}}, 4000));
    CHECK_FALSE(may_be_padding(repeated({{4, 8}}, 8, 100), 800));
    CHECK_FALSE(may_be_padding(repeated({{396, 400}}, 400, 10), 4000));
    CHECK_FALSE(may_be_padding({{0, 64}}, 64));
  }

  TEST_CASE("cudart: kernels with fences for the whole system are found" * kSlow) {
    const std::string plain = ".visible .entry plain(\n)\n{\nret;\n}\n",
                      tells = ".visible .entry tells(\n)\n{\nfence.acq_rel.sys;\nret;\n}\n",
                      helper = ".func helper()\n{\nmembar.sys;\nret;\n}\n";
    using Names = std::set<std::string>;
    CHECK(kernels_using_system_scope(plain).empty());
    CHECK(kernels_using_system_scope(plain + tells) == Names{"tells"});
    CHECK(kernels_using_system_scope(tells + plain) == Names{"tells"});
    CHECK(kernels_using_system_scope(helper + plain) == Names{"plain"});
  }
}
