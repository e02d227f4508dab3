// Pictures on a terminal: golden texts (tests/golden/pictures.txt), and properties of every
// picture.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "pictures/make.h"
#include "pictures/picture.h"
#include "pictures/text.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/sample_pictures.h"

namespace lab32::pictures {
namespace {

using tests::sample_access;

SwizzleMapping by_formula(const std::string& shape) {
  const CuteSwizzle s = read_swizzle(shape);
  std::vector<uint32_t> to;
  for (const uint32_t offset : offsets_of_drawn_groups(s)) to.push_back(swizzled_offset(s, offset));
  return mapping_of(s, to);
}

// Counts only the first byte of each character.
ptrdiff_t characters_of(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
}

std::string all_texts() {
  PicturedLaunch launch = tests::sample_launch();
  launch.mappings = {by_formula("3,0,3"), by_formula("2,0,-3"), by_formula("4,4,6")};
  std::string out = text({"coalescing", "B1 scale: sectors", "labs/coalescing/coalescing.cu",
                          "Warp 0 of block 0: 24 lanes' loads.", launch},
                         false);
  for (const PicturedLineRequests& access :
       {sample_access(false, 0, 16, 16, 0xffffffffu), sample_access(true, 0, 16, 16, 0xffffffffu),
        sample_access(true, 0, 128, 4, 0xffffffffu), sample_access(false, 1024, 0, 4, 1u)})
    out += "\n" + text(access, access.requests[0], false);
  return out;
}

// Removes the escape sequences for colours.
std::string without_colour(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = text.find('m', i);
    else
      out += text[i];
  }
  return out;
}

TEST_CASE("pictures: the pictures equal the golden texts") {
  tests::check_golden("pictures.txt", all_texts());
}

TEST_CASE("pictures: no line is wider than 80 columns") {
  std::istringstream lines(all_texts());
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(display_columns(line) <= 80);
  }
  // Names and numbers as long as a submission can make them; two-column lanes, some inactive.
  PicturedLaunch launch = tests::sample_launch();
  const std::string name = "particles_of_neighbours[31].position_before[1048575]";
  launch.kernel = "weigh_" + name;
  launch.setting = "1048576 rows of 4096 columns, reading the field that was stored last";
  launch.race = {{"thread 1023 of block (65535, 65535, 0)", 31, "writes", 1000, name + name},
                 {"thread 1022 of block (65535, 65535, 0)", 31, "reads", 1001, name + name},
                 name,
                 "an atomic of a wider scope"};
  launch.fault = {"out of bounds", name + " " + name, 12, name, "thread 0", name, 1 << 30, 128, 4};
  launch.traffic = launch.reference = PicturedTraffic{};
  for (auto* traffic : {&*launch.traffic, &*launch.reference}) {
    traffic->requests = traffic->sectors = traffic->ideal_sectors = 123'456'789'012;
    traffic->shared_requests = traffic->wavefronts = traffic->ideal_wavefronts = 123'456'789'012;
    traffic->caches = {100, 100, 123'456'789'012, 123'456'789'012, 1 << 30, 1 << 30};
  }
  launch.accesses = {sample_access(true, 0, 4, 4, 0x0000ffffu)};
  const std::string file = "the/folder/of/somebody/labs/bank_conflicts/bank_conflicts.cu";
  std::istringstream longest(text(
      {"bank_conflicts", "B4 row_moments: wavefronts", file, name + " " + name, launch}, false));
  for (std::string line; std::getline(longest, line);) {
    INFO(line);
    CHECK(display_columns(line) <= 80);
  }
  // The largest possible block.
  BarrierIntervalsOfBlock steps{0, 1024, {{std::vector<uint32_t>(32, 0xfu), 1, "", false}}, false};
  std::istringstream wide(text(steps, false));
  for (std::string line; std::getline(wide, line);) CHECK(display_columns(line) <= 80);
}

TEST_CASE("pictures: the number of blocks is printed once") {
  PicturedLaunch launch = tests::sample_launch();
  launch.setting = "1 block of 64";
  CHECK(text(launch, false).find("scale<float>, 1 block of 64 threads\n") == 0);
  launch.setting = "n = 64, 1 block of 64";
  CHECK(text(launch, false).find("scale<float> (n = 64), 1 block of 64 threads\n") == 0);
  launch.setting = "n = 64";
  CHECK(text(launch, false).find("scale<float> (n = 64), 1 block of 64 threads\n") == 0);
}

TEST_CASE("pictures: colour adds no information to the characters") {
  const PicturedLaunch launch = tests::sample_launch();
  CHECK(without_colour(text(launch, true)) == text(launch, false));
}

TEST_CASE("pictures: the elements of a lane appear below it") {
  // Each lane has a sector of its own: 24 sectors, 3 lines and 6 groups of 8 lanes.
  const PicturedLineRequests access = sample_access(false, 0, 32, 4, 0x00ffffffu);
  const std::string drawn = text(access, access.requests[0], false);
  CHECK(drawn.find("24 sectors where 3 would do; 12.5 % of the bytes moved are used") !=
        std::string::npos);
  CHECK(drawn.find("in[0]         │0·······│1·······│2·······│3·······│  16 of 128 bytes") !=
        std::string::npos);
  CHECK(drawn.find("mno") == std::string::npos);  // lanes 24 to 31 are inactive
}

