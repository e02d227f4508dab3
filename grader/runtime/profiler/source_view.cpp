#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "base/files.h"
#include "base/text.h"
#include "runtime/profiler/profile_text.h"

namespace lab32::profiler {
namespace {

using counters::Counters;

constexpr int kViewWidth = 120, kAround = 2;
// A line of source gets at least so many columns, however many columns of counters there are.
constexpr int kSource = 40;
constexpr size_t kMarked = 3;

using Lines = std::map<int, Counters>;
using Files = std::map<std::string, Lines>;

uint64_t wasted_sectors(const Counters& c) {
  const counters::BulkTraffic bulk = c.other.bulk();
  return c.l2_sectors - c.l2_sectors_ideal + bulk.sectors - bulk.ideal;
}
uint64_t wasted_wavefronts(const Counters& c) {
  return c.shared_wavefronts() - c.ideal_shared_wavefronts();
}

// The waste from which on a line is marked: that of the third worst line. 0: no line wastes
// anything.
uint64_t waste_of_third_worst_line(const Files& files, uint64_t (*waste)(const Counters&)) {
  std::vector<uint64_t> all;
  for (const auto& [file, lines] : files)
    for (const auto& [line, counters] : lines)
      if (waste(counters) > 0) all.push_back(waste(counters));
  std::sort(all.rbegin(), all.rend());
  return all.empty() ? 0 : all[std::min(kMarked, all.size()) - 1];
}

std::vector<std::string> read_displayable_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    std::string shown;
    for (const char c : line) {
      if (c == '\t')
        shown.append(4, ' ');
      else if (static_cast<unsigned char>(c) >= ' ')  // a control byte must not reach a terminal
        shown += c;
    }
    lines.push_back(shown);
  }
  return lines;
}

using Cells = std::array<std::string, 2>;

Cells count_and_cost_cells(uint64_t shown_count, uint64_t cost_or_ideal) {
  return shown_count == 0 ? Cells{}
                          : Cells{grouped_digits(shown_count), grouped_digits(cost_or_ideal)};
}

// Figures of one kind, which fill two columns.
struct SourceViewColumnPair {
  const char* name;  // heading
  std::array<const char*, 2> columns;
  bool always;  // false: the columns appear only if a launch has such figures
  Cells (*cells_of)(const Counters&);
  const char* legend = "";
};

Cells instruction_cells(const Counters& c) {
  if (c.warp_instructions == 0) return {};
  return {grouped_digits(c.warp_instructions),
          fmt::format("{:.1f}", static_cast<double>(c.lane_instructions) /
                                    static_cast<double>(c.warp_instructions))};
}

const std::array<SourceViewColumnPair, 6> kFigures{{
    {"PTX", {"instr.", "lanes"}, true, instruction_cells},
    {"global memory",
     {"sectors", "ideal"},
     true,
     [](const Counters& c) { return count_and_cost_cells(c.l2_sectors, c.l2_sectors_ideal); }},
    {"shared memory",
     {"wavefronts", "ideal"},
     true,
     [](const Counters& c) {
       return count_and_cost_cells(c.shared_wavefronts(), c.ideal_shared_wavefronts());
     }},
    {"textures, surfaces",
     {"requests", "sectors"},
     false,
     [](const Counters& c) {
       return count_and_cost_cells(c.other.texture_and_surface_traffic().requests,
                                   c.other.texture_and_surface_traffic().sectors);
     }},
    {"bulk copies",
     {"sectors", "ideal"},
     false,
     [](const Counters& c) {
       return count_and_cost_cells(c.other.bulk().sectors, c.other.bulk().ideal);
     },
     "by the copy engine (cp.async.bulk)"},
    {"cluster",
     {"requests", "sectors"},
     false,
     [](const Counters& c) {
       return count_and_cost_cells(c.other.remote_shared_traffic().requests,
                                   c.other.remote_shared_traffic().sectors);
     },
     "accesses to other blocks' shared memory"},
}};

bool has_uncounted_accesses(const Files& files) {
  for (const auto& [file, lines] : files)
    for (const auto& [line, c] : lines)
      if (c.other.unknown()) return true;
  return false;
}

class SourceLineCounterTable {
 public:
  explicit SourceLineCounterTable(const Files& files)
      : sectors_(waste_of_third_worst_line(files, wasted_sectors)),
        wavefronts_(waste_of_third_worst_line(files, wasted_wavefronts)) {
    for (const SourceViewColumnPair& figures : kFigures) {
      ShownColumnPair column{
          &figures, {display_columns(figures.columns[0]), display_columns(figures.columns[1])}};
      bool any = figures.always;
      for (const auto& [file, lines] : files)
        for (const auto& [line, c] : lines) {
          const Cells cells = figures.cells_of(c);
          any |= !cells[0].empty();
          for (size_t i = 0; i < cells.size(); ++i)
            column.width[i] = std::max(column.width[i], display_columns(cells[i]));
        }
      if (!any) continue;
      other_ways_ |= !figures.always;
      shown_.push_back(column);
    }
    if (!other_ways_) return;
    for (ShownColumnPair& column : shown_)  // makes room for the heading above each two columns
      column.width[1] += std::max(
          0, display_columns(column.figures->name) - 1 - column.width[0] - column.width[1]);
  }

