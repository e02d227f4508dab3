#include <doctest/doctest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/fixtures/scratch.h"

using namespace lab32;
using Cells = std::vector<std::string>;

TEST_CASE("base: csv: a quoted cell may contain commas and quotes") {
  CHECK(csv_cells("a,b,,c") == Cells{"a", "b", "", "c"});
  CHECK(csv_cells("") == Cells{""});
  CHECK(csv_cells("\"reduce_v7<int, 256>\",\"say \"\"so\"\"\"\r") ==
        Cells{"reduce_v7<int, 256>", "say \"so\""});
}

TEST_CASE("base: a table gives its rows by column name, and skips the comment lines") {
  const tests::ScratchDirectory scratch;
  const auto rows = read_csv_table(
      scratch.write("good.csv", "# device: NVIDIA H200\nform,ms\n\"v1, int\",1.5\n\nv2,0.9\n")
          .string());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == TableRow{{"form", "v1, int"}, {"ms", "1.5"}});
  CHECK(rows[1].at("ms") == "0.9");

  const std::string bad = scratch.write("bad.csv", "form,ms\nv1\n").string();
  CHECK_THROWS_WITH_AS(read_csv_table(bad), (bad + ": `v1` has other columns").c_str(), Error);
  CHECK_THROWS_WITH_AS(read_csv_table("/nowhere.csv"), "/nowhere.csv cannot be read", Error);
}
