// What the time model knows of a kernel before any clock: its chains, and how often its machine
// code is issued.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "simulator/model/dependences.h"
#include "simulator/model/machine_issue.h"
#include "simulator/ptx/parser.h"
#include "simulator/sass/emitted.h"

using namespace lab32;

namespace {

ptx::Module kernel(const std::string& body) {
  return ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p) {\n"
      ".reg .b64 %rd<4>;\n.reg .b32 %r<8>;\n.reg .pred %p<2>;\n"
      ".shared .align 4 .b8 words[1024];\n"
      "mov.u32 %r7, words;\nld.param.u64 %rd1, [p];\n" +
      body + "ret;\n}\n");
}

// Of one warp that runs every instruction once.
model::Chain chain(const std::string& body) {
  const ptx::Module module = kernel(body);
  const ptx::Function& f = module.functions[0];
  const std::vector<uint64_t> times(f.body.size(), 1);
  return model::longest_chains(f, ptx::analyse_control_flow(f), times, 1);
}

const char* const kLoad = "ld.global.u32 %r1, [%rd1];\n";
const char* const kNextLoad = "ld.global.u32 %r2, [%rd1+4];\n";

}  // namespace

TEST_SUITE("model: work") {
  TEST_CASE("model: loads pass stores to another memory, but no atomic and no barrier") {
    const auto rounds = [](const std::string& between) {
      return chain(std::string(kLoad) + between + kNextLoad).global_rounds;
    };
    CHECK(rounds("") == 1);
    CHECK(rounds("st.shared.u32 [%r7], %r1;\n") == 1);
    CHECK(rounds("st.global.u32 [%rd1+8], %r1;\n") == 2);
    CHECK(rounds("atom.shared.add.u32 %r3, [%r7], %r1;\n") == 2);
    CHECK(rounds("st.shared.u32 [%r7], %r1;\nbar.sync 0;\n") == 2);
    // What the kernel cannot change may be fetched at any time.
    CHECK(chain(std::string(kLoad) + "st.global.u32 [%rd1+8], %r1;\n" +
                "ld.global.nc.u32 %r2, [%rd1+4];\n")
              .global_rounds == 1);
  }

  TEST_CASE("model: before a barrier, all wait for the warps that take a branch") {
    const auto rounds = [](const std::string& behind) {
      const ptx::Module module = kernel(
          "setp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;\nld.global.u32 %r1, [%rd1];\n"
          "st.shared.u32 [%r7], %r1;\nL:\n" +
          behind);
      const ptx::Function& f = module.functions[0];
      std::vector<uint64_t> times;
      bool inside = false;
      for (const ptx::Instruction& in : f.body) {
        inside = inside && in.op->id != ptx::OpId::bar_sync && in.op->id != ptx::OpId::ret;
        times.push_back(inside ? 1 : 8);
        inside |= in.op->id == ptx::OpId::bra;
      }
      return model::longest_chains(f, ptx::analyse_control_flow(f), times, 8).global_rounds;
    };
    CHECK(rounds("") == 1);
    CHECK(rounds("bar.sync 0;\n") == 8);
  }

  TEST_CASE("model: a block of machine code runs as often as its PTX says") {
    // Body indices 0 to 3: an instruction at the kernel's beginning, a load of an unrolled loop,
    // its counter, a load that few warps make.
    const std::vector<uint64_t> times{100, 4000, 4000, 10};
    sass::EmittedBlock loop;
    loop.in_loop = true;
    loop.origins = {{1, 0.25, true}, {2, 1, false}};
    CHECK(sass::runs(loop, times) == 1000);
    // A guarded load is issued by every warp that comes to the barrier beside it.
    sass::EmittedBlock guarded;
    guarded.origins = {{3, 1, true}, {0, 1, true}};
    CHECK(sass::runs(guarded, times) == 100);
    // What stands outside of loops runs once per warp, even if it prepares a loop.
    sass::EmittedBlock before;
    before.origins = {{2, 0.5, false}};
    CHECK(sass::runs(before, times) == 100);
    sass::EmittedBlock entry;
    entry.entry = true;
    CHECK(sass::runs(entry, times) == 100);
  }

  TEST_CASE("model: pipelines by opcode") {
    CHECK(model::machine_issue("LDS.128").memory == 1);
    CHECK(model::machine_issue("FFMA.FTZ").fp32 == 1);
    CHECK(model::machine_issue("IMAD.MOV.U32").multiply == 1);
    CHECK(model::machine_issue("MUFU.EX2").special == 1);
    CHECK(model::machine_issue("LOP3.LUT").alu == 1);
    CHECK(model::machine_issue("UIADD3").alu == 0);
    CHECK(model::machine_issue("BRA").all == 1);
  }
}
