#include "grading/launch/launch_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/environment.h"
#include "base/files.h"
#include "base/text.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/launch/arrays.h"
#include "pictures/make.h"

namespace lab32::grading {

namespace {

constexpr char kGiven[] = "lab32_given::";

// "warp_sums" for "lab32_given::warp_sums<float>".
std::string kernel_base_name(std::string kernel) {
  kernel = kernel.substr(0, kernel.find('<'));
  return is_given_kernel(kernel) ? kernel.substr(sizeof kGiven - 1) : kernel;
}

// The first check with an open question, among those above the running check in the rubric, for
// which `hides` is true; empty: there is none.
template <class Hides>
std::string name_of_check_hiding_pictures(Check& check, Hides hides) {
  const GradingSession& s = check.session;
  for (const RubricCheckEntry& row : s.rubric.rows()) {
    if (&row == &check.row) break;
    if (row.asks() && s.passed.count(&row) == 0 && hides(row)) return row.check;
  }
  return "";
}

// The check with an open question that the cost of a launch could answer; empty: there is none. A
// check of counts has already decided whether to withhold its count, and its message says so.
std::string name_of_check_hiding_pictures(Check& check, const report::CheckResult& test) {
  const bool counts = check.row.credit != Credit::all;
  if (counts && test.figures.count("sectors") + test.figures.count("wavefronts") > 0) return "";
  return name_of_check_hiding_pictures(check, [](const RubricCheckEntry&) { return true; });
}

// Whether the pictures of the check will be withheld whatever its result is, except those of a
// race. A check of results may share its launch with another check that shows it.
bool pictures_will_be_withheld(Check& check) {
  const bool counts = check.row.credit != Credit::all, shared = check.sharing_launch;
  return !name_of_check_hiding_pictures(check, [&](const RubricCheckEntry& row) {
            return row.hides == "all" || (!counts && !shared);
          }).empty();
}

}  // namespace

void request_picture_details(Check& check, const Launch& launch, device::LaunchOptions& options) {
  const GradingSession& s = check.session;
  if (!s.setup.launch_detail) return;
  options.launch_detail = s.setup.launch_detail;
  options.launch_detail->file = s.source.display();
  if (is_given_kernel(launch.kernel) && !launch.pictures_of_given) {
    const int begin = s.source.line_of_name(kernel_base_name(launch.kernel));
    if (begin > 0) options.launch_detail->except = {begin, s.source.last_line_of_body(begin)};
  }
  // The model is used only for pictures that will be shown, because recording where bytes go costs
  // as much as the rest of the simulation.
  const bool shown =
      s.setup.every_launch || (launch.in_pictures && !pictures_will_be_withheld(check));
  if (shown && options.model == device::LaunchOptions::Model::none)
    options.model = device::LaunchOptions::Model::cold;
}

void keep_launch_pictures(Check& check, const Launch& launch, const device::LaunchResult& run) {
  GradingSession& s = check.session;
  check.last_pictures = nullptr;
  if (!s.setup.launch_detail) return;
  const std::string& kernel = launch.kernel;
  pictures::LaunchNames names{
      is_given_kernel(kernel) ? kernel.substr(sizeof kGiven - 1) : kernel, launch.setting,
      s.source.display(), s.source,
      [&check](uint64_t address, uint32_t) { return name_of_address(check, address); }};
  pictures::PicturedLaunch made = pictures::make_pictured_launch(run, launch.shape, names);
  // A launch without any access, shuffle, fault or race in the student's file has no picture.
  if (made.accesses.empty() && !made.shuffles && !made.fault && !made.race) return;
  if (s.setup.every_launch) s.setup.every_launch(made);
  if (!launch.in_pictures) {
    if (!made.fault && !made.race) return;
    made.accesses.clear();
  }
  check.last_pictures = std::make_shared<const pictures::PicturedLaunch>(std::move(made));
  keep_pictures_if_more_wasteful(check, check.last_pictures);
}

void keep_pictures_if_more_wasteful(
    Check& check, const std::shared_ptr<const pictures::PicturedLaunch>& pictures) {
  if (!pictures) return;
  const bool ended = pictures->fault || pictures->race;
  // If two launches waste equally much, the larger one is shown: a launch of few elements shows
  // little.
  const auto weight = [](const pictures::PicturedLaunch& l) {
    return std::make_pair(pictures::time_weighted_access_waste(l),
                          l.traffic ? l.traffic->requests : 0);
  };
  if (!check.pictures || ended || weight(*pictures) > weight(*check.pictures))
    check.pictures = pictures;
}

bool has_atomic_request(const pictures::PicturedLineRequests& access) {
  return std::any_of(access.requests.begin(), access.requests.end(), [](const auto& request) {
    return request.kind == "red" || request.kind == "atom";
  });
}

// Removes everything from the picture that would answer an open question. Returns that question if
// nothing is left.
std::string hide_answers_and_find_question(Check& check, pictures::PicturedLaunch& launch) {
  const GradingSession& s = check.session;
  std::string why;
  for (const RubricCheckEntry& row : s.rubric.rows()) {
    if (&row == &check.row) break;
    if (row.hides.empty() || s.passed.count(&row) > 0) continue;
    const bool all = row.hides == "all";
    const size_t accesses = launch.accesses.size();
    launch.accesses.erase(
        std::remove_if(launch.accesses.begin(), launch.accesses.end(),
                       [&](const pictures::PicturedLineRequests& access) {
                         return all || (row.hides == "atomics" && has_atomic_request(access)) ||
                                (row.hides == "shared" && access.shared);
                       }),
        launch.accesses.end());
    bool hidden = launch.accesses.size() < accesses;
    if (launch.shuffles && (all || row.hides == "shuffles")) {
      launch.shuffles.reset();
      hidden = true;
    }
    if (all) launch.steps.reset();
    if (hidden) why = row.check;
  }
  return launch.accesses.empty() && !launch.fault && !launch.race ? why : "";
}

void add_pictures(Check& check, report::CheckResult& test) {
  const GradingSession& s = check.session;
  if ((!check.pictures && check.mappings.empty()) || test.status == report::Status::not_run) return;
  if (check.row.asks() && test.status != report::Status::passed) {
    test.withheld_until = check.row.check;
    return;
  }
  test.withheld_until =
      check.withheld.empty() ? name_of_check_hiding_pictures(check, test) : check.withheld;
  if (!test.withheld_until.empty()) return;
  test.pictures = check.pictures ? *check.pictures : pictures::PicturedLaunch{};
  test.withheld_until = hide_answers_and_find_question(check, *test.pictures);
  if (!test.withheld_until.empty()) {
    test.pictures.reset();
    return;
  }
  test.pictures->mappings = check.mappings;
  if (check.pictures)
    test.pictures->reference =
        solution_traffic_of_task(solution_traffic_key_of(s.rubric.lab(), *check.pictures));
  // The texts of the verdict say which memory the check is about, while the picture may have
  // counters of both.
  const auto says = [&](const char* what) { return test.measured.find(what) != std::string::npos; };
  const bool shared = says("wavefront") ||
                      (test.figures.count("wavefronts") > 0 && test.figures.count("sectors") == 0);
  auto& accesses = test.pictures->accesses;
  // If nothing is wasted, the picture shows the first access of the kind that the check has
  // counted.
  if (shared || says("sector") || says("request") || says("adds"))
    std::stable_partition(accesses.begin(), accesses.end(),
                          [&](const pictures::PicturedLineRequests& a) {
                            return says("adds") ? has_atomic_request(a) : a.shared == shared;
                          });
  std::stable_partition(
      accesses.begin(), accesses.end(),
      [&](const pictures::PicturedLineRequests& a) { return a.shared == shared && a.waste > 0; });
  std::stable_partition(accesses.begin(), accesses.end(),
                        [&](const pictures::PicturedLineRequests& a) {
                          return a.line == test.line && a.shared == shared;
                        });
}

namespace {

using pictures::PicturedTraffic;

const char* const kColumns =
    "lab,kernel,setting,requests,sectors,ideal_sectors,asked_bytes,shared_requests,wavefronts,"
    "ideal_wavefronts,l1_percent,l2_percent,l2_read_sectors,l2_write_sectors,dram_read,"
    "dram_written";

std::filesystem::path record_file() { return lab32_root() / "data/simulated/solutions.csv"; }

using Count = std::pair<const char*, uint64_t PicturedTraffic::*>;
constexpr std::array<Count, 7> kCounts = {
    {{"requests", &PicturedTraffic::requests},
     {"sectors", &PicturedTraffic::sectors},
     {"ideal_sectors", &PicturedTraffic::ideal_sectors},
     {"asked_bytes", &PicturedTraffic::asked_bytes},
     {"shared_requests", &PicturedTraffic::shared_requests},
     {"wavefronts", &PicturedTraffic::wavefronts},
     {"ideal_wavefronts", &PicturedTraffic::ideal_wavefronts}}};

// Parses without the user's locale, which could read a percentage of the file differently.
double parse_percent(const std::string& text) {
  const size_t dot = text.find('.');
  const double whole = static_cast<double>(std::stoul(text));
  if (dot == std::string::npos) return whole;
  return whole + static_cast<double>(std::stoul(text.substr(dot + 1))) / 10;
}

std::string csv_field(const std::string& text) {
  return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

}  // namespace

SolutionTrafficKey solution_traffic_key_of(const std::string& lab,
                                           const pictures::PicturedLaunch& launch) {
  static const RegularExpression blocks("([0-9]+) blocks? of ([0-9]+)");
  static const RegularExpression shape(", [0-9]+ blocks? of [0-9]+$");
  SolutionTrafficKey task{lab, launch.kernel.substr(0, launch.kernel.find('<')), launch.setting};
  if (const auto match = blocks.match(launch.setting)) {
    task.times = std::stoull((*match)[1]);
    task.setting = "a block of " + (*match)[2];
  } else {
    task.setting = shape.replace(launch.setting, "");
  }
  return task;
}

std::optional<SolutionTrafficRow> solution_traffic_row_of_launch(
    const std::string& lab, const pictures::PicturedLaunch& launch) {
  SolutionTrafficRow row{solution_traffic_key_of(lab, launch), {}};
  if (!launch.traffic || row.task.setting.empty() || row.task.times == 0) return std::nullopt;
  row.traffic = *launch.traffic;
  if (row.task.times > 1) {
    for (const auto& [name, count] : kCounts) {
      if (row.traffic.*count % row.task.times != 0) return std::nullopt;
      row.traffic.*count /= row.task.times;
    }
  }
  if (row.task.setting.rfind("a block of ", 0) == 0) row.traffic.caches.reset();
  row.task.times = 1;
  return row;
}

std::vector<SolutionTrafficRow> read_solution_traffic_rows() {
  std::vector<SolutionTrafficRow> rows;
  std::error_code error;
  if (!std::filesystem::exists(record_file(), error)) return rows;
  for (const TableRow& cells : read_csv_table(record_file().string())) {
    SolutionTrafficRow row;
    row.task = {cells.at("lab"), cells.at("kernel"), cells.at("setting")};
    for (const auto& [name, count] : kCounts) row.traffic.*count = std::stoull(cells.at(name));
    const auto number = [&](const char* name) { return std::stoull(cells.at(name)); };
    if (!cells.at("l1_percent").empty())
      row.traffic.caches = {parse_percent(cells.at("l1_percent")),
                            parse_percent(cells.at("l2_percent")),
                            number("l2_read_sectors"),
                            number("l2_write_sectors"),
                            number("dram_read"),
                            number("dram_written")};
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string solution_traffic_csv(const std::vector<SolutionTrafficRow>& rows) {
  std::string out =
      "# what: launches of the reference solutions that are the same for every seed; counts are\n"
      "#   simulated, caches modelled (H200); a block of N: per block\n"
      "# command: LAB32_UPDATE_REFERENCE=1 build/lab32_tests -tc='grading: counts of the "
      "solution*'\n";
  out += std::string(kColumns) + "\n";
  for (const SolutionTrafficRow& row : rows) {
    out += fmt::format("{},{},{}", row.task.lab, row.task.kernel, csv_field(row.task.setting));
    for (const auto& [name, count] : kCounts) out += fmt::format(",{}", row.traffic.*count);
    if (const auto& c = row.traffic.caches)
      out += fmt::format(",{:.1f},{:.1f},{},{},{},{}\n", c->l1_percent, c->l2_percent,
                         c->l2_read_sectors, c->l2_write_sectors, c->dram_read, c->dram_written);
    else
      out += ",,,,,,\n";
  }
  return out;
}

std::optional<PicturedTraffic> solution_traffic_of_task(const SolutionTrafficKey& task) {
  static const std::vector<SolutionTrafficRow> rows = read_solution_traffic_rows();
  for (const SolutionTrafficRow& row : rows) {
    if (row.task < task || task < row.task) continue;
    PicturedTraffic traffic = row.traffic;
    for (const auto& [name, count] : kCounts) traffic.*count *= task.times;
    return traffic;
  }
  return std::nullopt;
}

}  // namespace lab32::grading
