#include "runtime/profiler/profile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "device/run_text.h"
#include "runtime/profiler/kernel_names.h"

namespace lab32::profiler {
namespace {

using record::LaunchProfile;

constexpr int kWidth = 100, kLabel = 18, kColumn = 17;

std::string row_text(const std::string& label, const std::vector<std::string>& cells) {
  std::string line = "  " + pad_right(label, kLabel);
  for (const std::string& cell : cells) line += pad_left(cell, kColumn);
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

// Lays out a label and a sentence, with a hanging indent.
std::string text_with_hanging_indent(const std::string& label, const std::string& words) {
  std::string out;
  for (const std::string& line : wrap(words, kWidth - kLabel - 2))
    out += "  " + pad_right(out.empty() ? label : "", kLabel) + line + "\n";
  return out;
}

std::string dimensions_text(const Dim3& d) {
  if (d.z > 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  return d.y > 1 ? fmt::format("{} x {}", d.x, d.y) : grouped_digits(d.x);
}

std::string duration_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string mean_text(uint64_t sum, uint64_t count) {
  return metric_text(count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count));
}

std::string global_memory_text(const counters::Counters& c, const std::string& heading_mark) {
  std::string out;
  const auto add = [&](const char* name, const counters::GlobalTraffic& t,
                       const std::string& ideal) {
    if (t.requests == 0) return;
    out += row_text(name, {grouped_digits(t.requests), grouped_digits(t.sectors),
                           mean_text(t.sectors, t.requests), ideal});
  };
  add("  ld", c.load, grouped_digits(c.load_ideal));
  add("  st", c.store, grouped_digits(c.store_ideal));
  add("  red", c.red, "");
  add("  atom", c.atom, "");
  if (out.empty()) return row_text("global memory", {"none"});
  out += row_text("  L2, in theory",
                  {"", grouped_digits(c.l2_sectors), "", grouped_digits(c.l2_sectors_ideal)});
  return row_text("global memory" + heading_mark,
                  {"requests", "sectors", "sectors/request", "ideal"}) +
         out;
}

std::string shared_memory_text(const counters::Counters& c, const std::string& heading_mark) {
  std::string out;
  const auto add = [&](const char* name, const counters::SharedTraffic& t) {
    if (t.requests == 0) return;
    out += row_text(name, {grouped_digits(t.requests), grouped_digits(t.wavefronts),
                           grouped_digits(t.ideal), grouped_digits(t.wavefronts - t.ideal)});
  };
  add("  ld", c.shared_load);
  add("  st", c.shared_store);
  add("  atom", c.shared_atom);
  if (out.empty()) return row_text("shared memory", {"none"});
  return row_text("shared memory" + heading_mark,
                  {"requests", "wavefronts", "ideal", "conflicts"}) +
         out;
}

std::string occupancy_text(const LaunchProfile& r) {
  std::string words;
  if (const auto& o = r.run.occupancy) {
    words = fmt::format("{:.3g} % in theory: {} {} ({} warps) on a multiprocessor, limited by {}; ",
                        100 * o->theoretical, o->blocks, o->blocks == 1 ? "block" : "blocks",
                        o->warps, o->limiter);
    if (const uint64_t at_once = uint64_t{o->blocks} * r.multiprocessors)
      words += fmt::format(
          "{} waves of {} blocks; ",
          metric_text(static_cast<double>(r.shape.grid.count()) / static_cast<double>(at_once)),
          grouped_digits(at_once));
  }
  if (r.registers) words += fmt::format("{} registers per thread, ", *r.registers);
  words += fmt::format("{} bytes of shared memory per block",
                       grouped_digits(uint64_t{r.static_shared} + r.shape.dynamic_shared));
  return text_with_hanging_indent("occupancy", words);
}

std::string cache_text(const counters::CacheCounters& m) {
  return text_with_hanging_indent(
      "caches, modelled",
      fmt::format("L1 hits {:.1f} %, L2 hits {:.1f} %; device memory: {} bytes read, "
                  "{} written",
                  m.l1.percent(), m.l2.percent(), grouped_digits(m.dram_read),
                  grouped_digits(m.dram_written)));
}

std::string predicted_time_text(const model::TimePrediction& p) {
  if (!p.unreliable.empty())
    return text_with_hanging_indent("time", "not modelled: " + p.unreliable);
  std::string words = duration_text(p.kernel_seconds);
  if (p.error > 0)
    words += fmt::format(" (mean error of such predictions: {:.0f} %)", 100 * p.error);
  words += fmt::format("; {} measured by events around it", duration_text(p.seconds));
  if (!p.bottleneck.empty()) words += "; " + p.bottleneck;
  if (!p.runner_up.empty()) words += "; " + p.runner_up;
  return text_with_hanging_indent("time, modelled", words);
}

std::string wrapped_indented_text(const std::string& text) {
  std::string out;
  for (const std::string& line : wrap("  " + text, kWidth)) out += line + "\n";
  return out;
}

// Notes the accesses whose counts do not come from machine code.
std::string unmatched_accesses_text(const LaunchProfile& r) {
  if (r.run.ptx_level.empty()) return "";
  std::string out = wrapped_indented_text(
      "* PTX-level, since these accesses could not be matched with the machine code:");
  for (const std::string& why : describe(r.run.ptx_level)) out += wrapped_indented_text("  " + why);
  return out;
}

// The bytes that were moved otherwise than by loads and stores.
std::string other_traffic_text(const counters::TextureBulkRemoteTraffic& w,
                               const std::string& heading_mark) {
  std::string out;
  const auto add = [&](const char* name, uint64_t requests, uint64_t sectors) {
    if (requests != 0)
      out += row_text(
          name, {grouped_digits(requests), grouped_digits(sectors), mean_text(sectors, requests)});
  };
  add("  texture", w.texture.requests, w.texture.sectors);
  add("  surface ld", w.surface_load.requests, w.surface_load.sectors);
  add("  surface st", w.surface_store.requests, w.surface_store.sectors);
  add("  bulk copies in", w.bulk_load.instructions, w.bulk_load.sectors);
  add("  bulk copies out", w.bulk_store.instructions, w.bulk_store.sectors);
  add("  cluster ld", w.remote_load.requests, w.remote_load.sectors);
  add("  cluster st", w.remote_store.requests, w.remote_store.sectors);
  add("  cluster atom", w.remote_atom.requests, w.remote_atom.sectors);
  if (out.empty()) return "";
  return row_text("other ways" + heading_mark, {"requests", "sectors", "sectors/request"}) + out;
}

std::string instructions_text(uint64_t n) {
  return n == 1 ? "1 instruction" : grouped_digits(n) + " instructions";
}

// Lists accesses that none of the figures include.
std::string uncounted_accesses_text(const counters::TextureBulkRemoteTraffic& w) {
  std::string out;
  if (w.texture_unknown > 0)
    out += wrapped_indented_text(
        fmt::format("not counted: {} of warps through textures and surfaces, in forms whose "
                    "counts on a GPU are not known",
                    instructions_text(w.texture_unknown)));
  if (w.bulk_unknown > 0)
    out += wrapped_indented_text(
        fmt::format("not counted: {} by the copy engine (cp.async.bulk) or by st.async, in forms "
                    "whose counts on a GPU are not known",
                    w.bulk_unknown == 1 ? "1 run of bytes"
                                        : grouped_digits(w.bulk_unknown) + " runs of bytes"));
  return out;
}

std::string unmodelled_time_text(const LaunchProfile& r) {
  if (r.run.predicted || !r.run.caches) return "";
  return text_with_hanging_indent(
      "time",
      "not modelled: the model covers only loads and stores of global memory and of "
      "the block's own shared memory");
}

std::string peer_accesses_text(const LaunchProfile& r) {
  const uint64_t n = r.run.peer_accesses;
  if (n == 0) return "";
  return wrapped_indented_text(
      fmt::format("{} of warps reached another device's memory; caches and time are modelled as "
                  "if it were the device's own",
                  n == 1 ? "1 access" : grouped_digits(n) + " accesses"));
}

std::string uncounted_child_launches_text(const LaunchProfile& r) {
  const uint64_t n = r.run.child_launches;
  if (n == 0) return "";
  return wrapped_indented_text(fmt::format("not counted: {} by kernels of this launch",
                                           n == 1 ? "1 launch" : grouped_digits(n) + " launches"));
}

std::string uncounted_work_text(const LaunchProfile& r) {
  return (r.run.counters ? uncounted_accesses_text(r.run.counters->other) : "") +
         uncounted_child_launches_text(r);
}

std::string launch_text(const LaunchProfile& r) {
  std::string out;
  if (const auto& f = r.run.fault) {
    const std::string where =
        f->line > 0 ? fmt::format("{}:{}: ", path_for_display(f->file), f->line) : "";
    out += text_with_hanging_indent("stopped", where + describe(*f));
    if (!r.run.counters) return out + "  No counts: they would depend on which blocks had run.\n";
  }
  if (const auto& c = r.run.counters) {
    const std::string mark = c->ptx_level ? "*" : "";
    out += global_memory_text(*c, mark) + shared_memory_text(*c, mark) +
           other_traffic_text(c->other, mark);
  }
  if (r.run.caches) out += cache_text(*r.run.caches);
  out += occupancy_text(r);
  if (const auto& c = r.run.counters)
    out += text_with_hanging_indent(
        "divergence", fmt::format("{} of 32 lanes active per instruction, {} warp instructions "
                                  "(PTX-level: counted in PTX; ptxas issues others)",
                                  mean_text(c->lane_instructions, c->warp_instructions),
                                  grouped_digits(c->warp_instructions)));
  if (r.run.predicted) out += predicted_time_text(*r.run.predicted);
  return out + unmodelled_time_text(r) + unmatched_accesses_text(r) + uncounted_work_text(r) +
         peer_accesses_text(r);
}

std::string launch_shape_text(const LaunchProfile& r) {
  return fmt::format("{} {} of {} {}", dimensions_text(r.shape.grid),
                     r.shape.grid.count() == 1 ? "block" : "blocks", dimensions_text(r.shape.block),
                     r.shape.block.count() == 1 ? "thread" : "threads");
}

// Words a list of ascending numbers: "launch 3", "launches 0 to 7", "launches 0, 4, ..., 36" or
// "launches 0, 3 to 5, 9".
std::string number_list_text(const char* one, const char* many, const std::vector<uint64_t>& n) {
  if (n.size() == 1) return fmt::format("{} {}", one, n[0]);
  const uint64_t step = n[1] - n[0];
  bool even = n.size() > 3;
  for (size_t i = 1; i < n.size(); ++i) even &= n[i] - n[i - 1] == step;
  if (even && step > 1) return fmt::format("{} {}, {}, ..., {}", many, n[0], n[1], n.back());
  constexpr size_t kMostParts = 8;
  std::vector<std::string> parts;
  for (size_t i = 0; i < n.size();) {
    size_t end = i + 1;
    while (end < n.size() && n[end] == n[end - 1] + 1) ++end;
    parts.push_back(end == i + 1 ? fmt::format("{}", n[i])
                                 : fmt::format("{} to {}", n[i], n[end - 1]));
    i = end;
  }
  if (parts.size() <= kMostParts) return fmt::format("{} {}", many, fmt::join(parts, ", "));
  parts.resize(kMostParts);
  return fmt::format("{} {}, ..., {} ({} in all)", many, fmt::join(parts, ", "), n.back(),
                     n.size());
}

// Launches of the same kernel and shape that share a table.
struct LaunchGroup {
  std::string name, shape, body;
  std::vector<uint64_t> launches;
  std::set<uint64_t> streams;
  std::vector<const LaunchProfile*> records;  // launches whose figures differ
};

template <class F>
std::string range_text(const LaunchGroup& group, F value) {
  const auto by_value = [&](const LaunchProfile* a, const LaunchProfile* b) {
    return value(*a) < value(*b);
  };
  const auto [least, most] =
      std::minmax_element(group.records.begin(), group.records.end(), by_value);
  const std::string low = value.text(**least), high = value.text(**most);
  return low == high ? low : low + " to " + high;
}

struct L2SectorsGetter {
  uint64_t operator()(const LaunchProfile& r) const {
    return r.run.counters ? r.run.counters->l2_sectors : 0;
  }
  std::string text(const LaunchProfile& r) const { return grouped_digits((*this)(r)); }
};
struct WavefrontsGetter {
  uint64_t operator()(const LaunchProfile& r) const {
    return r.run.counters ? r.run.counters->shared_wavefronts() : 0;
  }
  std::string text(const LaunchProfile& r) const { return grouped_digits((*this)(r)); }
};
struct PredictedSecondsGetter {
  double operator()(const LaunchProfile& r) const {
    return r.run.predicted ? r.run.predicted->seconds : 0;
  }
  std::string text(const LaunchProfile& r) const { return duration_text((*this)(r)); }
};

std::string differing_figures_text(const LaunchGroup& group) {
  double seconds = 0;
  for (const LaunchProfile* r : group.records) seconds += PredictedSecondsGetter()(*r);
  return text_with_hanging_indent(
      "figures differ",
      fmt::format("{} sectors in L2 in theory, {} wavefronts of shared memory, {} "
                  "(modelled), {} together; --csv has each",
                  range_text(group, L2SectorsGetter()), range_text(group, WavefrontsGetter()),
                  range_text(group, PredictedSecondsGetter()), duration_text(seconds)));
}

std::string table_title(const std::string& number, const std::string& name) {
  std::string out;
  for (const std::string& line : wrap(number + ": " + name, kWidth)) out += line + "\n";
  return out + std::string(kWidth, '-') + "\n";
}

// The stream and the device: "stream 7, sim:h200"; with the device's number if there are several
// devices.
std::string stream_and_device_text(const LaunchProfile& r, const std::vector<uint64_t>& streams,
                                   bool several) {
  const std::string of = several ? fmt::format(" of device {}", r.device) : "";
  return fmt::format("{}{}, {}", number_list_text("stream", "streams", streams), of, r.device_name);
}

bool has_launch_off_device_zero(const std::vector<LaunchProfile>& launches) {
  return std::any_of(launches.begin(), launches.end(),
                     [](const LaunchProfile& r) { return r.device != 0; });
}

}  // namespace

std::string profile_text(const std::vector<LaunchProfile>& launches) {
  const bool several = has_launch_off_device_zero(launches);
  std::vector<LaunchGroup> groups;
  std::map<std::string, size_t> by_table;  // key: kernel, shape and table; value: the group
  std::map<std::string, unsigned> tables;  // key: kernel and shape; value: number of tables
  // Maps kernel and shape to the group of launches beyond kMostTables.
  std::map<std::string, size_t> others;
  for (size_t i = 0; i < launches.size(); ++i) {
    const LaunchProfile& r = launches[i];
    LaunchGroup group;
    group.name = ncu_kernel_name(r.symbol);
    group.shape = launch_shape_text(r);
    group.body = launch_text(r);
    const std::string kind =
        fmt::format("{}\n{}\n{}\n", group.name, group.shape, several ? r.device : 0);
    auto at = by_table.find(kind + group.body);
    const bool other = at == by_table.end() && tables[kind] == kMostTables;
    if (other) at = others.find(kind);
    if (at == (other ? others.end() : by_table.end())) {
      if (!other) ++tables[kind];
      at = (other ? others : by_table)
               .emplace(other ? kind : kind + group.body, groups.size())
               .first;
      groups.push_back(std::move(group));
    }
    LaunchGroup& of = groups[at->second];
    of.launches.push_back(i);
    of.streams.insert(r.stream);
    if (other) of.records.push_back(&r);
  }
  std::string out;
  for (const LaunchGroup& g : groups) {
    const bool alike = g.launches.size() > 1 && g.records.empty();
    const std::vector<uint64_t> streams(g.streams.begin(), g.streams.end());
    out += table_title(
        number_list_text("launch", "launches", g.launches) + (alike ? ", alike" : ""), g.name);
    out += fmt::format("  {}; {}\n", g.shape,
                       stream_and_device_text(launches[g.launches[0]], streams, several));
    out += (g.records.size() > 1 ? differing_figures_text(g) : g.body) + "\n";
  }
  return out;
}

std::string metrics_text(const std::vector<LaunchProfile>& launches,
                         const std::vector<const Metric*>& metrics) {
  const bool several = has_launch_off_device_zero(launches);
  size_t name_width = 0, unit_width = 0;
  for (const Metric* m : metrics) {
    name_width = std::max(name_width, m->name.size());
    unit_width = std::max(unit_width, m->unit.size());
  }
  std::string out;
  for (size_t i = 0; i < launches.size(); ++i) {
    const LaunchProfile& r = launches[i];
    out += table_title(fmt::format("launch {}", i), ncu_kernel_name(r.symbol));
    out += fmt::format("  {}; {}\n", launch_shape_text(r),
                       stream_and_device_text(r, {r.stream}, several));
    bool ptx_level = false;
    for (const Metric* m : metrics) {
      const auto value = m->value(r);
      const bool mark =
          m->kind == MetricKind::counted && r.run.counters && r.run.counters->ptx_level;
      ptx_level |= mark;
      std::string line = fmt::format("  {:<{}}  {:<{}}  {:>15}", m->name, name_width, m->unit,
                                     unit_width, value ? metric_text(*value) : "n/a");
      line += mark ? "  * PTX-level" : m->kind == MetricKind::modelled ? "  modelled" : "";
      out += line + "\n";
    }
    if (r.run.fault) out += text_with_hanging_indent("stopped", describe(*r.run.fault));
    if (ptx_level) out += unmatched_accesses_text(r);
    out += uncounted_work_text(r) + "\n";
  }
  return out;
}

}  // namespace lab32::profiler
