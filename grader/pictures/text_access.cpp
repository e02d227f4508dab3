// Draws one access of a warp on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "pictures/make.h"
#include "pictures/text.h"

namespace lab32::pictures {
namespace {

constexpr uint64_t kLineBytes = 128, kSectorBytes = 32, kWordBytes = 4, kBanks = 32;
constexpr size_t kMostRows = 16;
constexpr int kLabel = 14;

// A row of 128 bytes: for each word, the lanes that access it and the bytes that they use.
struct LanesPerWordOfLine {
  std::vector<int> lanes[kBanks];
  uint32_t used[kBanks] = {};  // one bit per byte
  std::string name;            // name of the first element that is accessed
  uint64_t first = ~uint64_t{0};

  int used_byte_count() const {
    int sum = 0;
    for (const uint32_t word : used) sum += __builtin_popcount(word);
    return sum;
  }
  int used_sector_count() const {
    int sum = 0;
    for (uint64_t s = 0; s < kLineBytes / kSectorBytes; ++s)
      sum += std::any_of(used + 8 * s, used + 8 * s + 8, [](uint32_t word) { return word != 0; });
    return sum;
  }
};

std::map<uint64_t, LanesPerWordOfLine> address_rows(const PicturedRequest& r) {
  std::map<uint64_t, LanesPerWordOfLine> rows;
  const uint64_t bytes = r.matrix ? 16 : r.bytes;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(r.mask >> lane & 1)) continue;
    for (uint64_t at = r.address[lane]; at < r.address[lane] + bytes; ++at) {
      LanesPerWordOfLine& row = rows[at / kLineBytes];
      const uint64_t word = at / kWordBytes % kBanks;
      row.used[word] |= 1u << at % kWordBytes;
      auto& lanes = row.lanes[word];
      if (lanes.empty() || lanes.back() != lane) lanes.push_back(lane);
      if (at >= row.first) continue;
      row.first = at;
      row.name = r.name[lane];
    }
  }
  return rows;
}

// Pads a label to the width of the column of labels. A name that is too long is cut, but the index
// of its element stays.
std::string label_fitted_to_column(std::string words) {
  if (display_columns(words) >= kLabel) {
    std::string index = words.back() == ']' ? words.substr(words.rfind('[')) : "";
    if (display_columns(index) > kLabel - 4) index.clear();
    words.resize(words.size() - index.size());
    while (display_columns(words) + display_columns(index) >= kLabel - 1) {
      do words.pop_back();
      while (!words.empty() && (static_cast<unsigned char>(words.back()) & 0xc0) == 0x80);
    }
    words += "…" + index;
  }
  return pad_right(words, kLabel);
}

std::string lane_number_header(const PicturedRequest& r, const TerminalPainter& paint, int width) {
  std::string numbers = label_fitted_to_column("lane"), signs = label_fitted_to_column("its sign");
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (lane % 8 == 0) numbers += pad_right(pad_left(std::to_string(lane), width), 8 * width);
    const bool active = (r.mask >> lane & 1) != 0;
    signs += pad_left(active ? paint(Hue::lane, lane_character(lane)) : paint(Hue::idle, "○"),
                      width + (paint.on() ? paint.extra() : 0));
  }
  numbers.erase(numbers.find_last_not_of(' ') + 1);
  if (r.mask != 0xffffffffu)  // with two columns per lane there is no room behind them
    signs += (width == 1 ? "  " : "\n" + label_fitted_to_column("")) + "○ inactive";
  return numbers + "\n" + signs + "\n";
}

std::string sectors_text(const PicturedRequest& r, const TerminalPainter& paint) {
  std::string out = lane_number_header(r, paint, 1) + "\n";
  const std::map<uint64_t, LanesPerWordOfLine> rows = address_rows(r);
  out += label_fitted_to_column("128-byte line") +
         " 4 sectors of 32 bytes; a place is 4 bytes, · unused\n";
  size_t shown = 0;
  for (const auto& [number, row] : rows) {
    if (shown++ == kMostRows) break;
    out += label_fitted_to_column(row.name) + "│";
    for (uint64_t word = 0; word < kBanks; ++word) {
      const auto& lanes = row.lanes[word];
      out += lanes.empty() ? paint(Hue::idle, "·") : paint(Hue::lane, lane_character(lanes[0]));
      if (word % 8 == 7) out += "│";
    }
    const int bytes = row.used_byte_count();
    const int moved = row.used_sector_count() * static_cast<int>(kSectorBytes);
    out +=
        "  " +
        paint(bytes < moved ? Hue::bad : Hue::good, fmt::format("{} of {} bytes", bytes, moved)) +
        "\n";
  }
  if (rows.size() > kMostRows)
    out +=
        fmt::format("{}… and {} more lines\n", label_fitted_to_column(""), rows.size() - kMostRows);
  return out;
}

