#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "pictures/picture.h"
#include "pictures/text.h"

namespace lab32::pictures {
namespace {

constexpr int kWidth = 80;

// Cuts text that is too wide, and marks the cut.
std::string cut_to_width(std::string words, int width) {
  if (display_columns(words) <= width) return words;
  while (display_columns(words) >= width) {
    do words.pop_back();
    while (!words.empty() && (static_cast<unsigned char>(words.back()) & 0xc0) == 0x80);
  }
  return words.substr(0, words.find_last_not_of(' ') + 1) + "…";
}

std::string line_label(int line, const std::string& source, int width = kWidth - 4) {
  return cut_to_width(fmt::format("line {}{}{}", line, source.empty() ? "" : ": ", source), width);
}

uint32_t count_lanes(const std::vector<uint32_t>& masks) {
  uint32_t sum = 0;
  for (const uint32_t mask : masks) sum += static_cast<uint32_t>(__builtin_popcount(mask));
  return sum;
}

// One character for a group of lanes, which tells whether all, some or none of them work.
std::string lane_group_glyph(uint32_t mask, int first, int lanes, int there,
                             const TerminalPainter& paint) {
  uint32_t working = 0, possible = 0;
  for (int lane = first; lane < first + lanes && lane < there; ++lane) {
    ++possible;
    working += mask >> lane & 1;
  }
  if (possible == 0) return " ";
  if (working == 0) return paint(Hue::idle, "·");
  return working == possible ? paint(Hue::good, "█") : paint(Hue::warn, "▒");
}

std::string decimal_byte_size_text(uint64_t bytes) {
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  if (bytes >= 10'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{} B", bytes);
}

std::string wrapped_row(const char* from, const std::string& words) {
  std::string out;
  for (const std::string& line : wrap(words, kWidth - 19)) {
    out += fmt::format("  {:<14} │ {}\n", from, line);
    from = "";
  }
  return out;
}

// The traffic of the reference solution, printed below the student's.
std::string reference_traffic_text(const PicturedTraffic* r) {
  if (r == nullptr) return "";
  std::string out = "\n" + wrapped_row("the reference", fmt::format("{} requests, {} sectors",
                                                                    grouped_digits(r->requests),
                                                                    grouped_digits(r->sectors)));
  if (r->shared_requests > 0)
    out += wrapped_row(
        "", fmt::format("shared memory: {} requests, {} wavefronts",
                        grouped_digits(r->shared_requests), grouped_digits(r->wavefronts)));
  if (const auto& c = r->caches)
    out += wrapped_row("", fmt::format("{:.1f} % hit L1, {:.1f} % L2 (modelled)", c->l1_percent,
                                       c->l2_percent)) +
           wrapped_row("", fmt::format("{} read, {} written (modelled)",
                                       decimal_byte_size_text(c->dram_read),
                                       decimal_byte_size_text(c->dram_written)));
  return out;
}

// Removes "44 blocks of 128" from the setting if the shape, "44 blocks of 128 threads", repeats it.
std::string setting_without_shape(std::string setting, std::string shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), ','), shape.end());
  shape = shape.substr(0, shape.rfind(" threads"));
  if (setting.size() < shape.size() ||
      setting.compare(setting.size() - shape.size(), shape.size(), shape) != 0)
    return setting;
  setting.resize(setting.size() - shape.size());
  return setting.substr(0, setting.find_last_not_of(", ") + 1);
}

}  // namespace

