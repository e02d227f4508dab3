#include "grading/launch/reference_counts.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/environment.h"
#include "base/files.h"
#include "base/pattern.h"

namespace lab32::grading {
namespace {

using pictures::Traffic;

const char* const kColumns =
    "lab,kernel,setting,requests,sectors,ideal_sectors,asked_bytes,shared_requests,wavefronts,"
    "ideal_wavefronts,l1_percent,l2_percent,l2_read_sectors,l2_write_sectors,dram_read,"
    "dram_written";

std::filesystem::path record_file() { return root() / "data/simulated/solutions.csv"; }

using Count = std::pair<const char*, uint64_t Traffic::*>;
constexpr std::array<Count, 7> kCounts = {{{"requests", &Traffic::requests},
                                           {"sectors", &Traffic::sectors},
                                           {"ideal_sectors", &Traffic::ideal_sectors},
                                           {"asked_bytes", &Traffic::asked_bytes},
                                           {"shared_requests", &Traffic::shared_requests},
                                           {"wavefronts", &Traffic::wavefronts},
                                           {"ideal_wavefronts", &Traffic::ideal_wavefronts}}};

// Without it a percentage of the file would be read in the user's locale.
double percent(const std::string& text) {
  const size_t dot = text.find('.');
  const double whole = static_cast<double>(std::stoul(text));
  if (dot == std::string::npos) return whole;
  return whole + static_cast<double>(std::stoul(text.substr(dot + 1))) / 10;
}

std::string quoted(const std::string& text) {
  return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

}  // namespace

Task task_of(const std::string& lab, const pictures::Launch& launch) {
  static const Pattern blocks("([0-9]+) blocks? of ([0-9]+)");
  static const Pattern shape(", [0-9]+ blocks? of [0-9]+$");
  Task task{lab, launch.kernel.substr(0, launch.kernel.find('<')), launch.setting};
  if (const auto match = blocks.match(launch.setting)) {
    task.times = std::stoull((*match)[1]);
    task.setting = "a block of " + (*match)[2];
  } else {
    task.setting = shape.replace(launch.setting, "");
  }
  return task;
}

std::optional<ReferenceRow> reference_row(const std::string& lab, const pictures::Launch& launch) {
  ReferenceRow row{task_of(lab, launch), {}};
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

std::vector<ReferenceRow> read_reference_rows() {
  std::vector<ReferenceRow> rows;
  std::error_code error;
  if (!std::filesystem::exists(record_file(), error)) return rows;
  for (const TableRow& cells : read_table(record_file().string())) {
    ReferenceRow row;
    row.task = {cells.at("lab"), cells.at("kernel"), cells.at("setting")};
    for (const auto& [name, count] : kCounts) row.traffic.*count = std::stoull(cells.at(name));
    const auto number = [&](const char* name) { return std::stoull(cells.at(name)); };
    if (!cells.at("l1_percent").empty())
      row.traffic.caches = {percent(cells.at("l1_percent")),
                            percent(cells.at("l2_percent")),
                            number("l2_read_sectors"),
                            number("l2_write_sectors"),
                            number("dram_read"),
                            number("dram_written")};
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string print_reference_rows(const std::vector<ReferenceRow>& rows) {
  std::string out =
      "# what: launches of the reference solutions that are the same for every seed; counts are\n"
      "#   simulated, caches modelled (H200); a block of N: per block\n"
      "# command: LAB32_UPDATE_REFERENCE=1 build/lab32_tests -tc='grading: counts of the "
      "solution*'\n";
  out += std::string(kColumns) + "\n";
  for (const ReferenceRow& row : rows) {
    out += fmt::format("{},{},{}", row.task.lab, row.task.kernel, quoted(row.task.setting));
    for (const auto& [name, count] : kCounts) out += fmt::format(",{}", row.traffic.*count);
    if (const auto& c = row.traffic.caches)
      out += fmt::format(",{:.1f},{:.1f},{},{},{},{}\n", c->l1_percent, c->l2_percent,
                         c->l2_read_sectors, c->l2_write_sectors, c->dram_read, c->dram_written);
    else
      out += ",,,,,,\n";
  }
  return out;
}

std::optional<Traffic> reference_counts(const Task& task) {
  static const std::vector<ReferenceRow> rows = read_reference_rows();
  for (const ReferenceRow& row : rows) {
    if (row.task < task || task < row.task) continue;
    Traffic traffic = row.traffic;
    for (const auto& [name, count] : kCounts) traffic.*count *= task.times;
    return traffic;
  }
  return std::nullopt;
}

}  // namespace lab32::grading
