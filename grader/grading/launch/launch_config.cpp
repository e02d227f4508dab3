#include "grading/launch/launch_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/launch.h"

namespace lab32::grading {

device::Shape LaunchConfig::shape(uint64_t n) const {
  return shape(n, session().device.multiprocessors());
}

device::Shape LaunchConfig::shape(uint64_t n, uint32_t multiprocessors) const {
  uint64_t blocks = std::max<uint64_t>(1, ceil_div(n, uint64_t{block} * items_per_thread));
  if (blocks_per_sm > 0) blocks = std::min(blocks, uint64_t{blocks_per_sm} * multiprocessors);
  return {{static_cast<uint32_t>(blocks)}, {block}, dynamic_shared};
}

LaunchConfig launch_config(const std::string& kernel) {
  return launch_config(kernel, session().module);
}

LaunchConfig launch_config(const std::string& kernel, device::LoadedModule& module) {
  const auto bytes = module.read_symbol("lab32_launch_" + kernel);
  std::array<int32_t, 4> said{};
  if (!bytes || bytes->size() != sizeof(said))
    lose({Failure::Kind::missing, "", "LAB32_LAUNCH(" + kernel + ")"}, 0,
         fmt::format("The file has no launch for {0}: say LAB32_LAUNCH({0}, .block = 256, "
                     ".items_per_thread = 8).",
                     kernel));
  std::memcpy(said.data(), bytes->data(), sizeof(said));
  const int line = session().source.find_text("LAB32_LAUNCH(" + kernel);
  const Failure invalid{Failure::Kind::invalid, "", "LAB32_LAUNCH(" + kernel + ")"};
  const auto [block, items, blocks_per_sm, shared] = said;
  if (block < 1 || block > 1024)
    lose(invalid, line,
         fmt::format("LAB32_LAUNCH: .block = {}, and a block has 1 to 1024 threads.", block));
  if (items < 0 || blocks_per_sm < 0 || shared < 0)
    lose(invalid, line, "LAB32_LAUNCH: no field can be negative.");
  return {static_cast<uint32_t>(block), static_cast<uint32_t>(std::max(items, 1)),
          static_cast<uint32_t>(blocks_per_sm), static_cast<uint32_t>(shared)};
}

}  // namespace lab32::grading
