#include "profiler/source_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "base/layout.h"
#include "base/shown_path.h"
#include "base/text.h"

namespace lab32::profiler {
namespace {

using counters::Counters;

constexpr int kViewWidth = 120, kAround = 2;
constexpr size_t kMarked = 3;

using Lines = std::map<int, Counters>;
using Files = std::map<std::string, Lines>;

uint64_t waste_of_sectors(const Counters& c) { return c.l2_sectors - c.l2_sectors_ideal; }
uint64_t waste_of_wavefronts(const Counters& c) { return c.shared_wavefronts() - c.shared_ideal(); }

// What a line must waste to be marked: as much as the third of the worst. 0: nothing is wasted.
uint64_t threshold(const Files& files, uint64_t (*waste)(const Counters&)) {
  std::vector<uint64_t> all;
  for (const auto& [file, lines] : files)
    for (const auto& [line, counters] : lines)
      if (waste(counters) > 0) all.push_back(waste(counters));
  std::sort(all.rbegin(), all.rend());
  return all.empty() ? 0 : all[std::min(kMarked, all.size()) - 1];
}

std::vector<std::string> read_lines(const std::string& path) {
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

class View {
 public:
  explicit View(const Files& files)
      : sectors_(threshold(files, waste_of_sectors)),
        wavefronts_(threshold(files, waste_of_wavefronts)) {
    for (const auto& [file, lines] : files)
      for (const auto& [line, c] : lines) {
        const auto cells = figures(c);
        for (size_t i = 0; i < cells.size(); ++i)
          width_[i] = std::max(width_[i], static_cast<int>(cells[i].size()));
      }
  }

  std::string file(const std::string& path, const Lines& lines) const {
    const std::vector<std::string> text = read_lines(path);
    std::string out = path.empty() ? "without a line of source\n" : shown_path(path) + "\n";
    if (text.empty() && !path.empty()) out += "  (cannot be read)\n";
    out += heading();
    int last = 0;
    for (auto it = lines.begin(); it != lines.end(); ++it) {
      const int around = text.empty() ? 0 : kAround;
      const int from = std::max(last + 1, it->first - around);
      if (last > 0 && from > last + 1) out += pad_left("...", 5) + "\n";
      for (int line = from; line < it->first; ++line) out += row(line, nullptr, text);
      out += row(it->first, &it->second, text);
      last = it->first;
      const auto next = std::next(it);
      const int until =
          next == lines.end() ? last + kAround : std::min(last + kAround, next->first - 1);
      while (last < until && last < static_cast<int>(text.size()))
        out += row(++last, nullptr, text);
    }
    return out + "\n";
  }

 private:
  static constexpr size_t kFigures = 6;
  using Cells = std::array<std::string, kFigures>;

  static Cells figures(const Counters& c) {
    Cells cells;
    if (c.warp_instructions > 0) {
      cells[0] = grouped(c.warp_instructions);
      cells[1] = fmt::format("{:.1f}", static_cast<double>(c.lane_instructions) /
                                           static_cast<double>(c.warp_instructions));
    }
    if (c.l2_sectors > 0) {
      cells[2] = grouped(c.l2_sectors);
      cells[3] = grouped(c.l2_sectors_ideal);
    }
    if (c.shared_wavefronts() > 0) {
      cells[4] = grouped(c.shared_wavefronts());
      cells[5] = grouped(c.shared_ideal());
    }
    return cells;
  }

  std::string marks(const Counters& c) const {
    std::string out;
    if (sectors_ > 0 && waste_of_sectors(c) >= sectors_) out += 'S';
    if (wavefronts_ > 0 && waste_of_wavefronts(c) >= wavefronts_) out += 'W';
    if (c.ptx_level) out += '*';
    return out;
  }

  std::string assemble(const std::string& line, const Cells& cells, const std::string& marks,
                       const std::string& source) const {
    std::string out = pad_left(line, 5);
    for (size_t i = 0; i < kFigures; ++i) {
      out += i % 2 == 0 ? " |" : "";
      out += " " + pad_left(cells[i], width_[i]);
    }
    out += " |" + pad_right(marks, 3) + "| " + source;
    // The beginning of a line says most, and a long one must not break the columns.
    while (columns(out) > kViewWidth) {
      do out.pop_back();
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80);
    }
    return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  }

  std::string heading() const {
    return assemble("line", {"instr.", "lanes", "sectors", "ideal", "wavefronts", "ideal"}, "",
                    "source");
  }

  std::string row(int line, const Counters* c, const std::vector<std::string>& text) const {
    const bool known = line >= 1 && line <= static_cast<int>(text.size());
    return assemble(line > 0 ? std::to_string(line) : "", c ? figures(*c) : Cells{},
                    c ? marks(*c) : "", known ? text[static_cast<size_t>(line) - 1] : "");
  }

  uint64_t sectors_, wavefronts_;
  std::array<int, kFigures> width_{6, 5, 7, 5, 10, 5};
};

}  // namespace

std::string source_view(const std::vector<record::LaunchProfile>& launches) {
  Files files;
  for (const record::LaunchProfile& r : launches)
    for (const counters::LineCounters& line : r.run.lines)
      files[line.file][line.line].add(line.counters);
  if (files.empty()) return "--source: no launch has counts by line\n";

  std::vector<std::pair<uint64_t, std::string>> order;
  for (const auto& [file, lines] : files) {
    uint64_t instructions = 0;
    for (const auto& [line, c] : lines) instructions += c.warp_instructions;
    order.emplace_back(instructions, file);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const View view(files);
  std::string out;
  for (const auto& [instructions, file] : order) out += view.file(file, files.at(file));
  return out +
         "S, W: the three lines with the most sectors (wavefronts) beyond the ideal.\n"
         "instr., lanes: PTX instructions of warps, and lanes active in one: PTX-level. *: "
         "accesses counted in PTX, too.\n";
}

}  // namespace lab32::profiler
