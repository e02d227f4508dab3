// Questions about a change of the kernel or of its launch. Without one of its barriers, or in
// blocks of another size, the kernel runs again; the banks of a tile with longer rows, and the
// blocks that fit on another GPU, are computed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "asking/launch_record.h"
#include "base/error.h"
#include "base/text.h"
#include "device/names.h"
#include "grading/launch/counting.h"
#include "simulator/observers/traffic/banks.h"
#include "simulator/timing/occupancy.h"

namespace lab32::asking {
namespace {

using sim::AccessKind;
using LinePair = std::pair<int, int>;

constexpr size_t kMostMutants = 3;

// The source line of each line of PTX, by the .loc before it; 0: unknown.
std::vector<int> source_lines(const std::vector<std::string>& ptx) {
  static const Pattern position("^\\s*\\.loc\\s+[0-9]+\\s+([0-9]+)\\s.*");
  std::vector<int> lines;
  int now = 0;
  for (const std::string& line : ptx) {
    if (const auto found = position.match(line)) now = std::stoi((*found)[1]);
    lines.push_back(now);
  }
  return lines;
}

std::string words_of(const LinePair& pair) {
  return pair.first == pair.second ? fmt::format("line {} with itself", pair.first)
                                   : fmt::format("lines {} and {}", pair.first, pair.second);
}

// The pairs of lines of the submission that race.
std::map<LinePair, const counters::Finding*> races_of(const device::Run& run,
                                                      const std::string& file) {
  std::map<LinePair, const counters::Finding*> races;
  if (!run.hazards) return races;
  for (const counters::Finding& f : *run.hazards)
    if (!f.note && f.kind == counters::Finding::Kind::race && f.file == file &&
        f.other_file == file && f.line > 0 && f.other_line > 0)
      races.emplace(std::minmax(f.line, f.other_line), &f);
  return races;
}

// The lines that access shared memory, and whether one of them stores.
std::map<int, bool> shared_lines(const counters::LaunchDetail& detail) {
  std::map<int, bool> lines;
  for (const LineDetail& line : detail.lines) {
    if (!line.shared) continue;
    for (const RequestDetail& request : line.requests)
      lines[line.line] |= request.kind != AccessKind::load;
  }
  return lines;
}

std::optional<Question> barrier_question(const LaunchRecord& record, int barrier,
                                         const device::Run& run) {
  const auto races = races_of(run, record.names.file);
  if (races.empty() || races.size() > 3) return std::nullopt;
  auto right = races.begin();
  std::advance(right, record.random.below(static_cast<uint32_t>(races.size())));
  std::vector<std::pair<LinePair, std::string>> others;
  const std::map<int, bool> lines = shared_lines(record.detail());
  for (auto a = lines.begin(); a != lines.end(); ++a)
    for (auto b = a; b != lines.end(); ++b)
      if (races.count({a->first, b->first}) == 0)
        others.push_back({{a->first, b->first},
                          a->second || b->second ? "Between these two, no two threads access the "
                                                   "same word without another barrier, "
                                                   "or the same thread does both."
                                                 : "Both only read, and reads do not race."});
  record.random.shuffle(others);
  if (others.size() > 2) others.resize(2);
  Question q = record.about(Kind::why, "barrier", "barriers", barrier);
  q.text = "Without this barrier, which two lines race?";
  std::vector<std::pair<std::string, std::string>> options = {{words_of(right->first), ""}};
  for (const auto& [pair, why] : others) options.push_back({words_of(pair), why});
  record.random.shuffle(options);
  options.push_back({"no two lines: the kernel stays correct",
                     "Warps reach their lines at different times. Which values does a thread read "
                     "behind this barrier that another thread has written in front of it, or the "
                     "other way round?"});
  for (size_t i = 0; i < options.size(); ++i) {
    q.options.push_back(options[i].first);
    if (options[i].second.empty()) q.answer = static_cast<int64_t>(i) + 1;
  }
  for (size_t i = 0; i < options.size(); ++i)
    add_wrong(q, static_cast<int64_t>(i) + 1, options[i].second);
  q.reason =
      "Look for a word that one thread writes on one side of the barrier and another thread "
      "accesses on the other side.";
  q.weight = 5;
  q.picture.race = pictures::race_of(*right->second, record.names);
  return q;
}

// The cost of each line in the recorded block, except of lines that take too long to work out.
std::map<std::pair<int, bool>, uint64_t> costs_of(const counters::LaunchDetail& detail) {
  constexpr size_t kMostOnPaper = 32;
  std::map<std::pair<int, bool>, uint64_t> costs;
  for (const LineDetail& line : detail.lines) {
    if (line.requests_in_block > kMostOnPaper || line.ptx_level) continue;
    uint64_t& cost = costs[{line.line, line.shared}];
    for (const RequestDetail& request : line.requests) cost += request.cost;
  }
  return costs;
}

// What the lines of a block cost if the block has another number of threads.
std::vector<Question> block_size_questions(const LaunchRecord& record,
                                           const counters::LaunchDetail& other, uint32_t threads) {
  std::vector<Question> questions;
  constexpr uint64_t kMostCost = 64;
  const auto before = costs_of(record.detail()), after = costs_of(other);
  const auto now = static_cast<uint32_t>(record.block().count());
  for (const auto& [line, cost] : after) {
    const auto known = before.find(line);
    if (known == before.end() || record.known_lines.count(line) == 0 || cost == 0 ||
        cost > kMostCost)
      continue;
    const uint64_t was = known->second, in_proportion = was * threads / now;
    if (cost == was || cost == in_proportion) continue;
    const char* const unit = line.second ? "wavefronts" : "sectors";
    Question q =
        record.about(Kind::what_if, "block size", line.second ? "banks" : "sectors", line.first);
    q.answer = static_cast<int64_t>(cost);
    q.text = fmt::format(
        "With blocks of {} threads instead of {}, how many {} does this line take in all, for the "
        "whole {}?",
        threads, now, unit, block_name(record.launch, record.detail().block));
    q.reason = fmt::format(
        "How many warps execute the line, how often, and how many {} does each "
        "of their requests take?",
        unit);
    add_wrong(q, static_cast<int64_t>(was),
              fmt::format("That is the number for blocks of {} threads.", now));
    add_wrong(q, static_cast<int64_t>(in_proportion),
              "That is in proportion to the threads. Some warps take part more often than others, "
              "or not with all lanes.");
    q.weight = 3;
    questions.push_back(std::move(q));
  }
  return questions;
}

// A tile in shared memory: `name` has the indices of a row and a column.
struct Tile {
  std::string array;
  int64_t pitch = 0;  // elements of a row
  std::array<int64_t, kWarpSize> row{}, column{};
};

std::optional<Tile> tile_of(const pictures::Request& request, uint64_t begin) {
  static const Pattern name("^([A-Za-z_][A-Za-z_0-9]*)\\[([0-9]{1,6})\\]\\[([0-9]{1,6})\\]$");
  Tile tile;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if (!(request.mask >> lane & 1)) continue;
    const auto found = name.match(request.name[lane]);
    if (!found) return std::nullopt;
    tile.array = (*found)[1];
    const int64_t row = tile.row[lane] = std::stoll((*found)[2]);
    const int64_t column = tile.column[lane] = std::stoll((*found)[3]);
    if (row == 0) continue;
    const auto element = static_cast<int64_t>((request.address[lane] - begin) / request.bytes);
    const int64_t pitch = (element - column) / row;
    if (pitch * row + column != element || (tile.pitch != 0 && pitch != tile.pitch))
      return std::nullopt;
    tile.pitch = pitch;
  }
  return tile.pitch > 0 ? std::optional(tile) : std::nullopt;
}

std::optional<Question> pitch_question(const LaunchRecord& record, const LineDetail& line) {
  const RequestDetail& request =
      line.requests[record.random.below(static_cast<uint32_t>(line.requests.size()))];
  const bool load = request.kind == AccessKind::load;
  if (!line.shared || line.ptx_level || !record.is_known(line) || request.matrix ||
      request.bytes > 4 || (!load && request.kind != AccessKind::store))
    return std::nullopt;
  for (const RequestDetail& other : line.requests)
    if (other.warp == request.warp && other.kind == request.kind && &other != &request)
      return std::nullopt;
  const uint64_t address = request.address[__builtin_ctz(request.mask)];
  uint64_t begin = 1;
  for (const counters::ArrayDetail& array : record.detail().shared_arrays)
    if (address >= array.begin && address < array.begin + array.bytes) begin = array.begin;
  if (begin % 128 != 0) return std::nullopt;
  const auto tile = tile_of(pictures::access_of(line, request, record.names).requests[0], begin);
  if (!tile) return std::nullopt;
  const bool longer = tile->pitch % 32 == 0;
  const int64_t pitch = tile->pitch + (longer ? 1 : -1);
  std::array<uint64_t, kWarpSize> changed{};
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    changed[lane] =
        begin + request.bytes * static_cast<uint64_t>(tile->row[lane] * pitch + tile->column[lane]);
  const uint32_t cost =
      (load ? counters::load_wavefronts(changed.data(), request.bytes, request.mask)
            : counters::store_wavefronts(changed.data(), request.bytes, request.mask))
          .actual;
  if (cost == request.cost) return std::nullopt;
  Question q = record.about(Kind::what_if, "pitch", "banks", line.line);
  q.answer = cost;
  q.text = fmt::format(
      "Suppose that the rows of `{}` had one element {} ({} instead of {}), and nothing else "
      "changed. How many wavefronts would the {} by warp {} of {} take? `{}` begins in bank 0, and "
      "an element has {} byte{}.",
      tile->array, longer ? "more" : "less", pitch, tile->pitch, load ? "load" : "store",
      request.warp, block_name(record.launch, line.block), tile->array, request.bytes,
      request.bytes == 1 ? "" : "s");
  q.reason =
      "An element's word is its row times the length of a row, plus its column. For each "
      "bank count the different words.";
  add_wrong(q, request.cost,
            "That is the number for the tile as it is. The length of a row decides in which bank "
            "the next row begins.");
  add_wrong(q, 1,
            "Work out the banks of the first lanes with the new rows: do two lanes meet in "
            "one bank?");
  add_wrong(q, __builtin_popcount(request.mask),
            "Not all lanes meet in one bank. How far apart are the words of neighbouring lanes?");
  q.weight = 5;
  RequestDetail drawn = request;
  drawn.address = changed;
  drawn.cost = cost;
  record.draw_request(q, line, drawn);
  return q;
}

std::optional<Question> occupancy_question(const LaunchRecord& record) {
  static constexpr std::array<const char*, 4> kDevices = {"t4", "a100", "l4", "rtx4090"};
  if (!record.kernel.registers) return std::nullopt;
  const model::Profile gpu = model::read_profile(kDevices[record.random.below(kDevices.size())]);
  const model::Multiprocessor& sm = gpu.multiprocessor;
  const auto threads = static_cast<uint32_t>(record.block().count());
  const uint32_t registers = *record.kernel.registers;
  const uint32_t dynamic = record.launch.shape.dynamic_shared;
  const uint32_t shared = record.kernel.static_shared + dynamic;
  std::optional<model::Occupancy> exact;
  try {
    exact = model::occupancy(gpu, threads, registers, record.kernel.static_shared, dynamic);
  } catch (const Error&) {  // no block fits
    return std::nullopt;
  }
  const int64_t by_registers = sm.registers / (uint64_t{registers} * threads);
  const int64_t by_threads = sm.max_threads / threads;
  const int64_t reserve = shared == 0 ? 0 : sm.reserved_shared_bytes_per_block;
  const int64_t by_shared =
      shared == 0 ? sm.max_blocks : int64_t{sm.shared_bytes} / (int64_t{shared} + reserve);
  const int64_t by_blocks = sm.max_blocks;
  const int64_t all = std::min({by_registers, by_threads, by_shared, by_blocks});
  // The hardware allocates in units; the question must not depend on them.
  if (all != exact->blocks) return std::nullopt;
  Question q = record.about(Kind::what_if, "occupancy", "occupancy", 0);
  q.answer = all;
  q.text = fmt::format(
      "How many blocks of this launch fit on one multiprocessor of an {}? A thread has {} "
      "registers, and a block {} bytes of shared memory{}. The multiprocessor has {} registers, {} "
      "bytes of shared memory, and room for {} threads and {} blocks.",
      gpu.name, registers, grouped(shared),
      reserve > 0 ? fmt::format(" and {} that the system reserves", grouped(reserve)) : "",
      grouped(sm.registers), grouped(sm.shared_bytes), grouped(sm.max_threads), sm.max_blocks);
  q.reason = "Divide each resource by what one block takes; the smallest quotient decides.";
  const auto binds = [](const char* other) {
    return fmt::format("That counts {} only. Another resource is used up earlier.", other);
  };
  add_wrong(q, by_threads, binds("the threads"));
  add_wrong(q, by_registers, binds("the registers"));
  if (shared > 0) add_wrong(q, by_shared, binds("the shared memory"));
  add_wrong(q, by_blocks, binds("the room for blocks"));
  add_wrong(q, sm.registers / (uint64_t{registers} * kWarpSize), "That counts warps, not blocks.");
  q.weight = all == by_threads ? 1 : 3;
  return q.wrong.size() < 2 ? std::nullopt : std::optional(q);
}

}  // namespace

