// Registers that share a slot are never live together: checked by walking paths as one lane does
// and recording for which register each slot was last written.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/register_uses.h"
#include "tests/fixtures/ptx_support.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

class PathWalker {
 public:
  explicit PathWalker(const ptx::Function& function)
      : f_(function),
        slots_(ptx::assign_register_slots(function, ptx::analyse_control_flow(function))),
        zeroed_(function.registers.size(), 0) {
    for (int reg : slots_.live_into_entry) zeroed_[static_cast<size_t>(reg)] = 1;
  }

  // Every path of at most `steps` instructions that decides up to `decisions` guards freely.
  // Returns false at the first error, which problem() describes.
  bool all_paths(int steps, int decisions) {
    State state = start();
    return walk(0, state, steps, decisions);
  }

  // One path with random guards.
  bool random_path(int steps, std::mt19937& random) {
    State state = start();
    size_t at = 0;
    for (int step = 0; step < steps && at < f_.body.size(); ++step) {
      const bool executed = f_.body[at].guard < 0 || random() % 2;
      if (!execute(at, executed, state)) return false;
      const std::vector<size_t> next = next_of(at, executed);
      if (next.empty()) return true;
      at = next[random() % next.size()];
    }
    return true;
  }

  const std::string& problem() const { return problem_; }
  const ptx::RegisterSlotAssignment& slots() const { return slots_; }

 private:
  struct State {
    std::vector<int> owner;     // by slot; -1: not written since entry
    std::vector<char> written;  // by register
  };

  State start() const {
    return {std::vector<int>(slots_.slot_bits.size(), -1),
            std::vector<char>(f_.registers.size(), 0)};
  }

  std::vector<size_t> next_of(size_t at, bool executed) const {
    const ptx::Instruction& in = f_.body[at];
    if (executed) {
      switch (in.op->id) {
        case ptx::OpId::ret:
        case ptx::OpId::exit:
        case ptx::OpId::trap:
          return {};
        case ptx::OpId::bra:
          return {static_cast<size_t>(in.operands[0].value)};
        case ptx::OpId::brx: {
          const auto& table = f_.branch_tables[static_cast<size_t>(in.branch_table)];
          return std::vector<size_t>(table.begin(), table.end());
        }
        default:
          break;
      }
    }
    return {at + 1};
  }

  bool execute(size_t at, bool executed, State& state) {
    const ptx::Instruction& in = f_.body[at];
    std::vector<int> sources, destinations;
    ptx::for_each_register(f_, in, [&](int reg, bool is_destination) {
      (is_destination ? destinations : sources).push_back(reg);
    });
    for (int reg : sources) {
      const auto r = static_cast<size_t>(reg);
      const int owner = state.owner[slot(reg)];
      if (state.written[r] ? owner != reg : owner != -1 || !zeroed_[r]) {
        return fail(at, reg, "is read, but its slot holds another's value");
      }
    }
    for (size_t d = 0; d < destinations.size(); ++d) {
      for (int source : sources) {
        if (source != destinations[d] && slot(source) == slot(destinations[d])) {
          return fail(at, destinations[d], "shares a slot with a source");
        }
      }
      for (size_t e = 0; e < d; ++e) {
        if (slot(destinations[e]) == slot(destinations[d])) {
          return fail(at, destinations[d], "shares a slot with another destination");
        }
      }
      if (!executed) continue;
      state.owner[slot(destinations[d])] = destinations[d];
      state.written[static_cast<size_t>(destinations[d])] = 1;
    }
    return true;
  }

  bool walk(size_t at, State& state, int steps, int decisions) {
    for (; steps > 0 && at < f_.body.size(); --steps) {
      const bool guarded = f_.body[at].guard >= 0;
      if (guarded && decisions > 0) {
        --decisions;
        State other = state;
        if (!execute(at, false, other) || !walk(at + 1, other, steps - 1, decisions)) return false;
      }
      if (!execute(at, true, state)) return false;
      const std::vector<size_t> next = next_of(at, true);
      if (next.empty()) return true;
      for (size_t i = 1; i < next.size() && decisions > 0; ++i) {
        State other = state;
        if (!walk(next[i], other, steps - 1, decisions - 1)) return false;
      }
      at = next[0];
    }
    return true;
  }

