#include "labs/record.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <vector>

#include "base/error.h"

namespace lab32::labs {
namespace {

// The cells of a line of CSV. A quoted one may hold commas; none of ours holds a quote.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      found.emplace_back();
    else
      found.back() += c;
  }
  return found;
}

}  // namespace

std::string record_file(const std::string& card, const std::string& lab) {
  const std::string vendor = "NVIDIA ";
  std::string name =
      card.compare(0, vendor.size(), vendor) == 0 ? card.substr(vendor.size()) : card;
  for (char& c : name)
    c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "data/measured/" + name + "-" + lab + ".csv";
}

Record::Record(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> row = cells(line);
    if (header.empty()) {
      header = row;
      continue;
    }
    const auto cell = [&](const char* column) {
      const auto at =
          static_cast<size_t>(std::find(header.begin(), header.end(), column) - header.begin());
      if (at >= row.size()) throw Error(path + ": a line has no `" + column + "`: " + line);
      return row[at];
    };
    copies_[{cell("task"), cell("form"), cell("n")}] =
        std::stod(cell("median_ms")) / std::stod(cell("copy_ms"));
  }
}

std::optional<double> Record::copies(const std::string& task, const std::string& form,
                                     const std::string& n) const {
  const auto at = copies_.find({task, form, n});
  if (at == copies_.end()) return std::nullopt;
  return at->second;
}

}  // namespace lab32::labs
