// Sums of floats in shared memory, which ptxas implements with compare-and-swap loops, compared
// with an H200 (data/measured/model/h200-spins.csv).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/timing/instruction_cost.h"
#include "simulator/timing/multiprocessor.h"
#include "tests/fixtures/model_record.h"
#include "tests/fixtures/slow.h"

using namespace lab32;

namespace {

constexpr double kRoundsOfSpins = 200;

// A measured value of one round of all warps of the block.
double measured_spin(const std::string& row, const std::string& figure) {
  for (const TableRow& at :
       read_csv_table(lab32_root().string() + "/data/measured/model/h200-spins.csv")) {
    if (at.at("part") != "float" || at.at("case") != row) continue;
    const std::string& figures = at.at("figures");
    return std::atof(figures.c_str() + figures.find(figure + "=") + figure.size() + 1);
  }
  FAIL("there is no row " << row);
  return 0;
}

// The cycles of one block whose warps run such a loop. `shared`: SmWork::shared_words.
double cycles_of_spins(double rounds, uint32_t warps, double shared) {
  using Spin = model::ModelledInstruction::Spin;
  const auto code = [](const char* opcode, uint8_t stall, int8_t raises, uint8_t waits_for) {
    model::ModelledInstruction in = model::modelled_instruction_of_opcode(opcode);
    in.scheduled = true;
    in.stall = stall;
    in.write_barrier = raises;
    in.waits_for = waits_for;
    return in;
  };
  model::AverageWarpTrace trace;
  trace.registers = 8;
  trace.lines = 1;
  trace.blocks.push_back({{code("MOV", 1, -1, 0)}, 1, {}});
  trace.blocks.push_back(
      {{code("LDS", 1, 0, 0), code("FADD", 5, -1, 1), code("ATOMS.CAST.SPIN", 1, 0, 0),
        code("ISETP", 13, -1, 1), code("BRA", 5, -1, 0)},
       rounds,
       {1}});
  trace.blocks[1].code[0].spin = Spin::load;
  trace.blocks[1].code[2].spin = Spin::swap;
  for (const size_t access : {0, 2}) trace.blocks[1].code[access].busy = 1.5;
  model::SmWork work;
  work.blocks = 1;
  work.warps = warps;
  work.shared_words = shared;
  return model::run_multiprocessor(model::read_device_profile("h200"), trace, work).cycles;
}

}  // namespace

TEST_SUITE("model: spins") {
  TEST_CASE("model: spins: warps with words of their own do not wait for each other") {
    const double one = cycles_of_spins(200, 1, 0), further = cycles_of_spins(400, 1, 0) - one;
    CHECK(further / 200 == doctest::Approx(95.6).epsilon(0.03));  // shared_add_float, one warp
    CHECK(cycles_of_spins(200, 8, 0) < 1.02 * one);
    // `own`: 473 cycles for four lanes per word, where one warp takes 417.
    CHECK(cycles_of_spins(200, 32, 0) > 1.02 * one);
    CHECK(cycles_of_spins(200, 32, 0) < 1.2 * one);
  }

  TEST_CASE("model: spins: warps that update one word succeed one at a time") {
    const auto round = [](uint32_t warps) { return cycles_of_spins(400, warps, 1) / 400 / warps; };
    // `same`: 43.4 cycles for each of 32 warps, 93 for each of two.
    CHECK(round(32) == doctest::Approx(43.4).epsilon(0.1));
    CHECK(round(2) > 41);
    CHECK(round(2) < 95);
    // If a twentieth of the attempts of other warps touch the word, few attempts fail.
    CHECK(cycles_of_spins(200, 32, 0.05) < 0.5 * cycles_of_spins(200, 32, 1));
    CHECK(cycles_of_spins(200, 32, 0.05) > 1.2 * cycles_of_spins(200, 32, 0));
  }

  TEST_CASE("model: spins: random words take as long and as many instructions as measured" *
            kSlow) {
    tests::ModelKernels kernels;
    struct Lot {
      uint32_t warps, words;
      double off;
    };
    for (const Lot& lot :
         {Lot{1, 64, 0.15}, Lot{1, 1024, 0.15}, Lot{8, 64, 0.25}, Lot{8, 1024, 0.2},
          Lot{32, 1, 0.1}, Lot{32, 64, 0.3}, Lot{32, 1024, 0.15}}) {
      const std::string row = fmt::format("lot warps={} m={}", lot.warps, lot.words);
      CAPTURE(row);
      launches::CalibrationLaunchRow launch;
      launch.file = "grader/tools/calibration/spins.cu";
      launch.kernel = "additions<float, false>";
      launch.block_x = lot.warps * 32;
      launch.arguments = fmt::format("zero:1024 zero:2 int:3 int:{}", lot.words);
      const model::LaunchWorkCounts work = kernels.count(launch, false).cold.work;
      CHECK(work.cycles / kRoundsOfSpins ==
            doctest::Approx(measured_spin(row, "cycles")).epsilon(lot.off));
      // Failed attempts are not counted, and only a single warp has none.
      if (lot.warps == 1)
        CHECK(work.issue.all / kRoundsOfSpins ==
              doctest::Approx(measured_spin(row, "instructions")).epsilon(0.06));
    }
  }

  TEST_CASE("model: spins: the words that warps change determine how often they conflict") {
    counters::CasLoopContentionObserver spins;
    uint64_t address[32] = {};
    const auto add = [&](uint32_t warp, uint64_t word, uint32_t mask, bool again) {
      for (uint64_t& at : address) at = 4 * word;
      sim::IssuedWarpAccess access{};
      access.space = sim::AccessSpace::shared;
      access.kind = sim::AccessKind::atom;
      access.form = sim::SharedAtomicForm::spin_swap;
      access.bytes = 4;
      access.mask = mask;
      access.address = address;
      access.again = again;
      spins.access(warp, access);
    };
    sim::BlockInfo block{};
    block.threads = 96;
    spins.block_begin(block);
    add(0, 7, 3, false), add(0, 7, 2, true);  // two lanes, two attempts
    add(1, 9, 1, false);
    spins.block_barrier(nullptr, 3, true);
    CHECK(spins.shared_words() == 0);
    CHECK(spins.last_lanes() == 1);
    // Behind a barrier two warps update one word, and one warp another word.
    add(0, 9, 1, false), add(1, 9, 1, false), add(2, 8, 1, false);
    spins.block_end();
    // Two of the six additions, each with one conflict in the two attempts of other warps.
    CHECK(spins.shared_words() == doctest::Approx(2 * 0.5 / 6));
  }
}
