// Questions whose answers are computed: the banks of a tile with longer rows, and the blocks that
// fit on another GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "asking/launch_record.h"
#include "base/error.h"
#include "base/text.h"
#include "simulator/observers/traffic/banks.h"
#include "simulator/timing/occupancy.h"

namespace lab32::asking {
namespace {

using sim::AccessKind;

// A two-dimensional array in shared memory, and the row and column that each lane accesses: names
// of its elements have two indices.
struct TileAccess {
  std::string array;
  int64_t pitch = 0;  // elements of a row
  std::array<int64_t, kWarpSize> row{}, column{};
};

std::optional<TileAccess> tile_access_of(const pictures::PicturedRequest& request, uint64_t begin) {
  static const RegularExpression name(
      "^([A-Za-z_][A-Za-z_0-9]*)\\[([0-9]{1,6})\\]\\[([0-9]{1,6})\\]$");
  TileAccess tile;
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
  if (!line.shared || line.ptx_level || !record.is_independent_of_inputs(line) || request.matrix ||
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
  const auto tile =
      tile_access_of(pictures::access_of(line, request, record.names).requests[0], begin);
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
  Question q = record.new_question(QuestionKind::what_if, "pitch", "banks", line.line);
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
  add_wrong_answer(
      q, request.cost,
      "That is the number for the tile as it is. The length of a row decides in which bank "
      "the next row begins.");
  add_wrong_answer(q, 1,
                   "Work out the banks of the first lanes with the new rows: do two lanes meet in "
                   "one bank?");
  add_wrong_answer(
      q, __builtin_popcount(request.mask),
      "Not all lanes meet in one bank. How far apart are the words of neighbouring lanes?");
  q.weight = 5;
  RequestDetail drawn = request;
  drawn.address = changed;
  drawn.cost = cost;
  record.add_request_picture(q, line, drawn);
  return q;
}

std::optional<Question> occupancy_question(const LaunchRecord& record) {
  static constexpr std::array<const char*, 4> kDevices = {"t4", "a100", "l4", "rtx4090"};
  if (!record.kernel.registers) return std::nullopt;
  const model::DeviceProfile gpu =
      model::read_device_profile(kDevices[record.random.below(kDevices.size())]);
  const model::SmLimits& sm = gpu.multiprocessor;
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
  // The hardware allocates registers and shared memory in units, which the question does not
  // mention: it is asked only if they make no difference.
  if (all != exact->blocks) return std::nullopt;
  Question q = record.new_question(QuestionKind::what_if, "occupancy", "occupancy", 0);
  q.answer = all;
  q.text = fmt::format(
      "How many blocks of this launch fit on one multiprocessor of an {}? A thread has {} "
      "registers, and a block {} bytes of shared memory{}. The multiprocessor has {} registers, {} "
      "bytes of shared memory, and room for {} threads and {} blocks.",
      gpu.name, registers, grouped_digits(shared),
      reserve > 0 ? fmt::format(" and {} that the system reserves", grouped_digits(reserve)) : "",
      grouped_digits(sm.registers), grouped_digits(sm.shared_bytes), grouped_digits(sm.max_threads),
      sm.max_blocks);
  q.reason = "Divide each resource by what one block takes; the smallest quotient decides.";
  const auto binds = [](const char* other) {
    return fmt::format("That counts {} only. Another resource is used up earlier.", other);
  };
  add_wrong_answer(q, by_threads, binds("the threads"));
  add_wrong_answer(q, by_registers, binds("the registers"));
  if (shared > 0) add_wrong_answer(q, by_shared, binds("the shared memory"));
  add_wrong_answer(q, by_blocks, binds("the room for blocks"));
  add_wrong_answer(q, sm.registers / (uint64_t{registers} * kWarpSize),
                   "That counts warps, not blocks.");
  q.weight = all == by_threads ? 1 : 3;
  return q.wrong.size() < 2 ? std::nullopt : std::optional(q);
}

}  // namespace

std::vector<Question> calculation_questions(const LaunchRecord& record) {
  std::vector<Question> questions;
  for (const LineDetail& line : record.detail().lines)
    if (auto question = pitch_question(record, line)) questions.push_back(std::move(*question));
  if (auto question = occupancy_question(record)) questions.push_back(std::move(*question));
  return questions;
}

}  // namespace lab32::asking
