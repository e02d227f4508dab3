// The line that carries a launch from the program to the tool.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "runtime/record/recording.h"
#include "runtime/tests/fixtures/sample_records.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"

using namespace lab32;

namespace {

record::RecordedProgramRun recording_of(const std::string& text) {
  std::istringstream in(text);
  return record::read_recording(in, "record");
}

// Gives all counters of a structure values that differ from each other and from the initial ones.
void set_distinct(uint64_t& count, uint64_t& last) { count = ++last; }
void set_distinct(double& share, uint64_t& last) { share = 1 / static_cast<double>(++last); }
void set_distinct(bool& flag, uint64_t& /*last*/) { flag = true; }
template <class Group>
void set_distinct(Group& group, uint64_t& last) {
  counters::visit_each_counter([&](const char*, auto& member) { set_distinct(member, last); },
                               group);
}

template <class T>
void check_carried(const std::string& name, const T& written, const T& read) {
  if constexpr (counters::kIsGroup<T>) {
    // The rows of counters.def are all members that there are.
    size_t bytes = 0;
    counters::visit_each_counter([&](const char*, const auto& row) { bytes += sizeof row; },
                                 written);
    CHECK_MESSAGE(sizeof(T) == (bytes + alignof(T) - 1) / alignof(T) * alignof(T), name);
    counters::visit_each_counter([&](const char* row, const auto& out,
                                     const auto& in) { check_carried(name + "." + row, out, in); },
                                 written, read);
  } else {
    CHECK_MESSAGE(read == written, name);
  }
}

}  // namespace

TEST_SUITE("launch record") {
  TEST_CASE("record: every counter of counters.def is written and read") {
    record::LaunchProfile record = tests::strided_launch();
    uint64_t last = 0;
    counters::Counters launch, line;
    counters::CacheCounters caches;
    set_distinct(launch, last);
    set_distinct(line, last);
    set_distinct(caches, last);
    record.run.counters = launch;
    record.run.lines.at(0).counters = line;
    record.run.caches = caches;
    const device::LaunchResult read =
        recording_of(record::to_json_record_line(record)).launches.at(0).run;
    check_carried("counters", launch, read.counters.value());
    check_carried("line", line, read.lines.at(0).counters);
    check_carried("caches", caches, read.caches.value());
  }

  TEST_CASE("record: everything written is read again" * kSlow) {
    for (const record::LaunchProfile& record :
         {tests::strided_launch(), tests::shared_launch(), tests::faulty_launch()}) {
      const std::string line = record::to_json_record_line(record);
      CHECK(line.find('\n') == line.size() - 1);
      const record::RecordedProgramRun recording = recording_of(line);
      REQUIRE(recording.launches.size() == 1);
      CHECK(record::to_json_record_line(recording.launches[0]) == line);
    }
    const record::LaunchProfile r =
        recording_of(record::to_json_record_line(tests::shared_launch())).launches.at(0);
    CHECK(r.symbol == tests::shared_launch().symbol);
    CHECK(r.shape.block.y == 8);
    CHECK(r.registers == 24);
    CHECK(r.run.counters->shared_store.wavefronts == 32768);
    CHECK(r.run.lines.at(1).counters.shared_store.wavefronts == 32768);
    CHECK(r.run.occupancy->limiter == "warps");
    CHECK(r.run.predicted->bottleneck == tests::shared_launch().run.predicted->bottleneck);
    CHECK_FALSE(r.run.fault);
    const record::LaunchProfile f =
        recording_of(record::to_json_record_line(tests::faulty_launch())).launches.at(0);
    CHECK_FALSE(f.run.counters);
    CHECK(f.run.fault->line == 22);
    CHECK(f.run.fault->kind == sim::TrapKind::out_of_bounds);
    CHECK(f.run.fault->trap->access->object == "out");
    CHECK_FALSE(f.run.fault->trap->waiting);
    CHECK(f.run.hazards->at(2).element == 17);
    CHECK(f.run.hazards->at(2).other.use == sim::AccessUse::write);
    CHECK(f.run.hazards->at(0).kind == counters::Finding::Kind::memory);
    CHECK(f.run.hazards->at(1).note);
  }

  TEST_CASE("record: several processes append to one file" * kSlow) {
    const tests::ScratchDirectory scratch;
    const std::string path = (scratch.path / "record").string();
    record::append_line(path, record::to_json_record_line(tests::strided_launch()));
    record::append_line(path, record::unsupported_record_line("cudaGraphCreate"));
    record::append_line(path, record::to_json_record_line(tests::shared_launch()));
    std::ifstream in(path);
    const record::RecordedProgramRun recording = record::read_recording(in, path);
    CHECK(recording.launches.size() == 2);
    CHECK(recording.unsupported == std::vector<std::string>{"cudaGraphCreate"});
    CHECK_THROWS_WITH_AS(record::append_line("/no/such/place", "x\n"),
                         "/no/such/place: the record of a launch cannot be written: No such file "
                         "or directory",
                         Error);
  }

  TEST_CASE("record: a fault of the host is read again" * kSlow) {
    record::HostFinding finding;
    finding.kind = record::HostFinding::Kind::race;
    finding.call = "cudaMemcpy";
    finding.launch = true;
    finding.file = "a.cu";
    finding.line = 7;
    finding.text = "fails";
    const record::RecordedProgramRun recording = recording_of(record::to_json_record_line(finding));
    REQUIRE(recording.host_findings.size() == 1);
    CHECK(record::to_json_record_line(recording.host_findings[0]) ==
          record::to_json_record_line(finding));
    CHECK(recording.host_findings[0].line == 7);
  }

  TEST_CASE("record: a program that was killed while it wrote keeps what it had written" * kSlow) {
    const std::string line = record::to_json_record_line(tests::strided_launch());
    CHECK(recording_of(line + line.substr(0, line.size() / 2)).launches.size() == 1);
    CHECK(recording_of("").launches.empty());
    CHECK_THROWS_AS(recording_of(line.substr(0, line.size() / 2) + "\n" + line), Error);
    CHECK_THROWS_AS(recording_of("{\"launch\": {\"id\": 1}}\n" + line), Error);
  }

  TEST_CASE("record: a number that does not fit is refused, with its line" * kSlow) {
    const std::string line = record::to_json_record_line(tests::strided_launch());
    const std::string member = "\"registers\":";
    const size_t begin = line.find(member) + member.size();
    const size_t end = line.find(',', begin);
    for (const char* bad : {"6.6e+20", "99999999999", "-99999999999", "1.5", "true", "\"1\""})
      CHECK_THROWS_WITH_AS(
          recording_of(line + line.substr(0, begin) + bad + line.substr(end)),
          (std::string("record:2: not a record of a launch: a number that does not fit, ") + bad)
              .c_str(),
          Error);
  }

  TEST_CASE("record: bytes that are not UTF-8 do not break a line" * kSlow) {
    record::LaunchProfile record = tests::strided_launch();
    record.process_name = "caf\xe9";
    CHECK(recording_of(record::to_json_record_line(record)).launches.at(0).process_name ==
          "caf\xef\xbf\xbd");
  }
}
