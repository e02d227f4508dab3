// Random programs of nested branches, loops, switches, calls and early exits run twice: with 32
// lanes in one warp, and with 32 blocks of one thread, where nothing can diverge. The results and
// the number of executed lane instructions must agree.
#include <doctest/doctest.h>

#include <random>
#include <utility>
#include <vector>

#include "tests/fixtures/sim_kit.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// %r1 is the thread's state and %r3 a hash of its path. Each nesting level has its own loop counter
// (%r20 …). %p1 and %r10 are scratch.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::string statements(int depth) {
    std::string text;
    for (uint32_t n = 1 + random_() % 3; n > 0; --n) text += statement(depth);
    return text;
  }
  bool leaves() const { return leaves_; }
  void inside_function(int levels) { function_ = true, level_ = levels; }

 private:
  std::string number(uint32_t below) { return std::to_string(random_() % below); }
  std::string label() { return "L" + std::to_string(labels_++) + (function_ ? "f" : ""); }
  std::string step() {
    return "  mad.lo.u32 %r1, %r1, 1664525, " + number(1u << 30) +
           ";\n  mad.lo.u32 %r3, %r3, 31, " + number(1000) + ";\n";
  }
  // %p1: one random bit of the state.
  std::string toss() {
    return "  bfe.u32 %r10, %r1, " + std::to_string(8 + random_() % 20) +
           ", 1;\n  setp.ne.u32 %p1, %r10, 0;\n";
  }
  // %p1 in one case of sixteen.
  std::string rare() {
    return "  bfe.u32 %r10, %r1, " + std::to_string(8 + random_() % 20) +
           ", 4;\n  setp.eq.u32 %p1, %r10, 3;\n";
  }

  std::string statement(int depth) {
    if (depth == 0) return step();
    if (!loops_.empty() && random_() % 4 == 0) return leave_round();
    switch (random_() % 9) {
      case 0:
        return step() + toss() + "  @%p1 xor.b32 %r1, %r1, %r3;\n";
      case 1: {
        const std::string end = label();
        return step() + toss() + "  @%p1 bra " + end + ";\n" + statements(depth - 1) + end + ":\n";
      }
      case 2:
      case 3: {
        const std::string other = label(), end = label();
        return step() + toss() + "  @!%p1 bra " + other + ";\n" + statements(depth - 1) +
               "  bra.uni " + end + ";\n" + other + ":\n" + statements(depth - 1) + end + ":\n";
      }
      case 4:
      case 5:
        return loop(depth);
      case 6:
        return choice(depth);
      case 7:
        if (function_) return step() + rare() + "  @%p1 bra.uni LEAVE;\n" + step();
        return step() + "  { .param .b32 a; .param .b32 b;\n  st.param.b32 [a], %r1;\n" + toss() +
               (random_() % 2 ? "  @%p1 " : "  ") +
               "call (b), work, (a);\n  ld.param.u32 %r1, [b]; }\n";
      default:
        if (function_ || random_() % 3 != 0) return step();
        leaves_ = true;
        return step() + rare() + "  @%p1 st.global.u32 [%dst], %r3;\n  @%p1 " +
               (random_() % 2 ? "ret;\n" : "exit;\n");
    }
  }

  // break or continue of any enclosing loop, from any depth.
  std::string leave_round() {
    const auto& [next, out] = loops_[random_() % loops_.size()];
    return step() + rare() + "  @%p1 bra " + (random_() % 2 ? out : next) + ";\n" + step();
  }

  std::string loop(int depth) {
    const std::string counter = "%r" + std::to_string(20 + level_++);
    const std::string head = label(), next = label(), out = label();
    loops_.push_back({next, out});
    std::string text =
        step() + "  and.b32 " + counter + ", %r1, 7;\n" + head + ":\n" + statements(depth - 1);
    if (random_() % 2) text += toss() + "  @%p1 bra " + next + ";\n" + step();
    if (random_() % 2) text += rare() + "  @%p1 bra " + out + ";\n" + statements(depth - 1);
    loops_.pop_back();
    text += next + ":\n  sub.u32 " + counter + ", " + counter + ", 1;\n  setp.gt.s32 %p1, " +
            counter + ", 0;\n  @%p1 bra " + head + ";\n" + out + ":\n";
    --level_;
    return text;
  }

  std::string choice(int depth) {
    const std::string table = label(), end = label();
    std::string cases[3] = {label(), label(), label()};
    std::string text = step() + "  bfe.u32 %r10, %r1, 13, 2;\n  brx.idx %r10, " + table + ";\n" +
                       table + ": .branchtargets " + cases[0] + ", " + cases[1] + ", " + cases[2] +
                       ", " + (random_() % 2 ? end : cases[0]) + ";\n";
    for (const std::string& c : cases)
      text += c + ":\n" + statements(depth - 1) + (random_() % 3 ? "  bra.uni " + end + ";\n" : "");
    return text + end + ":\n";
  }

  std::mt19937 random_;
  int labels_ = 0, level_ = 0;
  std::vector<std::pair<std::string, std::string>>
      loops_;  // labels of the enclosing loops: next iteration, and exit
  bool function_ = false, leaves_ = false;
};