std::string banks_drawing(const PicturedRequest& r, const TerminalPainter& paint) {
  std::string out = lane_number_header(r, paint, 2) + "\n" + label_fitted_to_column("bank");
  for (uint64_t bank = 0; bank < kBanks; bank += 4)
    out += pad_left(std::to_string(bank), 2) + "      ";
  out.erase(out.find_last_not_of(' ') + 1);
  out += "\n";
  const std::map<uint64_t, LanesPerWordOfLine> rows = address_rows(r);
  size_t shown = 0;
  for (const auto& [number, row] : rows) {
    if (shown++ == kMostRows) break;
    out += label_fitted_to_column(row.name);
    for (uint64_t bank = 0; bank < kBanks; ++bank) {
      const auto& lanes = row.lanes[bank];
      out += " " + (lanes.empty()
                        ? paint(Hue::idle, "·")
                        : paint(hue_of_bank_wavefronts(r.degree[bank]), lane_character(lanes[0])));
    }
    out += "\n";
  }
  if (rows.size() > kMostRows)
    out +=
        fmt::format("{}… and {} more rows\n", label_fitted_to_column(""), rows.size() - kMostRows);
  out += label_fitted_to_column("at once");
  for (uint64_t bank = 0; bank < kBanks; ++bank) {
    const uint32_t degree = r.degree[bank];
    const std::string text = degree == 0 ? " ·" : pad_left(std::to_string(degree), 2);
    out += paint(degree == 0 ? Hue::idle : hue_of_bank_wavefronts(degree), text);
  }
  return out + "\n";
}

// A row is labelled with its first accessed element; adds a note if that is not the first element
// of the row.
std::string row_label_note(const std::map<uint64_t, LanesPerWordOfLine>& rows) {
  for (const auto& [number, row] : rows)
    if (row.used[0] == 0) return "In front of each row: its first place in use.\n";
  return "";
}

std::string percent(uint64_t part, uint64_t whole) {
  return fmt::format(
      "{:.3g} %", whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

bool is_atomic(const PicturedRequest& r) { return r.kind == "red" || r.kind == "atom"; }

// The kind of a request for people. A `red` is an atomic without a result; students know it as an
// atomic.
std::string kind_text(const PicturedRequest& r) {
  return is_atomic(r) ? "atomic" : r.matrix ? "matrix " + r.kind : r.kind;
}

// Whether two lanes access the same place.
bool lanes_share_an_address(const PicturedRequest& r) {
  for (const auto& [number, row] : address_rows(r))
    for (const auto& lanes : row.lanes)
      if (lanes.size() > 1) return true;
  return false;
}

uint64_t used_bytes(const PicturedRequest& r) {
  uint64_t sum = 0;
  for (const auto& [number, row] : address_rows(r))
    sum += static_cast<uint64_t>(row.used_byte_count());
  return sum;
}

}  // namespace

std::string text(const PicturedLineRequests& access, const PicturedRequest& r, bool colour) {
  const TerminalPainter paint(colour);
  const int lanes = __builtin_popcount(r.mask);
  std::string out = fmt::format(
      "Warp {} of block {}, {} {} of this line: {} lane{}, {} byte{} each.\n", r.warp, access.block,
      kind_text(r), r.number, lanes, lanes == 1 ? "" : "s", r.bytes, r.bytes == 1 ? "" : "s");
  out += paint(r.cost > r.ideal ? Hue::bad : Hue::good, cost_of(access, r));
  // Atomics have no such percentage, because they may move a sector once for each lane.
  const uint64_t moved = kSectorBytes * r.cost;
  if (!access.shared && !is_atomic(r))
    out += fmt::format("; {} of the bytes moved are used", percent(used_bytes(r), moved));
  out += ".\n";
  if (access.ptx_level) out += "Counted in PTX; ptxas may schedule it differently.\n";
  if (lanes_share_an_address(r))
    out += "Where several lanes meet in a place, the first one's sign is there.\n";
  out += row_label_note(address_rows(r));
  return out + "\n" + (access.shared ? banks_drawing(r, paint) : sectors_text(r, paint));
}

}  // namespace lab32::pictures