  // Explains the shown columns whose headings are abbreviations.
  std::string legend() const {
    std::string out;
    for (const ShownColumnPair& column : shown_)
      if (column.figures->legend[0] != '\0')
        out += fmt::format("{}: {}\n", column.figures->name, column.figures->legend);
    return out;
  }

  std::string file_text(const std::string& path, const Lines& lines) const {
    const std::vector<std::string> text = read_displayable_lines(path);
    std::string out = path.empty() ? "without a line of source\n" : path_for_display(path) + "\n";
    if (text.empty() && !path.empty()) out += "  (cannot be read)\n";
    out += heading();
    int last = 0;
    for (auto it = lines.begin(); it != lines.end(); ++it) {
      const int around = text.empty() ? 0 : kAround;
      const int from = std::max(last + 1, it->first - around);
      if (last > 0 && from > last + 1) out += pad_left("...", 5) + "\n";
      for (int line = from; line < it->first; ++line) out += row_text(line, nullptr, text);
      out += row_text(it->first, &it->second, text);
      last = it->first;
      const auto next = std::next(it);
      const int until =
          next == lines.end() ? last + kAround : std::min(last + kAround, next->first - 1);
      while (last < until && last < static_cast<int>(text.size()))
        out += row_text(++last, nullptr, text);
    }
    return out + "\n";
  }

 private:
  struct ShownColumnPair {
    const SourceViewColumnPair* figures;
    std::array<int, 2> width;
  };

  std::string marks_of(const Counters& c) const {
    std::string out;
    if (sectors_ > 0 && wasted_sectors(c) >= sectors_) out += 'S';
    if (wavefronts_ > 0 && wasted_wavefronts(c) >= wavefronts_) out += 'W';
    if (c.ptx_level) out += '*';
    if (c.other.unknown()) out += '?';
    return out;
  }

  // `cells` has a text for each shown column, padded to its width.
  std::string joined_cells(const std::string& line, const std::vector<std::string>& cells,
                           const std::string& marks, const std::string& source) const {
    std::string out = pad_left(line, 5);
    for (const std::string& cell : cells) out += " | " + cell;
    out += " |" + pad_right(marks, 3) + "| ";
    const int width = std::max(kViewWidth, display_columns(out) + kSource);
    out += source;
    // Cuts a long line at its end, so that the columns stay aligned.
    while (display_columns(out) > width) {
      do out.pop_back();
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80);
    }
    return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  }

  static std::string cell_text(const ShownColumnPair& column, const std::string& first,
                               const std::string& second) {
    return pad_left(first, column.width[0]) + " " + pad_left(second, column.width[1]);
  }

  // With additional kinds of figures, column headings repeat, so a line above names the kind.
  std::string heading() const {
    std::vector<std::string> above, below;
    for (const ShownColumnPair& column : shown_) {
      above.push_back(pad_right(column.figures->name, column.width[0] + 1 + column.width[1]));
      below.push_back(cell_text(column, column.figures->columns[0], column.figures->columns[1]));
    }
    return (other_ways_ ? joined_cells("", above, "", "") : "") +
           joined_cells("line", below, "", "source");
  }

  std::string row_text(int line, const Counters* c, const std::vector<std::string>& text) const {
    const bool known = line >= 1 && line <= static_cast<int>(text.size());
    std::vector<std::string> cells;
    for (const ShownColumnPair& column : shown_) {
      const Cells of_line = c ? column.figures->cells_of(*c) : Cells{};
      cells.push_back(cell_text(column, of_line[0], of_line[1]));
    }
    return joined_cells(line > 0 ? std::to_string(line) : "", cells, c ? marks_of(*c) : "",
                        known ? text[static_cast<size_t>(line) - 1] : "");
  }

  uint64_t sectors_, wavefronts_;
  std::vector<ShownColumnPair> shown_;
  bool other_ways_ = false;
};

}  // namespace

std::string source_view(const std::vector<record::LaunchProfile>& launches) {
  Files files;
  for (const record::LaunchProfile& r : launches)
    for (const counters::LineCounters& line : r.run.lines)
      files[line.file][line.line] += line.counters;
  if (files.empty()) return "--source: no launch has counts by line\n";

  std::vector<std::pair<uint64_t, std::string>> order;
  for (const auto& [file, lines] : files) {
    uint64_t instructions = 0;
    for (const auto& [line, c] : lines) instructions += c.warp_instructions;
    order.emplace_back(instructions, file);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const SourceLineCounterTable view(files);
  std::string out;
  for (const auto& [instructions, file] : order) out += view.file_text(file, files.at(file));
  out +=
      "S, W: the three lines with the most sectors (wavefronts) beyond the ideal.\n"
      "instr., lanes: warp instructions, and active lanes per instruction: PTX-level. *: accesses "
      "counted in PTX, too.\n";
  out += view.legend();
  if (has_uncounted_accesses(files))
    out +=
        "?: moves bytes in a form whose counts on a GPU are not known; no column includes them.\n";
  return out;
}

}  // namespace lab32::profiler
