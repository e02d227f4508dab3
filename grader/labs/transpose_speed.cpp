// The transpose lab, part C: the best version against a copy.

#include "labs/rule.h"
#include "labs/speed.h"
#include "labs/suite.h"
#include "labs/transpose_tile.h"

namespace lab32::labs {
namespace {

// n x n floats.
TimedWork transpose_work(uint32_t n, size_t sets) {
  const std::vector<std::vector<float>> inputs = random_inputs(sets, size_t{n} * n);
  TimedWork work = from_in_to_out(inputs);
  work.steps = [n](device::Module& module, uint32_t) {
    return std::vector<device::TimedStep>{
        device::TimedLaunch{"transpose_best<float>",
                            tile_of_best(module).shape(n, n),
                            {device::ArrayIndex{0}, device::ArrayIndex{1},
                             device::Arg(static_cast<int>(n)), device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [inputs, n](size_t set, const std::vector<std::vector<std::byte>>& outputs) {
    const std::vector<float> got = values_of<float>(outputs[0]);
    const std::vector<float>& in = inputs[set];
    constexpr size_t kSquare = 32;  // or the host stumbles over what this lab is about
    for (size_t y0 = 0; y0 < n; y0 += kSquare)
      for (size_t x0 = 0; x0 < n; x0 += kSquare)
        for (size_t y = y0; y < y0 + kSquare && y < n; ++y)
          for (size_t x = x0; x < x0 + kSquare && x < n; ++x)
            if (!matches(got[x * n + y], in[y * n + x], 0))
              return fmt::format("out[{}][{}] is not in[{}][{}].", x, y, y, x);
    return std::string();
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:transpose") {
  TEST_CASE("C1 best: time" * timed(10)) {
    credit_speed(Rule("best_time"), {"transpose_best", "B4 best: result", transpose_work});
  }
}

}  // namespace lab32::labs
