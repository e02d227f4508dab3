// From the results of a launch to the data of pictures.
#include <doctest/doctest.h>

#include "pictures/make.h"

using namespace lab32;

namespace {

pictures::PicturedLaunch made(const counters::Counters& of_line) {
  static const SourceFile source = SourceFile::from_text("atomicAdd(total, in[i]);\n", "x.cu");
  device::LaunchResult run;
  run.counters = of_line;
  run.lines = {{"x.cu", 1, of_line}};
  return pictures::make_pictured_launch(
      run, {}, {"sum", "n = 32", "x.cu", source, [](uint64_t, uint32_t) { return ""; }});
}

}  // namespace

TEST_CASE("pictures: the sectors of a line are those of its pictures, including atomics") {
  counters::Counters c;
  c.load = {1, 4};
  c.red = {1, 32};  // 32 lanes add to one word
  c.l2_sectors = 5;
  c.l2_sectors_ideal = 5;
  const pictures::PicturedLaunch launch = made(c);
  REQUIRE(launch.lines.size() == 1);
  CHECK(launch.lines[0].sectors == 36);
  CHECK(launch.lines[0].ideal_sectors == 5);
  CHECK(launch.traffic->sectors == launch.lines[0].sectors);
  CHECK_FALSE(launch.lines[0].other);
}

TEST_CASE("pictures: other traffic is shown separately") {
  counters::Counters c;
  c.other.bulk_load = {1, 40, 32, 8};
  c.other.texture = {4, 16};
  c.other.remote_atom = {2, 64};
  c.other.bulk_unknown = 1;
  const pictures::PicturedLaunch launch = made(c);
  REQUIRE(launch.lines[0].other);
  const pictures::TextureBulkClusterTraffic& w = *launch.lines[0].other;
  CHECK(w.bulk_sectors == 40);
  CHECK(w.ideal_bulk_sectors == 32);
  CHECK(w.texture_requests == 4);
  CHECK(w.texture_sectors == 16);
  CHECK(w.cluster_requests == 2);
  CHECK(w.cluster_sectors == 64);
  CHECK(w.unknown);
  CHECK(launch.traffic->other);
  CHECK(launch.lines[0].sectors == 0);
}
