// The time model's view of a kernel without a clock: its dependence chains, and how often its
// machine code is issued.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/sass/emitted.h"
#include "simulator/timing/instruction_cost.h"
#include "simulator/timing/multiprocessor.h"
#include "simulator/timing/warp_paths.h"

using namespace lab32;

namespace {

// An instruction on registers r0 and following: opcode, number of written registers, read
// registers.
model::ModelledInstruction instruction(const char* opcode, int writes,
                                       std::vector<uint16_t> reads) {
  model::ModelledInstruction in = model::modelled_instruction_of_opcode(opcode);
  if (writes >= 0) in.writes = {static_cast<uint16_t>(writes)};
  in.reads = std::move(reads);
  if (in.kind == model::ModelledInstruction::Kind::global_load) {
    in.first_l1_misses = in.first_l2_misses = in.l1_misses = in.l2_misses = 1;
    in.group = static_cast<uint8_t>(writes);
  }
  return in;
}

model::AverageWarpTrace trace_of(std::vector<model::ModelledInstruction> code) {
  model::AverageWarpTrace trace;
  trace.registers = 8;
  trace.lines = 1;
  trace.blocks.push_back({std::move(code), 1, {}});
  return trace;
}

// The cycles of one block that runs alone.
double cycles(const model::AverageWarpTrace& trace, uint32_t warps = 1) {
  model::SmWork work;
  work.blocks = 1;
  work.warps = warps;
  return model::run_multiprocessor(model::read_device_profile("h200"), trace, work).cycles;
}

}  // namespace

