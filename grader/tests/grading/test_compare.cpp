#include <doctest/doctest.h>

#include <limits>

#include "base/random.h"
#include "base/source_file.h"
#include "grading/launch/arrays.h"

namespace lab32::grading {
namespace {

std::vector<size_t> every(size_t first, size_t step, size_t end) {
  std::vector<size_t> indices;
  for (size_t i = first; i < end; i += step) indices.push_back(i);
  return indices;
}

float poison() {
  float value;
  std::memset(&value, 0xff, sizeof(value));
  return value;
}

}  // namespace

TEST_CASE("grading: wrong indices are described by their pattern") {
  CHECK(index_pattern_text({}, 10) == "");
  CHECK(index_pattern_text({0}, 1) == "");
  CHECK(index_pattern_text(every(0, 1, 10), 10) == "all of them");
  CHECK(index_pattern_text({9}, 10) == "only the last one");
  CHECK(index_pattern_text({0}, 10) == "only the first one");
  CHECK(index_pattern_text({4}, 10) == "only this one");
  CHECK(index_pattern_text(every(7, 1, 10), 10) == "the tail, from 7 on");
  CHECK(index_pattern_text(every(0, 1, 4), 10) == "the first 4");
  CHECK(index_pattern_text(every(3, 1, 6), 10) == "those from 3 to 5");
  CHECK(index_pattern_text(every(1, 2, 10), 10) == "every 2nd one from 1 on");
  CHECK(index_pattern_text(every(0, 3, 10), 10) == "every 3rd one from 0 on");
  CHECK(index_pattern_text(every(5, 11, 100), 100) == "every 11th one from 5 on");
  CHECK(index_pattern_text(every(5, 21, 200), 200) == "every 21st one from 5 on");
  CHECK(index_pattern_text({10, 12, 14}, 100) == "every 2nd one from 10 to 14");
  CHECK(index_pattern_text({0, 1, 2, 4, 5}, 6) == "all but element 3");
  CHECK(index_pattern_text({1, 2, 3, 5, 6, 7, 9, 10, 11}, 12) == "all but every 4th one from 0 on");
  CHECK(index_pattern_text({1, 2, 5, 11, 12}, 100) == "");
}

TEST_CASE("grading: a mismatch names the first index, both values, the count and the pattern") {
  const std::vector<float> want = {1, 2, 3, 4};
  CHECK(mismatch("out", want, want) == "");
  CHECK(mismatch("out", {1, 2, 3, 5}, want) ==
        "out[3] is 5 where 4 was expected; 1 of 4 elements is wrong: only the last one.");
  CHECK(mismatch("out", {0, 2, 0, 4}, want) ==
        "out[0] is 0 where 1 was expected; 2 of 4 elements are wrong: every 2nd one from 0 on.");
  CHECK(mismatch("sum", std::vector<int>{3}, {4}) == "sum[0] is 3 where 4 was expected.");
}

TEST_CASE("grading: poison is shown as an unwritten value") {
  const std::vector<float> want = {1, 2, 3, 4};
  CHECK(mismatch("out", {1, 2, 3, poison()}, want) ==
        "out[3] was not written; 4 was expected; 1 of 4 elements is wrong: only the last one.");
  CHECK(mismatch("out", {1, 2, poison(), poison()}, want) ==
        "out[2] was not written; 3 was expected; 2 of 4 elements are wrong: the tail, from 2 on "
        "(none of these was written).");
  CHECK(mismatch("out", {0, 2, poison(), poison()}, want) ==
        "out[0] is 0 where 1 was expected; 3 of 4 elements are wrong: all but element 1 (2 of "
        "these were "
        "not written).");
}

TEST_CASE("grading: NaN never passes, whatever value was expected") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(mismatch("out", std::vector<float>{nan}, {1.0f}, 1e-5) != "");
  CHECK(mismatch("out", std::vector<float>{nan}, {nan}, 1e-5) != "");
  CHECK(mismatch("out", std::vector<float>{1.0f}, {nan}, 1e-5) != "");
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(mismatch("out", std::vector<float>{inf}, {1.0f}, 1e-5) != "");
  CHECK(mismatch("out", std::vector<float>{inf}, {inf}, 1e-5) == "");
  CHECK(mismatch("out", std::vector<float>{1.0f}, {inf}, 1e-5) != "");
}

TEST_CASE("grading: the tolerance is relative") {
  CHECK(matches(1.00001f, 1.0f, 2e-5));
  CHECK_FALSE(matches(1.0001f, 1.0f, 2e-5));
  CHECK_FALSE(matches(1e-9f, 0.0f, 2e-5));
  CHECK(matches(-0.0f, 0.0f, 0.0));
}

TEST_CASE("grading: random numbers are the same everywhere") {
  Random random(1234567);  // the reference implementation's first values for this seed
  CHECK(random.bits() == 6457827717110365317u);
  CHECK(random.bits() == 3203168211198807973u);
  Random other(1);
  for (int i = 0; i < 1000; ++i) {
    CHECK(other.below(7) < 7);
    const float f = other.unit();
    CHECK(f >= -1.0f);
    CHECK(f < 1.0f);
  }
  CHECK(seed_of_stream(1, "a") != seed_of_stream(1, "b"));
  CHECK(seed_of_stream(1, "a") != seed_of_stream(2, "a"));
  CHECK(seed_of_stream(1, "a") == seed_of_stream(1, "a"));
}

TEST_CASE("grading: a source line is quoted with its place") {
  const SourceFile source = SourceFile::from_text(
      "// scale(x) is wanted\n__global__ void scale(int n) {\r\n\tout[i]\t= 1;\n}\n"
      "LAB32_ANSWER(add2_time, 1);\n",
      "lab/scale.cu");
  CHECK(source.location_and_source_line(3) == "lab/scale.cu:3\n    out[i] = 1;");
  CHECK(source.location_and_source_line(99) == "lab/scale.cu:99");
  CHECK(source.first_use_in_kernel("out", 2) == 3);
  CHECK(source.first_use_in_kernel("ou", 2) == 0);
  CHECK(source.line_of_name("scale") == 2);
  CHECK(source.line_of_name("add2_time") == 5);
  CHECK(source.line_of_name("add2") == 0);
  CHECK(source.line_of_name("nothing") == 0);
}

TEST_CASE("grading: a long source line is broken and quoted to its end") {
  const std::string store = "if (row < n && column < m) out[column * n + row] = ",
                    load = "tile[threadIdx.x][threadIdx.y ^ threadIdx.x % 16];";
  CHECK(SourceFile::from_text("  " + store + load, "a.cu").location_and_source_line(1) ==
        "a.cu:1\n    if (row < n && column < m) out[column * n + row] =\n"
        "      tile[threadIdx.x][threadIdx.y ^ threadIdx.x % 16];");
  std::string endless;
  for (int i = 0; i < 100; ++i) endless += load + " ";
  const std::string quoted = SourceFile::from_text(endless, "a.cu").location_and_source_line(1);
  CHECK(quoted.size() < 400);
  CHECK(quoted.substr(quoted.size() - 4) == " ...");
}

}  // namespace lab32::grading
