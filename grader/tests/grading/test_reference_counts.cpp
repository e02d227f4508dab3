// The counts that are shown beside a student's are those of the solutions. After a change of a
// solution or of what is counted, LAB32_UPDATE_REFERENCE=1 writes the record anew.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/root.h"
#include "base/table.h"
#include "grading/reference_counts.h"
#include "grading/runner.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/sample_pictures.h"

namespace lab32::grading {
namespace {

using Rows = std::map<Task, pictures::Traffic>;

// What is told of a launch, but for its caches.
std::string counts_of(const pictures::Traffic& t) {
  return fmt::format("{} {} {} {} {} {} {}", t.requests, t.sectors, t.ideal_sectors, t.asked_bytes,
                     t.shared_requests, t.wavefronts, t.ideal_wavefronts);
}

// Caches are modelled: where arrays lie decides a little of it.
bool near(double a, double b) { return std::abs(a - b) <= 2 + 0.05 * std::max(a, b); }

bool alike_in_caches(const pictures::Traffic& a, const pictures::Traffic& b) {
  if (!a.caches || !b.caches) return a.caches.has_value() == b.caches.has_value();
  const auto &x = *a.caches, &y = *b.caches;
  const auto in_kilobytes = [](uint64_t bytes) { return static_cast<double>(bytes) / 1e3; };
  return near(x.l1_percent, y.l1_percent) && near(x.l2_percent, y.l2_percent) &&
         near(in_kilobytes(32 * x.l2_read_sectors), in_kilobytes(32 * y.l2_read_sectors)) &&
         near(in_kilobytes(32 * x.l2_write_sectors), in_kilobytes(32 * y.l2_write_sectors)) &&
         near(in_kilobytes(x.dram_read), in_kilobytes(y.dram_read)) &&
         near(in_kilobytes(x.dram_written), in_kilobytes(y.dram_written));
}

// What a check is judged by, "lab,check,figure" -> value; what is asked is not told.
using Figures = std::map<std::string, std::string>;

Figures figures_of(const report::Result& result) {
  Figures figures;
  const std::string ideal = "ideal_";
  for (const report::Lab& lab : result.labs)
    for (const report::Test& test : lab.tests)
      for (const auto& [name, value] : test.figures)
        if (test.figures.count(ideal + name) > 0 && test.figures.count("questions") == 0 &&
            test.measured.find(name.substr(name.find('_') + 1)) != std::string::npos)
          figures[fmt::format("{},{},{}", lab.name, test.name, name)] =
              fmt::format("{:.10g}", value);
  return figures;
}

struct Seen {
  Rows launches;  // without tasks whose launches differ among themselves
  Figures figures;
};

Seen graded(const std::string& lab, uint64_t seed) {
  const tests::InRoot in_root;
  Rows rows;
  std::set<Task> differ;
  GradeOptions options;
  options.labs = {lab};
  options.dir = "solutions";
  options.device = "sim:h200";
  options.seed = seed;
  options.time_limit = 600;
  options.close_up.emplace();
  options.every_launch = [&](const pictures::Launch& launch) {
    const auto row = reference_row(lab, launch);
    if (!row) return;
    const auto [at, fresh] = rows.try_emplace(row->task, row->traffic);
    if (fresh) return;
    if (counts_of(at->second) != counts_of(row->traffic)) differ.insert(row->task);
    if (!alike_in_caches(at->second, row->traffic)) at->second.caches.reset();
  };
  const report::Result result = grade(options);
  for (const Task& task : differ) rows.erase(task);
  return {rows, figures_of(result)};
}

Figures recorded_figures() {
  Figures figures;
  const auto file = root() / "data/simulated/solutions-checks.csv";
  if (!std::filesystem::exists(file)) return figures;
  for (const TableRow& row : read_table(file.string()))
    figures[row.at("lab") + "," + row.at("check") + "," + row.at("figure")] = row.at("value");
  return figures;
}

void write_record(const std::string& lab) {
  Seen one = graded(lab, 1), other = graded(lab, 2);
  Rows all;
  for (const ReferenceRow& row : read_reference_rows())
    if (row.task.lab != lab) all.emplace(row.task, row.traffic);
  for (auto& [task, traffic] : one.launches) {
    const auto same = other.launches.find(task);
    if (same == other.launches.end() || counts_of(same->second) != counts_of(traffic)) continue;
    if (!alike_in_caches(same->second, traffic)) traffic.caches.reset();
    all.emplace(task, traffic);
  }
  std::vector<ReferenceRow> rows;
  for (const auto& [task, traffic] : all) rows.push_back({task, traffic});
  const auto folder = root() / "data/simulated";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "solutions.csv") << print_reference_rows(rows);
  Figures figures = recorded_figures();
  for (auto at = figures.begin(); at != figures.end();)
    at = at->first.rfind(lab + ",", 0) == 0 ? figures.erase(at) : std::next(at);
  for (const auto& [name, value] : one.figures)
    if (const auto same = other.figures.find(name);
        same != other.figures.end() && same->second == value)
      figures[name] = value;
  std::ofstream out(folder / "solutions-checks.csv");
  out << "# what: figures of the checks of the reference solutions that are the same for every "
         "seed; simulated\n"
         "# command: LAB32_UPDATE_REFERENCE=1 build/lab32_tests -tc='grading: reference counts*'\n"
         "lab,check,figure,value\n";
  for (const auto& [name, value] : figures) out << name << "," << value << "\n";
}

void check_record(const std::string& lab) {
  if (std::getenv("LAB32_UPDATE_REFERENCE") != nullptr) write_record(lab);
  const Seen seen = graded(lab, 1);
  const Rows& now = seen.launches;
  int count = 0;
  for (const ReferenceRow& row : read_reference_rows()) {
    if (row.task.lab != lab) continue;
    ++count;
    INFO(row.task.kernel, " (", row.task.setting, "); if it should differ, run with ",
         "LAB32_UPDATE_REFERENCE=1");
    const auto at = now.find(row.task);
    REQUIRE(at != now.end());
    CHECK(counts_of(at->second) == counts_of(row.traffic));
    if (row.traffic.caches) CHECK(alike_in_caches(at->second, row.traffic));
  }
  CHECK(count > 0);
  for (const auto& [name, value] : recorded_figures()) {
    if (name.rfind(lab + ",", 0) != 0) continue;
    INFO(name);
    const auto at = seen.figures.find(name);
    REQUIRE(at != seen.figures.end());
    CHECK(at->second == value);
  }
}

TEST_EACH_LAB("grading: reference counts", check_record);

TEST_CASE("grading: reference counts of so many blocks are those of one, so many times") {
  pictures::Launch launch = tests::sample_launch();
  launch.kernel = "reduce_v3";
  launch.setting = "7 blocks of 128";
  const auto counts = reference_counts(task_of("reduction", launch));
  launch.setting = "1 block of 128";
  const auto one = reference_counts(task_of("reduction", launch));
  REQUIRE(counts);
  REQUIRE(one);
  // 128 ints are 16 sectors, their sum is in one more.
  CHECK(one->sectors == 17);
  CHECK(counts->sectors == 7 * 17);
  CHECK(counts->wavefronts == 7 * one->wavefronts);
  CHECK_FALSE(counts->caches);
}

TEST_CASE("grading: reference counts know a launch whatever its own shape and types") {
  pictures::Launch launch = tests::sample_launch();
  launch.kernel = "reduce_v7<int, 128>";
  launch.setting = "int, n = 4194304, 2048 blocks of 128";
  const Task task = task_of("reduction", launch);
  CHECK(task.kernel == "reduce_v7");
  CHECK(task.setting == "int, n = 4194304");
  CHECK(task.times == 1);
  launch.setting = "n = 77";
  CHECK_FALSE(reference_counts(task_of("reduction", launch)));
}

}  // namespace
}  // namespace lab32::grading