std::string text(const BarrierIntervalsOfBlock& s, bool colour) {
  const TerminalPainter paint(colour);
  const int warps = static_cast<int>((s.threads + kWarpSize - 1) / kWarpSize);
  int signs = 32;  // characters per warp
  while (signs > 1 && (signs + 1) * warps > kWidth - 26) signs /= 2;
  const bool gaps = (signs + 1) * warps <= kWidth - 26;
  std::string out = fmt::format(
      "Lanes at work between barriers: those of block {} that load, store or shuffle.\n"
      "A sign is {} lane{}: █ all of them, ▒ some, · none. {}.\n\n",
      s.block, kWarpSize / signs, kWarpSize / signs == 1 ? "" : "s",
      gaps ? "A gap is between warps" : "Warp by warp");
  out += "step  line  lanes  warps\n";
  for (size_t step = 0; step < s.steps.size(); ++step) {
    const BarrierInterval& now = s.steps[step];
    const auto busy = std::count_if(now.working.begin(), now.working.end(),
                                    [](uint32_t mask) { return mask != 0; });
    out +=
        fmt::format("{:>4}  {:>4}  {:>5}  {:>5}  ", step, now.line, count_lanes(now.working), busy);
    for (int warp = 0; warp < warps; ++warp) {
      const uint32_t mask = now.working[static_cast<size_t>(warp)];
      const int there = std::min(kWarpSize, static_cast<int>(s.threads) - kWarpSize * warp);
      for (int k = 0; k < signs; ++k)
        out += lane_group_glyph(mask, k * kWarpSize / signs, kWarpSize / signs, there, paint);
      if (gaps && warp + 1 < warps) out += " ";
    }
    out += "\n";
  }
  if (s.more) out += "      … and more steps\n";
  return out;
}

std::string text(const PicturedShuffles& s, bool colour) {
  const TerminalPainter paint(colour);
  std::string out = fmt::format(
      "Lanes read by shuffles of warp {} of block {}. Lanes are 0-9, a-v;\n"
      "= keeps its own value (out of range), x asks a lane that is absent, ○ inactive.\n",
      s.warp, s.block);
  out += "\n  lane      ";
  for (int lane = 0; lane < kWarpSize; ++lane) out += " " + lane_character(lane);
  out += "\n";
  int line = -1;
  for (const PicturedShuffle& shuffle : s.shuffles) {
    if (shuffle.line != line) out += line_label(shuffle.line, shuffle.source) + "\n";
    line = shuffle.line;
    out += "  reads     ";
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int from = shuffle.from[static_cast<size_t>(lane)];
      out += " ";
      if (!(shuffle.mask >> lane & 1))
        out += paint(Hue::idle, "○");
      else if (!(shuffle.in_range >> lane & 1))
        out += paint(Hue::warn, "=");
      else if (shuffle.absent >> from & 1)
        out += paint(Hue::bad, "x");
      else
        out += paint(Hue::good, lane_character(from));
    }
    out += "\n";
  }
  if (s.more) out += "  … and more\n";
  return out;
}

namespace {

// The text behind a count: " where 5 would do", or ", the minimum".
std::string ideal_count_text(uint64_t ideal, uint64_t reached) {
  return reached > ideal ? fmt::format(" where {} would do", grouped_digits(ideal))
                         : ", the minimum";
}

}  // namespace

std::string text(const PicturedTraffic& t, const PicturedTraffic* reference) {
  std::string out = "Memory chart\n\n";
  out += wrapped_row("kernel", fmt::format("{} requests for {}", grouped_digits(t.requests),
                                           decimal_byte_size_text(t.asked_bytes)));
  if (t.shared_requests > 0)
    out += wrapped_row("shared memory",
                       fmt::format("{} requests, {} wavefronts{}",
                                   grouped_digits(t.shared_requests), grouped_digits(t.wavefronts),
                                   ideal_count_text(t.ideal_wavefronts, t.wavefronts)));
  out += wrapped_row("L1", fmt::format("{} sectors ({}){}", grouped_digits(t.sectors),
                                       decimal_byte_size_text(32 * t.sectors),
                                       ideal_count_text(t.ideal_sectors, t.sectors)));
  if (!t.caches) return out + reference_traffic_text(reference);
  const PicturedTraffic::CacheHitRatesAndTraffic& c = *t.caches;
  out += wrapped_row("", fmt::format("{:.1f} % hit (modelled)", c.l1_percent));
  out += wrapped_row(
      "L2", fmt::format("{} sectors read, {} written: {}", grouped_digits(c.l2_read_sectors),
                        grouped_digits(c.l2_write_sectors),
                        decimal_byte_size_text(32 * (c.l2_read_sectors + c.l2_write_sectors))));
  out += wrapped_row("", fmt::format("{:.1f} % hit (modelled)", c.l2_percent));
  out += wrapped_row("device memory", fmt::format("{} read, {} written (modelled)",
                                                  decimal_byte_size_text(c.dram_read),
                                                  decimal_byte_size_text(c.dram_written)));
  return out + reference_traffic_text(reference);
}

