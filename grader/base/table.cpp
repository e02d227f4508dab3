#include "base/table.h"

#include <fstream>

#include "base/error.h"

namespace lab32 {

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<TableRow> read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + " cannot be read");
  std::vector<std::string> names;
  std::vector<TableRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells = csv_cells(line);
    if (names.empty()) {
      names = std::move(cells);
      continue;
    }
    if (cells.size() != names.size()) throw Error(path + ": `" + line + "` has other columns");
    TableRow& row = rows.emplace_back();
    for (size_t i = 0; i < cells.size(); ++i) row[names[i]] = std::move(cells[i]);
  }
  return rows;
}

}  // namespace lab32