TEST_CASE("pictures: a long name keeps its index") {
  PicturedLineRequests access = sample_access(false, 0, 32, 4, 1u);
  access.requests[0].name[0] = "particles[1048575]";
  CHECK(text(access, access.requests[0], false).find("\npar…[1048575] │0") != std::string::npos);
  access.requests[0].name[0] = "a_name_without_end[123456789]";
  CHECK(text(access, access.requests[0], false).find("\na_name_witho… │0") != std::string::npos);
}

TEST_CASE("pictures: a swizzle's table is CUTLASS' Swizzle") {
  for (const char* shape : {"3,0,3", "1,0,1", "2,1,4", "3,4,3", "0,4,3", "5,0,5"}) {
    CAPTURE(shape);
    const SwizzleMapping m = by_formula(shape);
    std::set<uint32_t> places(m.to.begin(), m.to.end());
    CHECK(places.size() == m.to.size());  // no two groups have the same place
    for (uint32_t row = 0; row < m.rows; ++row)
      for (uint32_t column = 0; column < m.columns; ++column)
        CHECK(m.to[row * m.columns + column] == row * m.columns + (column ^ row));
  }
  CHECK_THROWS_WITH_AS(read_swizzle("3,0"), doctest::Contains("three numbers"), Error);
  // Exactly the shapes that CuTe's Swizzle refuses to compile.
  for (const auto& [shape, why] : std::map<std::string, std::string>{
           {"3,0,2", "B (BBits) is at most |S| (SShift), or YYY and ZZZ would overlap"},
           {"3,0,-2", "B (BBits) is at most |S|"},
           {"-1,0,3", "B (BBits) is 0 or more"},
           {"3,-1,3", "M (MBase) is 0 or more"},
           {"0,1,31", "M + |S| is at most 31"},
           {"1,0,-99999999999", "M + |S| is at most 31"},
           {"11,11,11", "B + M + |S| is at most 32"}}) {
    CAPTURE(shape);
    CHECK_THROWS_WITH_AS(read_swizzle(shape), doctest::Contains(why.c_str()), Error);
  }
  for (const char* shape :
       {"0,0,0", "0,0,31", "0,31,0", "16,0,16", "16,0,-16", "1,30,1", "10,11,11"})
    CHECK_NOTHROW(read_swizzle(shape));
}

TEST_CASE("pictures: a large swizzle shows its first rows and columns and says so") {
  for (const char* shape : {"8,4,8", "16,0,16", "3,2,20", "6,0,-7", "2,0,-9"}) {
    CAPTURE(shape);
    const CuteSwizzle s = read_swizzle(shape);
    const SwizzleMapping m = by_formula(shape);
    CHECK(m.rows == std::min<uint64_t>(32, s.rows()));
    CHECK(m.columns == std::min<uint64_t>(32, s.columns()));
    // Computed in a different way than in the picture: bit by bit of the offset.
    for (uint32_t row = 0; row < m.rows; ++row)
      for (uint32_t column = 0; column < m.columns; ++column) {
        const uint64_t to = m.to[row * m.columns + column];
        CHECK(to / m.all_columns == (m.turned ? (row ^ (column & (s.rows() - 1))) : row));
        CHECK(to % m.all_columns == (m.turned ? column : column ^ row));
      }
    const std::string drawn = text(m, false);
    CHECK(drawn.find("✗ it") == drawn.rfind("✗"));
    CHECK(drawn.find("→") == std::string::npos);
    const std::string columns = "the first 32 of " + grouped_digits(s.columns()) + " columns.\n";
    CHECK(drawn.find(columns) != std::string::npos);
    CHECK((drawn.find("Drawn: the first 32 of " + grouped_digits(s.rows()) + " rows, ") !=
           std::string::npos) == (m.rows < s.rows()));
    std::istringstream lines(drawn);
    for (std::string line; std::getline(lines, line);) CHECK(characters_of(line) <= 80);
  }
}

TEST_CASE(
    "pictures: groups that leave the drawn part are marked for a function that is no swizzle") {
  const CuteSwizzle s = read_swizzle("3,0,8");
  std::vector<uint32_t> to = offsets_of_drawn_groups(s);
  to[0] += 100;
  to[1] += 256;
  const std::string drawn = text(mapping_of(s, to), false);
  CHECK(drawn.find("row 0    → ✗ 2 3 ") != std::string::npos);
  CHECK(drawn.find("\n→ it leaves what is drawn.\n") != std::string::npos);
}

void keys_of(const nlohmann::ordered_json& json, std::set<std::string>& keys) {
  if (json.is_object())
    for (const auto& [key, value] : json.items()) {
      keys.insert(key);
      keys_of(value, keys);
    }
  if (json.is_array())
    for (const auto& value : json) keys_of(value, keys);
}

TEST_CASE("pictures: README.md documents every key of the JSON") {
  PicturedLaunch launch = tests::sample_launch();
  launch.mappings = {by_formula("3,0,3")};
  std::set<std::string> keys;
  keys_of(nlohmann::ordered_json::parse(json({"lab", "check", "file", "message", launch})), keys);
  const std::string readme = *read_file(lab32_root() / "grader/pictures/README.md");
  for (const std::string& key : keys) {
    CAPTURE(key);
    const bool quoted = readme.find('"' + key + '"') != std::string::npos;
    const bool named = readme.find(": " + key + ",") != std::string::npos ||
                       readme.find(", " + key + ",") != std::string::npos ||
                       readme.find(", " + key + "\n") != std::string::npos;
    CHECK((quoted || named));
  }
}

}  // namespace
}  // namespace lab32::pictures