  bool fail(size_t at, int reg, const char* what) {
    problem_ = "instruction " + std::to_string(at) + ": " +
               f_.registers[static_cast<size_t>(reg)].name + " " + what;
    return false;
  }

  size_t slot(int reg) const {
    return static_cast<size_t>(slots_.slot_of_register[static_cast<size_t>(reg)]);
  }

  const ptx::Function& f_;
  const ptx::RegisterSlotAssignment slots_;
  std::vector<char> zeroed_;
  std::string problem_;
};

void check_widths(const ptx::Function& f, const ptx::RegisterSlotAssignment& slots) {
  for (size_t reg = 0; reg < f.registers.size(); ++reg) {
    const int slot = slots.slot_of_register[reg];
    REQUIRE(slot >= 0);
    CHECK(slots.slot_bits[static_cast<size_t>(slot)] == f.registers[reg].bits);
  }
}

int slot_of(const ptx::Function& f, const ptx::RegisterSlotAssignment& slots, const char* name) {
  for (size_t reg = 0; reg < f.registers.size(); ++reg) {
    if (f.registers[reg].name == name) return slots.slot_of_register[reg];
  }
  FAIL("no register " << name);
  return -1;
}

ptx::RegisterSlotAssignment slots_of(const ptx::Function& f) {
  return ptx::assign_register_slots(f, ptx::analyse_control_flow(f));
}

}  // namespace

TEST_CASE("ptx: slots: values that follow each other share one") {
  const auto m = parse_kernel(
      "mov.u32 %r1, 1;\n add.s32 %r2, %r1, 1;\n add.s32 %r3, %r2, 1;\n add.s32 %r4, %r3, 1;\n");
  const auto slots = slots_of(kernel(m));
  CHECK(slots.slot_bits == std::vector<uint16_t>{32, 32});
  CHECK(slots.live_into_entry.empty());
}

TEST_CASE("ptx: slots: a destination never has a source's slot, vectors included") {
  const auto m = parse_kernel(
      "mov.u64 %rd1, 4096;\n ld.global.v2.u64 {%rd2, %rd3}, [%rd1];\n"
      "mov.b64 {%r1, %r2}, %rd2;\n mov.b64 %rd4, {%r1, %r2};\n");
  const ptx::Function& f = kernel(m);
  const auto slots = slots_of(f);
  const int s1 = slot_of(f, slots, "%rd1"), s2 = slot_of(f, slots, "%rd2"),
            s3 = slot_of(f, slots, "%rd3");
  CHECK(s1 != s2);
  CHECK(s1 != s3);
  CHECK(s2 != s3);
  CHECK(slot_of(f, slots, "%r1") != slot_of(f, slots, "%r2"));
}

TEST_CASE("ptx: slots: a register that is live around a loop keeps its slot") {
  const auto m = parse_kernel(
      "mov.u32 %r1, 0;\n mov.u32 %r2, 0;\n"
      "L: add.s32 %r3, %r2, 1;\n mov.u32 %r4, %r3;\n mov.u32 %r2, %r4;\n"
      "setp.lt.s32 %p1, %r2, 9;\n @%p1 bra L;\n st.global.u32 [4096], %r1;\n ret;");
  const ptx::Function& f = kernel(m);
  const auto slots = slots_of(f);
  for (const char* other : {"%r2", "%r3", "%r4"}) {
    CHECK(slot_of(f, slots, "%r1") != slot_of(f, slots, other));
  }
}

