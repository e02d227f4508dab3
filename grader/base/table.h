// The tables of data/: CSV below lines that begin with #.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab32 {

// The cells of a line as RFC 4180 has them, but for line ends inside quotes, which data/README.md
// rules out.
std::vector<std::string> csv_cells(const std::string& line);

using TableRow = std::map<std::string, std::string>;  // cells by the names of their columns

// Throws Error naming the file when it cannot be read, and the line when it has other columns.
std::vector<TableRow> read_table(const std::string& path);

}  // namespace lab32
