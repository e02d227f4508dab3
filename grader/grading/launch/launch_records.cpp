// The records by which a submission chooses the shape of a launch: LAB32_LAUNCH and LAB32_TILE.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "grading/engine/check.h"
#include "grading/launch/launch.h"
#include "grading/words/words.h"

namespace lab32::grading {

device::LaunchShape LaunchShapeRule::shape(uint64_t n, uint32_t multiprocessors) const {
  uint64_t blocks = std::max<uint64_t>(1, ceil_div(n, uint64_t{block} * items_per_thread));
  if (blocks_per_sm > 0) blocks = std::min(blocks, uint64_t{blocks_per_sm} * multiprocessors);
  return {{static_cast<uint32_t>(blocks)}, {block}, dynamic_shared};
}

std::optional<std::vector<std::byte>> read_constant_of_submission(Check& check,
                                                                  device::LoadedModule& module,
                                                                  const std::string& symbol) {
  auto bytes = module.initial_constant(symbol);
  if (!bytes && module.read_symbol(symbol))
    check.fail_and_throw(
        {CheckFailureReason::Kind::invalid, "", symbol}, check.line_of(symbol),
        fmt::format("`{}` is no __constant__ variable. What the file tells the grader must "
                    "stay the same in all launches: use the macros of lab32.cuh.",
                    symbol));
  return bytes;
}

LaunchShapeRule launch_config(Check& check, const std::string& kernel,
                              LaunchFieldsLeftToStudent free) {
  return launch_config(check, kernel, check.session.module, free);
}

LaunchShapeRule launch_config(Check& check, const std::string& kernel, device::LoadedModule& module,
                              LaunchFieldsLeftToStudent free) {
  const auto bytes = read_constant_of_submission(check, module, "lab32_launch_" + kernel);
  std::array<int32_t, 4> said{};
  if (!bytes || bytes->size() != sizeof(said))
    check.fail_and_throw(
        {CheckFailureReason::Kind::missing, "", "LAB32_LAUNCH(" + kernel + ")"}, 0,
        fmt::format("The file does not say how {0} is launched: add LAB32_LAUNCH({0}, .block "
                    "= 256, .items_per_thread = 8).",
                    kernel));
  std::memcpy(said.data(), bytes->data(), sizeof(said));
  const int line = check.session.source.first_line_with_text("LAB32_LAUNCH(" + kernel);
  const CheckFailureReason invalid{CheckFailureReason::Kind::invalid, "",
                                   "LAB32_LAUNCH(" + kernel + ")"};
  const auto [block, items, blocks_per_sm, shared] = said;
  if (block < 1 || block > 1024)
    check.fail_and_throw(
        invalid, line,
        fmt::format("LAB32_LAUNCH: .block is {}; a block has 1 to 1024 threads.", block));
  if (items < 0 || blocks_per_sm < 0 || shared < 0)
    check.fail_and_throw(invalid, line, "LAB32_LAUNCH: a field is negative.");
  for (const auto& [name, value, is_free] :
       {std::tuple{"blocks_per_sm", blocks_per_sm, free.blocks_per_sm},
        std::tuple{"dynamic_shared", shared, free.dynamic_shared}})
    if (value != 0 && !is_free)
      check.fail_and_throw(
          invalid, line,
          fmt::format("LAB32_LAUNCH: .{} is {}, but this task does not leave that field free: "
                      "leave it out.",
                      name, value));
  return {static_cast<uint32_t>(block), static_cast<uint32_t>(std::max(items, 1)),
          static_cast<uint32_t>(blocks_per_sm), static_cast<uint32_t>(shared)};
}

device::LaunchShape TileConfig::shape(uint32_t n, uint32_t m) const {
  return {{blocks_for(m, columns), blocks_for(n, rows)}, {threads}};
}

TileConfig tile_config(Check& check, const std::string& kernel, device::LoadedModule& module) {
  const auto bytes = read_constant_of_submission(check, module, "lab32_tile_" + kernel);
  const std::string macro = "LAB32_TILE(" + kernel + ")";
  std::array<int32_t, 3> asked{};
  if (!bytes || bytes->size() != sizeof(asked))
    check.fail_and_throw({CheckFailureReason::Kind::missing, "", macro}, 0,
                         fmt::format("The file does not say which tile {0} uses: add "
                                     "LAB32_TILE({0}, .rows = 64, .columns = 64, .threads = 256).",
                                     kernel));
  std::memcpy(asked.data(), bytes->data(), sizeof(asked));
  const auto [rows, columns, threads] = asked;
  const int line = check.line_of("LAB32_TILE");
  const CheckFailureReason invalid{CheckFailureReason::Kind::invalid, "", macro};
  if (rows < 1 || columns < 1 || rows > 4096 || columns > 4096)
    check.fail_and_throw(
        invalid, line,
        fmt::format("LAB32_TILE: a tile of {} x {} elements; rows and columns must be 1 to 4096.",
                    rows, columns));
  if (threads < 1 || threads > 1024)
    check.fail_and_throw(
        invalid, line,
        fmt::format("LAB32_TILE: .threads is {}; a block has 1 to 1024 threads.", threads));
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns),
          static_cast<uint32_t>(threads)};
}

}  // namespace lab32::grading