TEST_SUITE("model: work") {
  TEST_CASE("model: an instruction waits for its operands and for the instructions before it") {
    std::vector<model::ModelledInstruction> chain, apart;
    for (int i = 0; i < 200; ++i) {
      chain.push_back(instruction("FFMA", 1, {1}));
      apart.push_back(instruction("FFMA", i % 8, {static_cast<uint16_t>(i % 8)}));
    }
    const double start = cycles(trace_of({instruction("FFMA", 1, {1})}));
    CHECK(cycles(trace_of(chain)) - start == doctest::Approx(4 * 199).epsilon(0.02));
    CHECK(cycles(trace_of(apart)) - start == doctest::Approx(199).epsilon(0.05));
    // Four warps have a scheduler each; sixteen keep them busy.
    CHECK(cycles(trace_of(chain), 4) - start == doctest::Approx(4 * 199).epsilon(0.05));
    CHECK(cycles(trace_of(apart), 16) - start == doctest::Approx(4 * 199).epsilon(0.15));
  }

  TEST_CASE("model: nothing is dispatched during a 64-bit product") {
    // wide_fill_4: 154 cycles for 120 instructions, of which sixteen are 64-bit products.
    std::vector<model::ModelledInstruction> code;
    for (int i = 0; i < 50; ++i) {
      code.push_back(instruction("IMAD.WIDE.U32", 6, {7}));
      for (int k = 0; k < 2; ++k) {
        code.push_back(instruction("FADD", k, {}));
        code.push_back(instruction("MOV", 2 + k, {}));
      }
    }
    CHECK(cycles(trace_of(code), 32) == doctest::Approx(8 * 50 * (5 + 2)).epsilon(0.08));
  }

  TEST_CASE(
      "model: a float instruction in the integer half of the pipeline delays an integer "
      "instruction") {
    // low_fill_2: 4.7 cycles for three instructions, low_fill_4: 5.6 for five.
    const auto each = [](int floats) {
      std::vector<model::ModelledInstruction> code;
      for (int i = 0; i < 50; ++i) {
        code.push_back(instruction("IMAD", 6, {7}));
        for (int k = 0; k < floats; ++k) code.push_back(instruction("FADD", k % 2, {}));
      }
      return cycles(trace_of(code), 32) / 8 / 50;
    };
    CHECK(each(2) > 3.9);
    CHECK(each(2) < 5);
    CHECK(each(4) > 5.4);
    CHECK(each(4) < 6.3);
  }

  TEST_CASE("model: loads that are issued together cost one latency") {
    const auto load = [](int to) { return instruction("LDG.E", to, {0}); };
    const auto use = [](int of) { return instruction("FADD", 7, {static_cast<uint16_t>(of)}); };
    const double latency = model::read_device_profile("h200").time.dram_latency * 1.98e9;
    const double one = cycles(trace_of({load(1), use(1)}));
    CHECK(cycles(trace_of({load(1), load(2), use(1), use(2)})) - one < 0.05 * latency);
    CHECK(cycles(trace_of({load(1), use(1), load(2), use(2)})) - one ==
          doctest::Approx(latency).epsilon(0.1));
  }

  TEST_CASE("model: instructions follow ptxas' scheduling where it is known") {
    // chain_choose and chain_wave: the result of a comparison is available after 13 cycles, that of
    // a sine after 17.
    const auto scheduled = [](const char* opcode, uint8_t stall, int8_t raises = -1,
                              uint8_t waits_for = 0) {
      model::ModelledInstruction in = instruction(opcode, 1, {1});
      in.scheduled = true;
      in.stall = stall;
      in.write_barrier = raises;
      in.waits_for = waits_for;
      return in;
    };
    const double one = cycles(trace_of({scheduled("ISETP", 13)}));
    CHECK(cycles(trace_of({scheduled("ISETP", 13), scheduled("ISETP", 13)})) - one == 13);
    CHECK(cycles(trace_of({scheduled("MUFU.SIN", 1, 2), scheduled("ISETP", 13, -1, 4)})) - one ==
          17);
    CHECK(cycles(trace_of({scheduled("MUFU.SIN", 1, 2), scheduled("ISETP", 13, -1, 2)})) - one < 3);
  }

  TEST_CASE("model: all warps wait at a barrier for the warp that takes a branch") {
    model::AverageWarpTrace trace = trace_of({instruction("MOV", 1, {0})});
    std::vector<model::ModelledInstruction> branch;
    for (int i = 0; i < 100; ++i) branch.push_back(instruction("FFMA", 1, {1}));
    trace.blocks.push_back({branch, 0.125, {}});
    const double without = cycles(trace, 8);
    trace.blocks.push_back({{instruction("BAR.SYNC", -1, {}), instruction("FADD", 2, {2})}, 1, {}});
    CHECK(without > 390);
    CHECK(cycles(trace, 8) > without);
    // One warp in eight takes that path.
    size_t takes = 0;
    for (uint64_t w = 0; w < 16; ++w) takes += model::path_of(trace, w, 1).size() == 3;
    CHECK(takes == 2);
  }

  TEST_CASE("model: in a block that leaves at once no warp continues, and in the others all do") {
    // A kernel whose blocks exit if they are above a diagonal: 8 instructions, or 208.
    model::AverageWarpTrace trace =
        trace_of(std::vector<model::ModelledInstruction>(8, instruction("MOV", 1, {0})));
    trace.blocks.push_back(
        {std::vector<model::ModelledInstruction>(200, instruction("FFMA", 1, {1})), 0.5, {}});
    model::SmWork work;
    work.blocks = 64;
    work.warps = 4;
    for (uint64_t b = 0; b < work.blocks; ++b)
      work.issued.insert(work.issued.end(), work.warps, b % 8 < 4 ? 208 : 8);
    const model::WarpPathChooser paths(trace, work);
    for (uint64_t b = 0; b < work.blocks; ++b) {
      CAPTURE(b);
      for (uint32_t w = 0; w < work.warps; ++w)
        CHECK(paths.estimated_path_of_warp(b, w).size() == (b % 8 < 4 ? 2 : 1));
    }
    // If all warps issued equally many instructions, half of the warps run it, in any place.
    work.issued.assign(work.issued.size(), 108);
    const model::WarpPathChooser alike(trace, work);
    size_t takes = 0;
    for (uint32_t w = 0; w < work.warps; ++w)
      takes += alike.estimated_path_of_warp(0, w).size() == 2;
    CHECK(takes == 2);
  }

  TEST_CASE(
      "model: loops run as often as counted, and longer in warps that issued more instructions") {
    model::AverageWarpTrace trace = trace_of({instruction("MOV", 1, {0})});
    trace.blocks.push_back({{instruction("FADD", 1, {1})}, 10, {1}});
    trace.blocks.push_back({{instruction("FADD", 1, {1})}, 5, {1}});
    trace.blocks.push_back({{instruction("EXIT", -1, {})}, 1, {}});
    CHECK(model::path_of(trace, 3, 1).size() == 1 + 10 + 5 + 1);
    CHECK(model::path_of(trace, 3, 2).size() == 1 + 20 + 10 + 1);
  }

  TEST_CASE("model: the multiprocessor with the longest blocks finishes last") {
    // Two multiprocessors; block 5 has ten times the work.
    const std::vector<uint64_t> work{10, 10, 10, 10, 10, 100, 10, 10};
    const std::vector<uint64_t> last = model::blocks_of_slowest_multiprocessor(2, 2, 8, 4, work);
    CHECK(std::count(last.begin(), last.end(), 5) == 1);
    CHECK(last.size() < 5);
    CHECK(model::blocks_of_slowest_multiprocessor(2, 2, 7, 4, {}) ==
          std::vector<uint64_t>{0, 2, 4, 6});
  }

  TEST_CASE("model: a block of machine code runs as often as its PTX instructions") {
    // Body indices 0 to 3: an instruction at the kernel's beginning, a load of an unrolled loop,
    // its counter, and a load that few warps execute.
    const std::vector<uint64_t> times{100, 4000, 4000, 10};
    sass::EmittedSassBlock loop;
    loop.in_loop = true;
    loop.origins = {{1, 0.25, true}, {2, 1, false}};
    CHECK(sass::expected_runs(loop, times) == 1000);
    // Every warp that reaches the barrier next to it issues a guarded load.
    sass::EmittedSassBlock guarded;
    guarded.origins = {{3, 1, true}, {0, 1, true}};
    CHECK(sass::expected_runs(guarded, times) == 100);
    // Code outside of loops runs once per warp, even if it prepares a loop.
    sass::EmittedSassBlock before;
    before.origins = {{2, 0.5, false}};
    CHECK(sass::expected_runs(before, times) == 100);
    sass::EmittedSassBlock entry;
    entry.entry = true;
    CHECK(sass::expected_runs(entry, times) == 100);
  }

  TEST_CASE("model: each opcode has the right pipeline") {
    CHECK(model::issue_slots_of_opcode("LDS.128").memory == 1);
    CHECK(model::issue_slots_of_opcode("FFMA.FTZ").fp32 == 1);
    CHECK(model::issue_slots_of_opcode("IMAD.MOV.U32").multiply == 1);
    CHECK(model::issue_slots_of_opcode("VIADD").multiply == 1);
    CHECK(model::issue_slots_of_opcode("MUFU.EX2").special == 1);
    CHECK(model::issue_slots_of_opcode("LOP3.LUT").alu == 1);
    CHECK(model::issue_slots_of_opcode("UIADD3").alu == 0);
    CHECK(model::issue_slots_of_opcode("BRA").all == 1);
  }

  TEST_CASE("model: the first warps of neighbouring blocks go to different schedulers") {
    // data/measured/model/h200-atomics.csv, `place`: of eight blocks of eight warps, two begin at
    // each scheduler.
    std::vector<model::ModelledInstruction> body;
    for (int i = 0; i < 8; ++i) body.push_back(instruction("FFMA", i, {static_cast<uint16_t>(i)}));
    model::AverageWarpTrace trace = trace_of(body);
    trace.blocks[0].loops = {0};
    constexpr uint32_t kLong = 4000, kShort = 8;
    trace.blocks[0].runs = (kLong + 7.0 * kShort) / 8 / 8;
    model::SmWork work;
    work.blocks = 8 * 132;
    work.warps = 8;
    work.resident = 8;
    for (uint64_t w = 0; w < work.blocks * 8; ++w)
      work.issued.push_back(w % 8 == 0 ? kLong : kShort);
    const double cycles =
        model::run_multiprocessor(model::read_device_profile("h200"), trace, work).cycles;
    CHECK(cycles > 2 * kLong);
    CHECK(cycles < 3 * kLong);
  }
}
