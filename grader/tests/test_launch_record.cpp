// The line that carries a launch from the program to the tool.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "report/launch_record.h"
#include "sample_records.h"
#include "scratch.h"

using namespace lab32;

namespace {

report::Recording read(const std::string& text) {
  std::istringstream in(text);
  return report::read_recording(in, "record");
}

}  // namespace

TEST_SUITE("launch record") {
  TEST_CASE("what is written is read again, all of it") {
    for (const report::LaunchRecord& record :
         {tests::strided_launch(), tests::shared_launch(), tests::faulty_launch()}) {
      const std::string line = report::to_line(record);
      CHECK(line.find('\n') == line.size() - 1);
      const report::Recording recording = read(line);
      REQUIRE(recording.launches.size() == 1);
      CHECK(report::to_line(recording.launches[0]) == line);
    }
    const report::LaunchRecord r = read(report::to_line(tests::shared_launch())).launches.at(0);
    CHECK(r.symbol == tests::shared_launch().symbol);
    CHECK(r.shape.block.y == 8);
    CHECK(r.registers == 24);
    CHECK(r.run.counters->shared_store.wavefronts == 32768);
    CHECK(r.run.lines.at(1).counters.shared_store.wavefronts == 32768);
    CHECK(r.run.occupancy->limiter == "warps");
    CHECK(r.run.predicted->bottleneck == tests::shared_launch().run.predicted->bottleneck);
    CHECK_FALSE(r.run.fault);
    const report::LaunchRecord f = read(report::to_line(tests::faulty_launch())).launches.at(0);
    CHECK_FALSE(f.run.counters);
    CHECK(f.run.fault->line == 22);
    CHECK(f.run.hazards->at(0).kind == observe::Finding::Kind::memory);
    CHECK(f.run.hazards->at(1).note);
  }

  TEST_CASE("appended by several processes, in one file") {
    const tests::Scratch scratch;
    const std::string path = (scratch.path / "record").string();
    report::append_line(path, report::to_line(tests::strided_launch()));
    report::append_line(path, report::to_line_unsupported("cudaGraphCreate"));
    report::append_line(path, report::to_line(tests::shared_launch()));
    std::ifstream in(path);
    const report::Recording recording = report::read_recording(in, path);
    CHECK(recording.launches.size() == 2);
    CHECK(recording.unsupported == std::vector<std::string>{"cudaGraphCreate"});
    CHECK_THROWS_WITH_AS(report::append_line("/no/such/place", "x\n"),
                         "/no/such/place: the record of a launch cannot be written: No such file "
                         "or directory",
                         Error);
  }

  TEST_CASE("a program that was killed while it wrote keeps what it had written") {
    const std::string line = report::to_line(tests::strided_launch());
    CHECK(read(line + line.substr(0, line.size() / 2)).launches.size() == 1);
    CHECK(read("").launches.empty());
    CHECK_THROWS_AS(read(line.substr(0, line.size() / 2) + "\n" + line), Error);
    CHECK_THROWS_AS(read("{\"launch\": {\"id\": 1}}\n" + line), Error);
  }

  TEST_CASE("bytes that are no UTF-8 do not break a line") {
    report::LaunchRecord record = tests::strided_launch();
    record.process_name = "caf\xe9";
    CHECK(read(report::to_line(record)).launches.at(0).process_name == "caf\xef\xbf\xbd");
  }
}