std::vector<Question> computed_questions(const LaunchRecord& record) {
  std::vector<Question> questions;
  for (const LineDetail& line : record.detail().lines)
    if (auto question = pitch_question(record, line)) questions.push_back(std::move(*question));
  if (auto question = occupancy_question(record)) questions.push_back(std::move(*question));
  return questions;
}

Mutants::Mutants(grading::Check& check, const grading::Launch& launch) {
  const grading::Session& s = check.session;
  if (!s.artifact || launch.shape.block.count() <= kWarpSize) return;
  const std::vector<std::string> symbols = s.module.kernel_symbols();
  const auto symbol = device::find_kernel(symbols, launch.kernel);
  if (!symbol) return;
  const std::vector<std::string> ptx = grading::lines_of_kernel(s.artifact->ptx, symbols[*symbol]);
  const std::vector<int> positions = source_lines(ptx);
  std::set<int> barriers;
  for (size_t i = 0; i < ptx.size(); ++i)
    if (grading::is_block_barrier(ptx[i]) &&
        s.source.text_of(positions[i]).find("sync") != std::string::npos)
      barriers.insert(positions[i]);
  for (const int line : barriers) {
    if (mutants_.size() == kMostMutants) break;
    toolchain::Artifact artifact;
    artifact.source = s.artifact->source;
    artifact.arch = s.artifact->arch;
    for (size_t i = 0; i < ptx.size(); ++i)
      if (positions[i] != line || !grading::is_block_barrier(ptx[i])) artifact.ptx += ptx[i] + "\n";
    try {
      Mutant mutant{line, check.device().load(artifact), nullptr};
      mutant.kernel = mutant.module->find(launch.kernel);
      if (mutant.kernel) mutants_.push_back(std::move(mutant));
    } catch (const MachineError&) {
      throw;
    } catch (const Error&) {  // the text without the barrier is no program
    }
  }
}