TEST_CASE("ptx: slots: a guarded write does not end the life of the value it may replace") {
  const auto m = parse_kernel(
      "mov.u32 %r1, 1;\n setp.eq.s32 %p1, %r1, 1;\n"
      "@%p1 mov.u32 %r2, 5;\n @!%p1 mov.u32 %r2, 6;\n mov.u32 %r3, 7;\n"
      "add.s32 %r4, %r2, %r3;\n");
  const ptx::Function& f = kernel(m);
  const auto slots = slots_of(f);
  // As far as single instructions tell, %r2 may be read before it is written. It is therefore
  // zeroed at the entry, and no register that is written before may share its slot.
  REQUIRE(slots.live_into_entry.size() == 1);
  CHECK(f.registers[static_cast<size_t>(slots.live_into_entry[0])].name == "%r2");
  CHECK(slot_of(f, slots, "%r1") != slot_of(f, slots, "%r2"));
}

TEST_CASE("ptx: slots: a value that only one path writes is live into the entry") {
  const auto m = parse_kernel(
      "setp.eq.s32 %p1, 1, 2;\n @%p1 bra L;\n mov.u32 %r1, 3;\n"
      "L: st.global.u32 [4096], %r1;\n");
  const ptx::Function& f = kernel(m);
  const auto slots = slots_of(f);
  REQUIRE(slots.live_into_entry.size() == 1);
  CHECK(f.registers[static_cast<size_t>(slots.live_into_entry[0])].name == "%r1");
}

TEST_CASE("ptx: slots: an empty body has no slots") {
  const auto m = parse_kernel("");
  CHECK(slots_of(kernel(m)).slot_bits.empty());
}

TEST_CASE("ptx: slots: no path of a random program reads another register's value" * kSlow) {
  std::mt19937 random(32);
  const auto pick = [&](unsigned n) { return std::to_string(random() % n); };
  size_t registers = 0, slots = 0;
  for (int round = 0; round < 400; ++round) {
    const unsigned size = 3 + random() % 25;
    std::string body;
    for (unsigned i = 0; i < size; ++i) {
      body += "L" + std::to_string(i) + ": ";
      if (random() % 4 == 0) body += random() % 2 ? "@%p1 " : "@!%p2 ";
      switch (random() % 9) {
        case 0:
          body += "bra L" + pick(size) + ";\n";
          break;
        case 1:
          body += "setp.eq.s32 %p" + pick(3) + "|%p" + std::to_string(3 + random() % 2) + ", %r" +
                  pick(12) + ", 1;\n";
          break;
        case 2:
          body += "mov.b64 {%r" + pick(6) + ", %r" + std::to_string(6 + random() % 6) + "}, %rd" +
                  pick(3) + ";\n";
          break;
        case 3:
          body += "mov.b64 %rd" + pick(3) + ", {%r" + pick(12) + ", %r" + pick(12) + "};\n";
          break;
        case 4:
          body += "mov.u32 %r" + pick(12) + ", 5;\n";
          break;
        default:
          body += "add.s32 %r" + pick(12) + ", %r" + pick(12) + ", %r" + pick(12) + ";\n";
      }
    }
    CAPTURE(body);
    const auto m = parse_kernel(body);
    const ptx::Function& f = kernel(m);
    PathWalker walker(f);
    check_widths(f, walker.slots());
    REQUIRE_MESSAGE(walker.all_paths(40, 7), walker.problem());
    for (int i = 0; i < 20; ++i) REQUIRE_MESSAGE(walker.random_path(200, random), walker.problem());
    registers += f.registers.size();
    slots += walker.slots().slot_bits.size();
  }
  CHECK(slots < registers);
}

TEST_CASE("ptx: slots: no path of a compiled program reads another register's value" * kSlow) {
  std::mt19937 random(32);
  for (const CompiledPtx& compiled : compiled_ptx()) {
    CAPTURE(compiled.name);
    const ptx::Module module = ptx::parse(compiled.text);
    size_t registers = 0, slots = 0;
    for (const ptx::Function& f : module.functions) {
      CAPTURE(f.name);
      PathWalker walker(f);
      check_widths(f, walker.slots());
      for (int i = 0; i < 20; ++i) {
        REQUIRE_MESSAGE(walker.random_path(3000, random), walker.problem());
      }
      registers += f.registers.size();
      slots += walker.slots().slot_bits.size();
    }
    CHECK(slots * 2 < registers);
  }
}
