#include "grading/reference_timings.h"

#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/table.h"

namespace lab32::grading {
std::string record_file(const std::string& card, const std::string& lab) {
  const std::string vendor = "NVIDIA ";
  std::string name =
      card.compare(0, vendor.size(), vendor) == 0 ? card.substr(vendor.size()) : card;
  for (char& c : name)
    c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "data/measured/" + name + "-" + lab + ".csv";
}

ReferenceTimings::ReferenceTimings(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  const auto cell = [&](const TableRow& row, const char* column) {
    const auto at = row.find(column);
    if (at == row.end()) throw Error(path + ": there is no column `" + column + "`");
    return at->second;
  };
  for (const TableRow& row : read_table(path))
    copies_[{cell(row, "task"), cell(row, "form"), cell(row, "n")}] =
        std::stod(cell(row, "median_ms")) / std::stod(cell(row, "copy_ms"));
}

std::optional<double> ReferenceTimings::copies(const std::string& task, const std::string& form,
                                               const std::string& n) const {
  const auto at = copies_.find({task, form, n});
  if (at == copies_.end()) return std::nullopt;
  return at->second;
}

}  // namespace lab32::grading