std::string text(const PicturedRace& r, bool colour) {
  const TerminalPainter paint(colour);
  const auto party = [&](const PicturedRace::Party& p, const char* track) {
    return fmt::format("  {:<30} {}  {}\n", cut_to_width(p.thread, 30), paint(Hue::bad, track),
                       cut_to_width(p.use + " " + r.place, kWidth - 44)) +
           fmt::format("  {:<30} {}\n", fmt::format("warp {}", p.warp),
                       line_label(p.line, p.source, kWidth - 33));
  };
  std::string out;
  for (const std::string& line : wrap(
           fmt::format("Two threads and {}; time runs to the right, either may be first.", r.place),
           kWidth))
    out += line + "\n";
  out += "\n";
  out += party(r.first, "──●──────");
  const std::string order = "╲ no order: " + r.missing + " is missing";
  out +=
      pad_right("", std::min(36, kWidth - display_columns(order))) + paint(Hue::bad, order) + "\n";
  out += party(r.second, "──────●──");
  return out;
}

std::string text(const PicturedKernelFault& f, bool colour) {
  std::string out;
  for (const std::string& line : wrap(f.words, 78)) out += line + "\n";
  if (f.object.empty()) return out;
  const TerminalPainter paint(colour);
  const auto end = static_cast<int64_t>(f.size);
  const std::string name = visible(f.object);
  out += "\n";
  const std::string before = f.offset < 0 ? paint(Hue::bad, "▲") + "  " : "   ";
  const bool inside = f.offset >= 0 && f.offset < end;
  std::string box;
  for (int k = 0; k < (end > 0 ? 40 : 0); ++k)
    box += inside && f.offset * 40 / end == k ? paint(Hue::bad, "▲") : "█";
  out +=
      fmt::format("  {}│{}│{}\n", before, box, f.offset >= end ? "  " + paint(Hue::bad, "▲") : "");
  const std::string bytes = end > 0 ? fmt::format("bytes 0 to {}", end - 1) : "it has no byte";
  const std::string words = fmt::format("{}: {}; ▲ the access, at byte {}", name, bytes, f.offset);
  for (const std::string& line : wrap(words, kWidth - 5)) out += "     " + line + "\n";
  return out;
}

std::string text(const PicturedLaunch& l, bool colour) {
  std::string out;
  const std::string setting = setting_without_shape(l.setting, l.shape);
  if (!l.shape.empty())
    for (const std::string& line :
         wrap(fmt::format("{}{}, {}", l.kernel, setting.empty() ? "" : " (" + setting + ")",
                          l.shape),
              kWidth))
      out += line + "\n";
  if (l.fault) out += "\n" + text(*l.fault, colour);
  if (l.race) out += "\n" + text(*l.race, colour);
  for (const PicturedLineRequests& access : l.accesses) {
    if (access.waste == 0 && &access != l.accesses.data()) continue;
    out += "\n" + line_label(access.line, access.source) + "\n" +
           text(access, access.requests[access.worst], colour);
  }
  if (l.steps) out += "\n" + text(*l.steps, colour);
  if (l.shuffles) out += "\n" + text(*l.shuffles, colour);
  for (const SwizzleMapping& mapping : l.mappings) out += "\n" + text(mapping, colour);
  if (l.traffic) out += "\n" + text(*l.traffic, l.reference ? &*l.reference : nullptr);
  return out;
}

std::string heading(const PicturedCheck& shown) {
  std::string out;
  if (!shown.check.empty())
    for (const std::string& line :
         wrap(fmt::format("{}, {}: {}", shown.lab, shown.check, shown.file), 80))
      out += line + "\n";
  if (!shown.message.empty())
    for (const std::string& line : wrap(shown.message, 78)) out += "  " + line + "\n";
  return visible(out);
}

std::string text(const PicturedCheck& shown, bool colour) {
  const std::string out = heading(shown);
  std::string drawn = text(shown.launch, colour);
  drawn.erase(0, drawn.find_first_not_of('\n'));
  return out + (out.empty() ? "" : "\n") + drawn;
}

}  // namespace lab32::pictures