// Parameters are read and results written, so that a call changes what follows.
std::string function_text(uint32_t seed) {
  Generator body(seed);
  body.inside_function(10);
  return R"(
.func (.param .b32 result) work(.param .b32 argument)
{
  .reg .pred %p<2>; .reg .b32 %r<40>;
  ld.param.u32 %r1, [argument];
  mov.u32 %r3, 1;
)" + body.statements(2) +
         R"(
LEAVE:
  xor.b32 %r1, %r1, %r3;
  st.param.b32 [result], %r1;
  ret;
}
)";
}

// Basic blocks that jump to random other blocks, even into loops, until the thread's budget is
// spent.
std::string jumps(uint32_t seed) {
  std::mt19937 random(seed);
  const uint32_t blocks = 3 + random() % 10;
  const auto any = [&] { return "B" + std::to_string(random() % blocks); };
  std::string text;
  for (uint32_t b = 0; b < blocks; ++b) {
    text += "B" + std::to_string(b) + ":\n  mad.lo.u32 %r1, %r1, 1664525, " +
            std::to_string(random() % 9999) +
            ";\n  sub.u32 %r4, %r4, 1;\n  setp.eq.u32 %p2, %r4, 0;\n  @%p2 bra END;\n";
    for (uint32_t ways = random() % 3; ways > 0; --ways)
      text += "  bfe.u32 %r10, %r1, " + std::to_string(8 + random() % 20) +
              ", 1;\n  setp.ne.u32 %p1, %r10, 0;\n  @%p1 bra " + any() + ";\n";
    if (random() % 8 == 0) {
      const std::string table = "T" + std::to_string(b);
      text += "  bfe.u32 %r10, %r1, 13, 1;\n  brx.idx %r10, " + table + ";\n" + table +
              ": .branchtargets " + any() + ", " + any() + ";\n";
    }
    if (random() % 3 == 0) text += "  bra.uni " + any() + ";\n";
  }
  return text + "  bra.uni B0;\n";
}

}  // namespace

TEST_CASE("core: random flow: random jumps give the results of single threads") {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const std::string body =
        "  mul.lo.u32 %r1, %g, 2654435761;\n  bfe.u32 %r4, %r1, 9, 6;\n  add.u32 %r4, %r4, 1;\n" +
        jumps(seed) + "END:\n  mov.u32 %r3, %r1;  //@end\n  st.global.u32 [%dst], %r3;";
    Setup alone;
    alone.grid = {32, 1, 1};
    alone.block = {1, 1, 1};
    const LaunchOutcome together = tests::finish(body, {}), apart = tests::finish(body, alone);
    CHECK(together.out == apart.out);
    CHECK(together.counters.lane_instructions == apart.counters.lane_instructions);
    CHECK(together.at("end") == LaunchOutcome::Count{1, 32});
  }
}

TEST_CASE("core: random flow: a warp gives the results of its threads run alone" * kSlow) {
  int with_exits = 0, diverged = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Generator generator(seed);
    const std::string body = "  mul.lo.u32 %r1, %g, 2654435761;\n  mov.u32 %r3, 0;\n" +
                             generator.statements(4) +
                             "  xor.b32 %r1, %r1, %r3;  //@end\n  st.global.u32 [%dst], %r1;";
    Setup warp;
    warp.functions = function_text(seed + 1000);
    Setup alone = warp;
    alone.grid = {32, 1, 1};
    alone.block = {1, 1, 1};
    const LaunchOutcome together = tests::finish(body, warp), apart = tests::finish(body, alone);
    CHECK(together.out == apart.out);
    CHECK(together.counters.lane_instructions == apart.counters.lane_instructions);
    CHECK(together.counters.warp_instructions <= apart.counters.warp_instructions);
    // All lanes that reach the end reach it together.
    CHECK(together.at("end").warps <= 1);
    if (!generator.leaves()) CHECK(together.at("end") == LaunchOutcome::Count{1, 32});
    with_exits += generator.leaves();
    diverged += together.counters.warp_instructions * 32 > together.counters.lane_instructions;
  }
  // The programs do enough work for the test.
  CHECK(with_exits > 40);
  CHECK(diverged > 200);
}
