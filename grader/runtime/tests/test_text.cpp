// What `lab32 profile` and `lab32 check` print of a program's launches, to the letter.
#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "runtime/profiler/commands.h"
#include "runtime/profiler/metrics.h"
#include "runtime/profiler/nvcc_words.h"
#include "runtime/profiler/profile_text.h"
#include "runtime/profiler/start.h"
#include "runtime/tests/fixtures/sample_records.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::profiler;
using tests::check_golden;
using tests::InRoot;

namespace {

int widest(const std::string& text) {
  int most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, display_columns(line));
  return most;
}

std::vector<record::LaunchProfile> launches() {
  return {tests::strided_launch(), tests::shared_launch(), tests::shared_launch(),
          tests::faulty_launch()};
}

std::vector<const Metric*> every_metric() {
  std::vector<const Metric*> all;
  for (const Metric& m : all_metrics()) all.push_back(&m);
  return all;
}

}  // namespace

TEST_SUITE("programs: text") {
  TEST_CASE("profiler: each launch has a table, and equal launches share one" * kSlow) {
    const InRoot in_root;
    const std::string text = profile_text(launches());
    CHECK(widest(text) <= 100);
    check_golden("profile-tables.txt", text);
  }

  TEST_CASE("profiler: with several devices, each launch names its own" * kSlow) {
    std::vector<record::LaunchProfile> both = {tests::shared_launch(), tests::shared_launch()};
    both[1].device = 1;
    both[1].run.peer_accesses = 1234;
    const std::string text = profile_text(both);
    CHECK(text.find("stream 13 of device 0, sim:") != std::string::npos);
    CHECK(text.find("stream 13 of device 1, sim:") != std::string::npos);
    CHECK(text.find("1,234 accesses of warps reached another device's memory") !=
          std::string::npos);
    both[1].device = 0;
    CHECK(profile_text(both).find("of device") == std::string::npos);
  }

  TEST_CASE("profiler: alternating launches share tables, and launches that all differ have few" *
            kSlow) {
    std::vector<record::LaunchProfile> turns;
    for (uint64_t i = 0; i < 8; ++i) {
      turns.push_back(i % 2 == 0 ? tests::strided_launch() : tests::shared_launch());
      turns.back().stream = 13 + i % 4;
    }
    const std::string alike = profile_text(turns);
    for (const char* words : {"launches 0, 2, ..., 6, alike: ", "launches 1, 3, ..., 7, alike: ",
                              "streams 13, 15, ", "streams 14, 16, "})
      CHECK(alike.find(words) != std::string::npos);
    CHECK(alike.find("launch 2") == std::string::npos);

    std::vector<record::LaunchProfile> all_differ;
    for (uint64_t i = 0; i < 9; ++i) {
      all_differ.push_back(tests::strided_launch());
      all_differ.back().run.counters->l2_sectors = 5000 + i;
    }
    const std::string some = profile_text(all_differ);
    CHECK(widest(some) <= 100);
    CHECK(some.find("launch 2: ") != std::string::npos);
    CHECK(some.find("launch 3: ") == std::string::npos);
    CHECK(some.find("launches 3 to 8: ") != std::string::npos);
    CHECK(some.find("5,003 to 5,008 sectors in L2") != std::string::npos);
  }

  TEST_CASE("profiler: the source view shows counters beside lines" * kSlow) {
    const InRoot in_root;
    const std::string text = source_view(launches());
    CHECK(widest(text) <= 120);
    check_golden("profile-source.txt", text);
    CHECK(source_view({tests::faulty_launch()}) == "--source: no launch has counts by line\n");
  }

  TEST_CASE("profiler: the source view has columns for textures, bulk copies and clusters if used" *
            kSlow) {
    const InRoot in_root;
    const std::string text = source_view({tests::other_traffic_launch()});
    CHECK(widest(text) <= 160);
    check_golden("profile-source-ways.txt", text);
    // With launches that know no other way, and of one that knows a single one.
    CHECK(source_view({tests::other_traffic_launch(), tests::strided_launch()}).find("cluster") !=
          std::string::npos);
    record::LaunchProfile one = tests::other_traffic_launch();
    one.run.lines.resize(1);
    const std::string textures = source_view({one});
    CHECK(textures.find("textures, surfaces") != std::string::npos);
    CHECK(textures.find("bulk copies  ") == std::string::npos);
    CHECK(textures.find('?') == std::string::npos);
  }

  TEST_CASE("profiler: --metrics prints the named metrics" * kSlow) {
    const InRoot in_root;
    check_golden(
        "profile-metrics.txt",
        metrics_text(launches(), parse_metric_list("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,"
                                                   " dram__bytes_read.sum,gpu__time_duration.sum,"
                                                   "launch__waves_per_multiprocessor")));
  }

  TEST_CASE("profiler: unknown metrics, and metrics that only a GPU has, are refused" * kSlow) {
    CHECK_THROWS_WITH_AS(parse_metric_list("dram__bytes_raed.sum"),
                         "--metrics: there is no `dram__bytes_raed.sum`; similar names: "
                         "dram__bytes_read.sum, dram__bytes_write.sum, dram__bytes.sum",
                         Error);
    CHECK_THROWS_WITH_AS(
        parse_metric_list("launch__grid_size,zzzzzz"),
        "--metrics: there is no `zzzzzz`; `lab32 profile --csv FILE` without --metrics writes all",
        Error);
    CHECK_THROWS_WITH_AS(parse_metric_list("smsp__inst_executed.sum"),
                         "--metrics: `smsp__inst_executed.sum` cannot be measured: the simulator "
                         "counts PTX instructions, not those that ptxas generates; `lab32 profile` "
                         "and --source show them under their own name",
                         Error);
    CHECK_THROWS_AS(parse_metric_list(" ,"), Error);
    for (const Metric* m : every_metric()) CHECK(parse_metric_list(m->name).front() == m);
  }

  TEST_CASE("profiler: the edit distance finds similar names" * kSlow) {
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("flaw", "lawn") == 2);
    CHECK(suggestions("rad", {"red", "ld", "atom", "rod"}, 2) ==
          std::vector<std::string>{"red", "rod"});
  }

  TEST_CASE("profiler: the text says how a program ended" * kSlow) {
    CHECK(exit_status_text(3) == "the program's own exit status: 3");
    CHECK(exit_status_text(128 + SIGKILL) == "the program was killed by SIGKILL (Killed)");
    CHECK(exit_status_text(128 + SIGSEGV) ==
          "the program was killed by SIGSEGV (Segmentation fault); host code that accesses device "
          "memory ends so");
  }

  TEST_CASE("profiler: numbers have ncu's format" * kSlow) {
    CHECK(metric_text(0) == "0");
    CHECK(metric_text(1048576) == "1,048,576");
    CHECK(metric_text(3.90625) == "3.91");
    CHECK(metric_text(0.0038) == "0.00");
    CHECK(metric_text(618370370370.37) == "618,370,370,370.37");
    CHECK(metric_text(-5) == "-5");
  }

  TEST_CASE("profiler: each finding is printed once, and the last line counts them" * kSlow) {
    const InRoot in_root;
    const ProgramHazardReport report = make_hazard_report(
        {tests::strided_launch(), tests::faulty_launch(), tests::faulty_launch()});
    check_golden("check-findings.txt", report.text + report.last_line() + "\n");
    CHECK(report.memory == 1);
    CHECK(report.race == 2);
    CHECK(report.last_line() ==
          "lab32 check: 3 hazards (memory 1, race 2, initialisation 0, barrier 0)");
    CHECK(make_hazard_report({tests::strided_launch()}).text.empty());
  }

  TEST_CASE("profiler: faults of the host have the call, its line and what is wrong" * kSlow) {
    const InRoot in_root;
    using Kind = record::HostFinding::Kind;
    const std::string file = "grader/runtime/tests/programs/errors/failed_calls.cu";
    ProgramHazardReport report;
    add_host_findings(
        {{Kind::memory, "cudaFree", false, file, 61,
          "failed (cudaErrorInvalidValue: invalid argument): the program has freed `a` before"},
         {Kind::initialisation, "cudaMemcpy", false, "", 0, "copies 4 bytes to the host"},
         {Kind::race, "", false, file, 60, "the host reads offset 0 of `a` (400 bytes)"}},
        &report);
    check_golden("check-host.txt", report.text + report.last_line() + "\n");
    CHECK(report.hazards() == 3);
    CHECK(widest(report.text) <= 80);
  }

  TEST_CASE("profiler: Numba's kernels have short names, and a hint at their lines" * kSlow) {
    record::LaunchProfile r = tests::faulty_launch();
    r.symbol = "_ZN8__main__3addB2v2B8cw51cXTLE5ArrayIfLi1E1C7mutable7alignedE";
    CHECK(make_hazard_report({r}).text.find("lineinfo") == std::string::npos);
    r.run.fault->file = "<PTX 1>";
    const std::string text = make_hazard_report({r}).text;
    CHECK(text.find(" in add(Array<float, 1, C, mutable, aligned>)") != std::string::npos);
    CHECK(text.find("@cuda.jit(lineinfo=True) gives findings lines of Python") !=
          std::string::npos);
  }

  TEST_CASE("profiler: registers are those of ptxas, at least 16, and rounded where allocated" *
            kSlow) {
    record::LaunchProfile r = tests::shared_launch();
    r.shape.grid = {1, 1, 1};
    r.shape.block = {100, 1, 1};
    const auto value = [&](const std::string& metric) {
      return parse_metric_list(metric).front()->value(r).value();
    };
    for (const auto& [registers, shown, allocated] :
         std::vector<std::array<double, 3>>{{10, 16, 20.48}, {18, 18, 30.72}, {52, 52, 71.68}}) {
      r.registers = static_cast<uint32_t>(registers);
      CHECK(value("launch__registers_per_thread") == shown);
      CHECK(value("launch__registers_per_thread_allocated") == doctest::Approx(allocated));
    }
  }

  TEST_CASE("profiler: metrics that others give are given" * kSlow) {
    const record::LaunchProfile r = tests::shared_launch();
    const auto value = [&](const std::string& metric) {
      return parse_metric_list(metric).front()->value(r).value();
    };
    for (const std::string part : {"data_pipe_lsu_wavefronts", "data_bank_conflicts_pipe_lsu"}) {
      const std::string name = "l1tex__" + part + "_mem_shared";
      CHECK(value(name + ".sum") ==
            value(name + "_op_ld.sum") + value(name + "_op_st.sum") + value(name + "_op_atom.sum"));
    }
  }

  TEST_CASE("profiler: code for an earlier toolkit has a message that says what replaces it" *
            kSlow) {
    const auto says = [](const std::string& messages, const std::string& part) {
      const auto text = hint_about_old_code(messages);
      INFO(text.value_or("nothing"));
      return text && text->find(part) != std::string::npos;
    };
    CHECK(says("a.cu(7): error: class \"cudaDeviceProp\" has no member \"clockRate\"",
               "cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, device)"));
    CHECK(says("a.cu(7): error: class \"cudaDeviceProp\" has no member \"memoryClockRate\"",
               "cudaDevAttrMemoryClockRate"));
    const std::string location =
        "error: no suitable constructor exists to convert from \"int\" to \"cudaMemLocation\"\n";
    CHECK(says(location + "  cudaMemPrefetchAsync(p, n, device);",
               "{cudaMemLocationTypeDevice, device}, 0, stream)"));
    CHECK(says(location + "  cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, 0);",
               "cudaMemAdvise(pointer, bytes, advice, {cudaMemLocationTypeDevice, device})"));
    CHECK(says("nvcc fatal   : Unsupported gpu architecture 'compute_70'", "compute_70"));
    CHECK_FALSE(hint_about_old_code("error: class \"cudaDeviceProp\" has no member \"clock\""));
    CHECK_FALSE(hint_about_old_code("error: expected a \";\""));
  }

  TEST_CASE(
      "profiler: a fault without a finding counts as a hazard of its kind; other faults are shown" *
      kSlow) {
    record::LaunchProfile r = tests::faulty_launch();
    r.run.hazards.reset();
    for (const auto& [kind, line] : std::vector<std::pair<sim::TrapKind, std::string>>{
             {sim::TrapKind::misaligned,
              "1 hazard (memory 1, race 0, initialisation 0, barrier 0)"},
             {sim::TrapKind::uninitialised,
              "1 hazard (memory 0, race 0, initialisation 1, barrier 0)"},
             {sim::TrapKind::shuffle, "1 hazard (memory 0, race 0, initialisation 0, barrier 1)"},
             {sim::TrapKind::assertion,
              "0 hazards (memory 0, race 0, initialisation 0, barrier 0)"}}) {
      r.run.fault->kind = kind;
      const ProgramHazardReport report = make_hazard_report({r});
      CHECK(report.last_line() == "lab32 check: " + line);
      CHECK(report.stopped == (kind == sim::TrapKind::assertion));
      CHECK_FALSE(report.text.empty());
    }
  }

  TEST_CASE("profiler: the CSV has ncu's header, quoted fields and sorted metrics" * kSlow) {
    std::istringstream csv(ncu_csv(launches(), parse_metric_list("launch__grid_size,"
                                                                 "dram__bytes_read.sum")));
    std::vector<std::string> lines;
    for (std::string line; std::getline(csv, line);) lines.push_back(line);
    REQUIRE(lines.size() == 1 + 4 * 2);
    // The first line of what ncu itself wrote (data/measured/ncu).
    std::ifstream measured(lab32_root().string() + "/data/measured/ncu/h200-sample.csv");
    std::string header;
    while (std::getline(measured, header) && header[0] == '#') {
    }
    CHECK(lines[0] == header);
    CHECK(
        lines[1] ==
        "\"0\",\"4321\",\"copy\",\"127.0.0.1\",\"void strided_copy<float>(const T1 *, T1 *, "
        "unsigned int, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(391, 1, 1)\",\"0\",\"9.0\",\"Command "
        "line profiler metrics\",\"dram__bytes_read.sum\",\"byte\",\"1,600,000\"");
    CHECK(lines[4].find("\"launch__grid_size\",\"\",\"1,024\"") != std::string::npos);
    CHECK(lines[7].find("\"dram__bytes_read.sum\",\"byte\",\"n/a\"") != std::string::npos);
  }
}