std::vector<Question> Mutants::questions(const LaunchRecord& record, device::Kernel& kernel,
                                         device::SavedMemory& before) {
  std::vector<Question> questions;
  device::Device& device = record.check.device();
  const grading::Launch& launch = record.launch;
  const auto after = device.save();
  device::LaunchOptions options;
  options.warp_budget = 2'000'000;  // a kernel without its barrier may loop
  options.keep_going = true;
  options.count = false;
  for (const Mutant& mutant : mutants_) {
    before.put_back();
    const device::Run run = device.launch(*mutant.kernel, launch.shape, launch.args, options);
    if (auto question = barrier_question(record, mutant.line, run))
      questions.push_back(std::move(*question));
  }
  const auto threads = static_cast<uint32_t>(record.block().count());
  const uint32_t other = threads == 64 ? 128 : 64;
  if (record.one_dimensional() && threads >= 64 && threads != other) {
    before.put_back();
    device::Shape shape = launch.shape;
    shape.block = {other};
    device::LaunchOptions recorded;
    recorded.warp_budget = options.warp_budget;
    recorded.launch_detail.emplace();
    recorded.launch_detail->file = record.names.file;
    recorded.launch_detail->block = record.detail().block;
    recorded.launch_detail->most = 512;
    const device::Run run = device.launch(kernel, shape, launch.args, recorded);
    const bool runs = !run.fault && run.launch_detail && !grading::has_finding(run);
    if (runs)
      for (Question& question : block_size_questions(record, *run.launch_detail, other))
        questions.push_back(std::move(question));
  }
  after->put_back();
  return questions;
}

}  // namespace lab32::asking
