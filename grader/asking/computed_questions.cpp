// Questions whose answers are computed: the banks of a tile with longer rows, and the blocks of a
// kernel that are on a multiprocessor at the same time.
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
struct WarpTileAccess {
  std::string array;
  int64_t pitch = 0;  // elements of a row
  std::array<int64_t, kWarpSize> row{}, column{};
};

std::optional<WarpTileAccess> tile_access_of(const pictures::PicturedRequest& request,
                                             uint64_t begin) {
  static const RegularExpression name(
      "^([A-Za-z_][A-Za-z_0-9]*)\\[([0-9]{1,6})\\]\\[([0-9]{1,6})\\]$");
  WarpTileAccess tile;
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

std::optional<Question> changed_pitch_wavefront_question(const LaunchQuestionInputs& record,
                                                         const LineDetail& line) {
  const RequestDetail& request =
      line.requests[record.random.below(static_cast<uint32_t>(line.requests.size()))];
  const bool load = request.kind == AccessKind::load;
  if (!line.shared || line.ptx_level || !record.is_independent_of_inputs(line) || request.matrix ||
      request.bytes != 4 || !record.has_access_syntax_in_line(line.line) ||
      (!load && request.kind != AccessKind::store))
    return std::nullopt;
  for (const RequestDetail& other : line.requests)
    if (other.warp == request.warp && other.kind == request.kind && &other != &request)
      return std::nullopt;
  const uint64_t address = request.address[__builtin_ctz(request.mask)];
  uint64_t begin = 1;
  for (const counters::AccessedArray& array : record.detail().shared_arrays)
    if (address >= array.begin && address < array.begin + array.bytes) begin = array.begin;
  if (begin % 128 != 0) return std::nullopt;
  const auto tile = tile_access_of(
      pictures::single_request_picture(line, request, record.names).requests[0], begin);
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
      "an element is 4 bytes long.",
      tile->array, longer ? "more" : "fewer", pitch, tile->pitch, load ? "load" : "store",
      request.warp, block_name(record.launch, line.block), tile->array);
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

// What one block of a kernel takes, and how many blocks each resource of a multiprocessor allows.
struct BlockResourceUsage {
  uint32_t threads = 0, registers = 0, static_shared = 0, dynamic_shared = 0;
  uint32_t shared() const { return static_shared + dynamic_shared; }
};

struct ResidentBlockLimits {
  std::array<int64_t, 4> allowed{};  // in the order of kResources
  int64_t blocks = 0;                // the smallest of them
};

constexpr std::array<const char*, 4> kResources = {"threads", "registers", "shared memory",
                                                   "room for blocks"};

// nullopt if no block fits, or if the units in which the hardware allocates registers and shared
// memory make a difference: questions do not mention them.
std::optional<ResidentBlockLimits> limits_of(const model::DeviceProfile& gpu,
                                             const BlockResourceUsage& usage) {
  const model::SmLimits& sm = gpu.multiprocessor;
  if (usage.threads > gpu.max_threads_per_block) return std::nullopt;
  const int64_t shared = usage.shared();
  ResidentBlockLimits limits;
  limits.allowed = {
      sm.max_threads / usage.threads,
      static_cast<int64_t>(sm.registers / (uint64_t{usage.registers} * usage.threads)),
      shared == 0 ? sm.max_blocks
                  : int64_t{sm.shared_bytes} / (shared + sm.reserved_shared_bytes_per_block),
      sm.max_blocks};
  limits.blocks = *std::min_element(limits.allowed.begin(), limits.allowed.end());
  try {
    const model::Occupancy exact = model::occupancy(gpu, usage.threads, usage.registers,
                                                    usage.static_shared, usage.dynamic_shared);
    return exact.blocks == limits.blocks ? std::optional(limits) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What a block takes and a multiprocessor has, as text; without the registers of a thread if a
// question has named another number of them.
std::string usage_text(const model::DeviceProfile& gpu, const BlockResourceUsage& usage,
                       bool with_registers = true) {
  const model::SmLimits& sm = gpu.multiprocessor;
  std::string text;
  if (with_registers) text = fmt::format("Each thread uses {} registers. ", usage.registers);
  if (usage.shared() > 0)
    text +=
        fmt::format("Each block uses {} bytes of shared memory{}. ", grouped_digits(usage.shared()),
                    sm.reserved_shared_bytes_per_block > 0
                        ? fmt::format(", and the system reserves {} more",
                                      grouped_digits(sm.reserved_shared_bytes_per_block))
                        : "");
  return text +
         fmt::format(
             "The multiprocessor has {} registers, {}room for {} threads, and room for {} blocks.",
             grouped_digits(sm.registers),
             usage.shared() > 0 ? grouped_digits(sm.shared_bytes) + " bytes of shared memory, "
                                : "",
             grouped_digits(sm.max_threads), sm.max_blocks);
}

// Adds the numbers that follow from one resource alone, each times `factor`.
void add_other_limits(Question& q, const ResidentBlockLimits& limits,
                      const BlockResourceUsage& usage, int64_t factor) {
  for (size_t i = 0; i < kResources.size(); ++i) {
    if (i == 2 && usage.shared() == 0) continue;
    std::vector<std::string> names;
    for (size_t k = 0; k < kResources.size(); ++k)
      if (limits.allowed[k] == limits.allowed[i] && (k != 2 || usage.shared() > 0))
        names.push_back(fmt::format("the {}", kResources[k]));
    add_wrong_answer(q, limits.allowed[i] * factor,
                     fmt::format("That counts only {}. Another resource is used up earlier.",
                                 fmt::join(names, " or only ")));
  }
}

const char* const kDivide =
    "Divide each resource by what one block takes; the smallest quotient decides.";

class OccupancyQuestionGenerator {
 public:
  explicit OccupancyQuestionGenerator(const LaunchQuestionInputs& record) : r_(record) {}

  std::vector<Question> all_questions() {
    if (!r_.kernel.registers) return {};
    now_ = {static_cast<uint32_t>(r_.block().count()), *r_.kernel.registers,
            r_.kernel.static_shared, r_.launch.shape.dynamic_shared};
    // Each question is about another GPU, so that none tells the answer to the next.
    std::vector<std::string> ids = {"t4", "a100", "l4", "rtx4090"};
    r_.random.shuffle(ids);
    std::vector<model::DeviceProfile> gpus;
    for (const std::string& id : ids) gpus.push_back(model::read_device_profile(id));
    if (const auto limits = limits_of(gpus[0], now_)) {
      ask_blocks(gpus[0], *limits);
      ask_limit(gpus[0], *limits);
    }
    if (const auto limits = limits_of(gpus[1], now_))
      ask_blocks_with_more_registers(gpus[1], *limits);
    if (const auto limits = limits_of(gpus[2], now_))
      ask_threads_of_other_block_size(gpus[2], *limits);
    if (const auto limits = limits_of(gpus[3], now_)) ask_waves(gpus[3], *limits);
    return std::move(questions_);
  }

 private:
  Question new_question(const std::string& subject) const {
    Question q = r_.new_question(QuestionKind::what_if, subject, "occupancy", 0);
    q.reason = kDivide;
    return q;
  }

  void add_if_enough_wrong_answers(Question question) {
    if (question.wrong.size() >= 2) questions_.push_back(std::move(question));
  }

  void ask_blocks(const model::DeviceProfile& gpu, const ResidentBlockLimits& limits) {
    if (limits.blocks == limits.allowed[0]) return;  // most kernels have this answer
    Question q = new_question("occupancy");
    q.answer = limits.blocks;
    q.text = fmt::format(
        "Suppose that the grid were large. How many blocks of {} threads of this kernel can be on "
        "one multiprocessor of an {} at the same time? {}",
        now_.threads, gpu.name, usage_text(gpu, now_));
    add_other_limits(q, limits, now_, 1);
    add_wrong_answer(q, gpu.multiprocessor.max_threads / kWarpSize,
                     "That counts the warps for which there is room, not blocks.");
    q.weight = 2;
    add_if_enough_wrong_answers(std::move(q));
  }

  void ask_limit(const model::DeviceProfile& gpu, const ResidentBlockLimits& limits) {
    if (std::count(limits.allowed.begin(), limits.allowed.end(), limits.blocks) != 1) return;
    Question q = new_question("limit");
    q.text = fmt::format(
        "Suppose that the grid were large. Which resource limits how many blocks of {} threads of "
        "this kernel are on one multiprocessor of an {} at the same time? {}",
        now_.threads, gpu.name, usage_text(gpu, now_));
    for (size_t i = 0; i < kResources.size(); ++i) {
      if (i == 2 && now_.shared() == 0) continue;
      q.options.push_back(fmt::format("the {}", kResources[i]));
      if (limits.allowed[i] == limits.blocks) q.answer = static_cast<int64_t>(q.options.size());
    }
    for (size_t i = 0, option = 0; i < kResources.size(); ++i)
      if (i != 2 || now_.shared() > 0)
        add_wrong_answer(
            q, static_cast<int64_t>(++option),
            fmt::format(
                "The {} would be enough for {} blocks. Another resource is used up earlier.",
                kResources[i], limits.allowed[i]));
    questions_.push_back(std::move(q));
  }

  void ask_blocks_with_more_registers(const model::DeviceProfile& gpu,
                                      const ResidentBlockLimits& now) {
    static constexpr std::array<uint32_t, 7> kRegisters = {32, 40, 48, 64, 80, 96, 128};
    std::vector<std::pair<BlockResourceUsage, ResidentBlockLimits>> changes;
    for (const uint32_t registers : kRegisters) {
      BlockResourceUsage usage = now_;
      usage.registers = registers;
      const auto limits = limits_of(gpu, usage);
      if (limits && registers > now_.registers && limits->blocks != now.blocks)
        changes.emplace_back(usage, *limits);
    }
    if (changes.empty()) return;
    const auto& [usage, limits] = changes[r_.random.below(static_cast<uint32_t>(changes.size()))];
    Question q = new_question("registers");
    q.answer = limits.blocks;
    q.text = fmt::format(
        "The kernel uses {} registers per thread. Suppose that it used {}, and that the grid were "
        "large. How many blocks of {} threads could then be on one multiprocessor of an {} at the "
        "same time? {}",
        now_.registers, usage.registers, usage.threads, gpu.name, usage_text(gpu, usage, false));
    add_wrong_answer(q, now.blocks,
                     fmt::format("That is the number with {} registers.", now_.registers));
    if (const int64_t scaled = now.blocks * now_.registers / usage.registers; scaled > 0)
      add_wrong_answer(q, scaled,
                       "That is in proportion to the registers. They need not have been the limit "
                       "before.");
    add_other_limits(q, limits, usage, 1);
    add_if_enough_wrong_answers(std::move(q));
  }

  // A dynamic size of shared memory depends on the block, so it is not asked what other blocks do.
  void ask_threads_of_other_block_size(const model::DeviceProfile& gpu,
                                       const ResidentBlockLimits& now) {
    static constexpr std::array<uint32_t, 8> kThreads = {32, 64, 128, 256, 384, 512, 768, 1024};
    if (now_.shared() > 0) return;
    std::vector<std::pair<BlockResourceUsage, ResidentBlockLimits>> changes;
    for (const uint32_t threads : kThreads) {
      BlockResourceUsage usage = now_;
      usage.threads = threads;
      const auto limits = limits_of(gpu, usage);
      if (limits && limits->blocks * threads != now.blocks * now_.threads)
        changes.emplace_back(usage, *limits);
    }
    if (changes.empty()) return;
    const auto& [usage, limits] = changes[r_.random.below(static_cast<uint32_t>(changes.size()))];
    Question q = new_question("shape");
    q.answer = limits.blocks * usage.threads;
    q.text = fmt::format(
        "Suppose that the blocks had {} threads instead of {}, and that the grid were large. How "
        "many threads of this kernel could be on one multiprocessor of an {} at the same time? {}",
        usage.threads, now_.threads, gpu.name, usage_text(gpu, usage));
    q.reason += " Only whole blocks are on a multiprocessor.";
    add_wrong_answer(q, limits.blocks, "That counts blocks, not threads.");
    add_wrong_answer(q, now.blocks * now_.threads,
                     fmt::format("That is the number with blocks of {} threads.", now_.threads));
    add_other_limits(q, limits, usage, usage.threads);
    add_if_enough_wrong_answers(std::move(q));
  }

  void ask_waves(const model::DeviceProfile& gpu, const ResidentBlockLimits& limits) {
    const int64_t of_wave = limits.blocks * gpu.multiprocessors;
    const int64_t grid = of_wave * (1 + r_.random.below(4)) + 1 +
                         r_.random.below(static_cast<uint32_t>(of_wave / 2));
    Question q = new_question("waves");
    q.answer = (grid + of_wave - 1) / of_wave;
    q.text = fmt::format(
        "Suppose that the grid had {} blocks of {} threads. In how many waves would an {} execute "
        "it? The GPU has {} multiprocessors. {}",
        grouped_digits(grid), now_.threads, gpu.name, gpu.multiprocessors, usage_text(gpu, now_));
    q.reason += " A wave has that many blocks on every multiprocessor.";
    add_wrong_answer(q, grid / of_wave,
                     "That counts whole waves. The blocks that are left need another one.");
    add_wrong_answer(q, (grid + gpu.multiprocessors - 1) / gpu.multiprocessors,
                     "That would be with one block on each multiprocessor.");
    for (size_t i = 0; i < kResources.size(); ++i)
      if (const int64_t other = limits.allowed[i] * gpu.multiprocessors;
          (i != 2 || now_.shared() > 0) && other > 0)
        add_wrong_answer(
            q, (grid + other - 1) / other,
            fmt::format("That counts only the {}. Another resource is used up earlier.",
                        kResources[i]));
    add_if_enough_wrong_answers(std::move(q));
  }

  const LaunchQuestionInputs& r_;
  BlockResourceUsage now_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> calculation_questions(const LaunchQuestionInputs& record) {
  std::vector<Question> questions;
  for (const LineDetail& line : record.detail().lines)
    if (auto question = changed_pitch_wavefront_question(record, line))
      questions.push_back(std::move(*question));
  for (Question& question : OccupancyQuestionGenerator(record).all_questions())
    questions.push_back(std::move(question));
  return questions;
}

}  // namespace lab32::asking
