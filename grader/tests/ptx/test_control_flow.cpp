// Where diverged lanes reconverge: for the shapes of loops and branches, and by the definition of a
// post-dominator for random graphs.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/ptx_support.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// Marks a position: `at(f, 7)` is the instruction that M(7) made.
std::string M(int mark) { return "mov.u32 %r50, " + std::to_string(mark) + ";\n"; }

uint32_t at(const ptx::Function& f, int mark) {
  for (size_t i = 0; i < f.body.size(); ++i) {
    const ptx::Instruction& in = f.body[i];
    if (in.op->id == ptx::OpId::mov && in.operands[1].kind == ptx::Operand::Kind::integer &&
        in.operands[1].value == mark) {
      return static_cast<uint32_t>(i);
    }
  }
  FAIL("no mark " << mark);
  return 0;
}

// Where the lanes reconverge that the n-th branch (bra or brx, from 0) splits.
uint32_t reconvergence(const ptx::Function& f, int branch) {
  const ptx::ControlFlow flow = ptx::analyse_control_flow(f);
  for (size_t i = 0; i < f.body.size(); ++i) {
    const bool is_branch = f.body[i].op->id == ptx::OpId::bra || f.body[i].op->id == ptx::OpId::brx;
    if (is_branch && branch-- == 0) return flow.reconvergence_instruction(static_cast<int>(i));
  }
  FAIL("too few branches");
  return 0;
}

}  // namespace

TEST_CASE("ptx: reconvergence: the lanes of an if reconverge behind it") {
  const auto m = parse_kernel("@%p1 bra L;\n" + M(1) + "L: " + M(2) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 2));
}

TEST_CASE("ptx: reconvergence: the lanes of if and else reconverge behind both") {
  const auto m =
      parse_kernel("@%p1 bra E;\n" + M(1) + "bra.uni J;\nE: " + M(2) + "J: " + M(3) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 3));
}

TEST_CASE("ptx: reconvergence: the lanes of a loop reconverge behind it") {
  const auto m = parse_kernel("L: " + M(1) + "@%p1 bra L;\n" + M(2) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 2));
}

TEST_CASE("ptx: reconvergence: break and continue in nested loops reconverge in the right loop") {
  const auto m = parse_kernel("outer: " + M(1) +
                              "inner: @%p1 bra inner_end;\n"  // 0: break of the inner loop
                              "@%p2 bra inner;\n" +           // 1: continue of the inner loop
                              M(2) +
                              "@%p3 bra done;\n"  // 2: break of both
                              "bra.uni inner;\n"
                              "inner_end: " +
                              M(3) +
                              "@%p4 bra outer;\n"  // 4
                              "done: " +
                              M(4) + "ret;");
  const ptx::Function& f = kernel(m);
  // Lanes that leave only the inner loop reconverge in the outer one, and lanes that stay in it at
  // its next iteration.
  CHECK(reconvergence(f, 0) == at(f, 3));
  CHECK(reconvergence(f, 1) == at(f, 1) + 1);
  CHECK(reconvergence(f, 2) == at(f, 4));
  CHECK(reconvergence(f, 4) == at(f, 4));
}

TEST_CASE(
    "ptx: reconvergence: after a break inside an if the other lanes reconverge behind the if") {
  const auto m = parse_kernel("L: " + M(1) + "@%p1 bra B;\n" + M(2) + "@%p2 bra E;\nB: " + M(3) +
                              "@%p3 bra L;\nE: " + M(4) + "ret;");
  const ptx::Function& f = kernel(m);
  CHECK(reconvergence(f, 0) == at(f, 3));
  CHECK(reconvergence(f, 1) == at(f, 4));
  // Lanes that stay in the loop do not wait for lanes that have left it.
  const ptx::ControlFlow flow = ptx::analyse_control_flow(f);
  const auto come = [&](int mark, int to) {
    for (const ptx::ReconvergencePoint& m : flow.reconvergence_points)
      if (m.block == flow.block_of[at(f, to)])
        return m.from[static_cast<size_t>(flow.block_of[at(f, mark)])] != 0;
    return false;
  };
  CHECK(come(1, 3));
  CHECK(come(2, 3));
  CHECK(!come(4, 3));
  CHECK(come(3, 4));
}

TEST_CASE("ptx: reconvergence: lanes reconverge at a point that some avoid by a return or a jump") {
  // if (p1) { …; if (p2) return; } x
  const auto left = parse_kernel("@!%p1 bra X;\n" + M(1) + "@%p2 bra R;\nX: " + M(2) + "R: ret;");
  CHECK(reconvergence(kernel(left), 0) == at(kernel(left), 2));
  // if (p1 || p2) { x } y
  const auto either =
      parse_kernel("@%p1 bra X;\n" + M(1) + "@!%p2 bra Y;\nX: " + M(2) + "Y: " + M(3) + "ret;");
  CHECK(reconvergence(kernel(either), 0) == at(kernel(either), 2));
  CHECK(reconvergence(kernel(either), 1) == at(kernel(either), 3));
  // if (p1) { if (p2) goto y; if (p3) goto z; } x; y; z: lanes that do not jump equally far
  const auto torn = parse_kernel("@!%p1 bra X;\n" + M(1) + "@%p2 bra Y;\n@%p3 bra Z;\nX: " + M(2) +
                                 "Y: " + M(3) + "Z: " + M(4) + "ret;");
  CHECK(reconvergence(kernel(torn), 0) == at(kernel(torn), 3));
}

TEST_CASE("ptx: reconvergence: lanes that leave one loop or two reconverge behind the inner one") {
  const auto m = parse_kernel("O: " + M(1) + "I: @%p1 bra B;\n" + M(2) +
                              "@%p2 bra N;\n@%p3 bra D;\nB: " + M(3) + "@%p4 bra I;\nN: " + M(4) +
                              "@%p5 bra O;\nD: " + M(5) + "ret;");
  const ptx::Function& f = kernel(m);
  CHECK(reconvergence(f, 0) == at(f, 4));
  CHECK(reconvergence(f, 1) == at(f, 4));
  CHECK(reconvergence(f, 2) == at(f, 5));
  const auto one =
      parse_kernel("O: " + M(1) + "I: @%p1 bra B;\n" + M(2) + "@%p3 bra D;\nB: " + M(3) +
                   "@%p4 bra I;\nN: " + M(4) + "@%p5 bra O;\nD: " + M(5) + "ret;");
  CHECK(reconvergence(kernel(one), 0) == at(kernel(one), 3));
}

TEST_CASE(
    "ptx: reconvergence: a continue with an edge of its own reconverges in a later iteration") {
  const auto m =
      parse_kernel("L: " + M(1) + "@%p1 bra L;\n" + M(2) + "@%p2 bra L;\n" + M(3) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 2));
  const auto twice =
      parse_kernel("L: " + M(1) + "@%p1 bra A;\n" + M(2) + "@%p2 bra E;\nbra L;\nA: " + M(3) +
                   "@%p3 bra E;\nbra L;\nE: ret;");
  // only the next iteration is certain
  CHECK(reconvergence(kernel(twice), 0) == at(kernel(twice), 1));
}

TEST_CASE("ptx: reconvergence: an inner loop with one exit reconverges at the exit") {
  const auto m =
      parse_kernel("outer: " + M(1) + "inner: " + M(2) + "@%p1 bra next;\n" + M(3) +
                   "next: @%p2 bra inner;\n" + M(4) + "@%p3 bra outer;\n" + M(5) + "ret;");
  const ptx::Function& f = kernel(m);
  CHECK(reconvergence(f, 0) == at(f, 3) + 1);
  CHECK(reconvergence(f, 1) == at(f, 4));
  CHECK(reconvergence(f, 2) == at(f, 5));
}

TEST_CASE("ptx: reconvergence: an early return by branch reconverges at the shared ret") {
  const auto m =
      parse_kernel("@%p1 bra R;\n" + M(1) + "@%p2 bra S;\n" + M(2) + "S: " + M(3) + "R: ret;");
  const ptx::Function& f = kernel(m);
  CHECK(reconvergence(f, 0) == f.body.size() - 1);
  CHECK(reconvergence(f, 1) == at(f, 3));
}

TEST_CASE("ptx: reconvergence: paths that return separately never reconverge") {
  const auto m = parse_kernel("@%p1 bra L;\n" + M(1) + "ret;\nL: " + M(2) + "exit;");
  CHECK(reconvergence(kernel(m), 0) == ptx::kNoReconverge);
}

TEST_CASE("ptx: reconvergence: the end of the body is a return") {
  const auto m = parse_kernel("@%p1 bra L;\n" + M(1) + "bra E;\nL: " + M(2) + "E:");
  CHECK(reconvergence(kernel(m), 0) == ptx::kNoReconverge);
  // A branch to it is a guarded return, so there is nothing to wait for.
  const auto guarded = parse_kernel("@%p1 bra E;\n" + M(1) + "E:");
  CHECK(reconvergence(kernel(guarded), 0) == ptx::kNoReconverge);
}

TEST_CASE("ptx: reconvergence: a guarded return does not prevent reconvergence") {
  const auto m = parse_kernel("@%p1 bra L;\n" + M(1) + "@%p2 ret;\nL: " + M(2) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 2));
}

TEST_CASE("ptx: reconvergence: a guarded return may be the only exit of a loop") {
  const auto m = parse_kernel("T: @%p1 bra L;\n" + M(1) + "L: " + M(2) + "@%p2 ret;\n bra T;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 2));
}

TEST_CASE("ptx: reconvergence: no lane waits for a trap") {
  const auto m = parse_kernel("@%p1 bra L;\n" + M(1) + "bra J;\nL: trap;\nJ: " + M(2) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 1));
  const auto two = parse_kernel("@%p1 bra A;\n@%p2 bra L;\nA: " + M(1) + "ret;\nL: trap;");
  CHECK(reconvergence(kernel(two), 0) == at(kernel(two), 1));
  CHECK(reconvergence(kernel(two), 1) == at(kernel(two), 1));
}

TEST_CASE("ptx: reconvergence: infinite loops are handled") {
  const auto m = parse_kernel("@%p1 bra L;\n" + M(1) + "ret;\nL: " + M(2) + "@%p2 bra L;\nbra L;");
  const ptx::Function& f = kernel(m);
  CHECK(reconvergence(f, 0) == at(f, 1));  // lanes that have left the loop need not wait
  CHECK(reconvergence(f, 1) == at(f, 2));  // the next iteration
}

TEST_CASE("ptx: reconvergence: a loop with two entries is handled") {
  const auto m = parse_kernel("@%p1 bra B;\nA: " + M(1) + "@%p2 bra J;\nB: " + M(2) +
                              "@%p3 bra A;\nJ: " + M(3) + "ret;");
  const ptx::Function& f = kernel(m);
  for (int branch : {0, 1, 2}) CHECK(reconvergence(f, branch) == at(f, 3));
}

TEST_CASE("ptx: reconvergence: the lanes of a switch reconverge behind it") {
  const auto m = parse_kernel("ts: .branchtargets A, B, J, A;\nbrx.idx %r1, ts;\nA: " + M(1) +
                              "bra J;\nB: " + M(2) + "J: " + M(3) + "ret;");
  CHECK(reconvergence(kernel(m), 0) == at(kernel(m), 3));
}

TEST_CASE("ptx: reconvergence: unreachable code does no harm") {
  const auto m =
      parse_kernel("bra J;\n" + M(1) + "@%p1 bra K;\n" + M(2) + "K: bra J;\nJ: " + M(3) + "ret;");
  CHECK(reconvergence(kernel(m), 1) == at(kernel(m), 2) + 1);
}

namespace {

// The successors of each instruction; the index behind the body is the exit.
std::vector<std::vector<size_t>> next_of(const ptx::Function& f) {
  std::vector<std::vector<size_t>> next(f.body.size());
  for (size_t i = 0; i < f.body.size(); ++i) {
    const ptx::Instruction& in = f.body[i];
    const bool leaves = in.op->id == ptx::OpId::ret;
    if (in.op->id == ptx::OpId::bra) next[i].push_back(static_cast<size_t>(in.operands[0].value));
    if (leaves) next[i].push_back(f.body.size());
    if (in.guard >= 0 || (in.op->id == ptx::OpId::mov)) next[i].push_back(i + 1);
  }
  return next;
}

using Next = std::vector<std::vector<size_t>>;

// Whether a path leads from `from` to `to` without passing through `without`.
bool leads(const Next& next, size_t from, size_t to, size_t without) {
  std::vector<char> seen(next.size() + 1, 0);
  std::vector<size_t> work{from};
  while (!work.empty()) {
    const size_t i = work.back();
    work.pop_back();
    if (i == without) continue;
    if (i == to) return true;
    if (i == next.size() || seen[i]) continue;
    seen[i] = 1;
    work.insert(work.end(), next[i].begin(), next[i].end());
  }
  return false;
}

// The immediate post-dominator: the strict post-dominator that all others post-dominate.
uint32_t nearest_post_dominator(const Next& next, size_t of) {
  const size_t out = next.size(), none = out + 1;
  std::vector<size_t> dominators;
  for (size_t d = 0; d < out && leads(next, of, out, none); ++d)
    if (d != of && !leads(next, of, out, d)) dominators.push_back(d);
  for (const size_t d : dominators)
    if (std::none_of(dominators.begin(), dominators.end(),
                     [&](size_t other) { return other != d && leads(next, d, out, other); }))
      return static_cast<uint32_t>(d);
  return ptx::kNoReconverge;
}

struct NaturalLoop {
  size_t header;
  std::vector<char> holds;
  auto size() const { return std::count(holds.begin(), holds.end(), 1); }
};

std::vector<NaturalLoop> natural_loops(const Next& next) {
  const size_t n = next.size(), none = n + 1;
  std::vector<NaturalLoop> loops;
  for (size_t h = 0; h < n; ++h) {
    NaturalLoop loop{h, std::vector<char>(n + 1, 0)};
    for (size_t tail = 0; tail < n; ++tail) {
      const bool goes_back = std::count(next[tail].begin(), next[tail].end(), h) != 0 &&
                             leads(next, 0, tail, none) && (tail == h || !leads(next, 0, tail, h));
      if (!goes_back) continue;
      loop.holds[h] = 1;
      for (size_t i = 0; i < n; ++i)
        if (i != h && leads(next, 0, i, none) && (i == tail || leads(next, i, tail, h)))
          loop.holds[i] = 1;
    }
    if (loop.holds[h]) loops.push_back(loop);
  }
  std::sort(loops.begin(), loops.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  return loops;
}

// The loop as if it were the function: its next iteration is the exit.
Next alone(const Next& next, const NaturalLoop& loop) {
  Next inside(next.size());
  for (size_t i = 0; i < next.size(); ++i)
    for (const size_t to : next[i])
      if (loop.holds[i] && loop.holds[to])
        inside[i].push_back(to == loop.header ? next.size() : to);
  return inside;
}

// Where all lanes reconverge that stay in `own`, the innermost loop that contains both successors,
// if there is one.
uint32_t place_to_meet(const Next& next, const std::vector<NaturalLoop>& loops, size_t branch,
                       const NaturalLoop** of) {
  const NaturalLoop*& own = *of;
  own = nullptr;
  const std::set<size_t> to(next[branch].begin(), next[branch].end());
  for (const NaturalLoop& loop : loops) {
    if (own == nullptr &&
        (!loop.holds[branch] ||
         std::count_if(to.begin(), to.end(), [&](size_t t) { return loop.holds[t]; }) < 2))
      continue;
    if (own == nullptr) own = &loop;
    if (!loop.holds[own->header]) continue;
    const uint32_t meet = nearest_post_dominator(alone(next, loop), branch);
    if (meet != ptx::kNoReconverge && own->holds[meet] && meet != own->header) return meet;
  }
  const uint32_t meet = nearest_post_dominator(next, branch);
  if (own == nullptr) return meet;
  const bool inside = meet != ptx::kNoReconverge && own->holds[meet];
  return inside ? meet : static_cast<uint32_t>(own->header);
}

}  // namespace

TEST_CASE(
    "ptx: reconvergence: on random graphs it is the post-dominator in the loop, or has a reason") {
  std::mt19937 random(32);
  int equal = 0, nearer = 0, farther = 0;
  for (int round = 0; round < 600; ++round) {
    const int size = 2 + static_cast<int>(random() % 14);
    std::string body;
    for (int i = 0; i < size; ++i) {
      body += "L" + std::to_string(i) + ": ";
      const std::string target = "L" + std::to_string(random() % static_cast<unsigned>(size));
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
        case 3:
          body += "@%p1 bra " + target + ";\n";
          break;
        case 4:
          body += "bra " + target + ";\n";
          break;
        case 5:
          body += random() % 2 ? "ret;\n" : "trap;\n";
          break;
        default:
          body += "mov.u32 %r1, 5;\n";
          break;
      }
    }
    body += "ret;\n";
    CAPTURE(body);
    const auto m = parse_kernel(body);
    const ptx::Function& f = kernel(m);
    const ptx::ControlFlow flow = ptx::analyse_control_flow(f);
    const auto next = next_of(f);
    const std::vector<NaturalLoop> loops = natural_loops(next);
    for (size_t i = 0; i < f.body.size(); ++i) {
      if (f.body[i].op->id != ptx::OpId::bra || std::set(next[i].begin(), next[i].end()).size() < 2)
        continue;
      CAPTURE(i);
      const NaturalLoop* own = nullptr;
      const uint32_t expected = place_to_meet(next, loops, i, &own);
      const uint32_t meet = flow.reconvergence_instruction(static_cast<int>(i));
      if (meet == expected) {
        ++equal;
        continue;
      }
      // A point before that which some lanes avoid, or one behind it if lanes leave several loops.
      const size_t none = next.size() + 1;
      const size_t behind = expected == ptx::kNoReconverge ? none : expected;
      const bool both_come = meet != ptx::kNoReconverge &&
                             std::all_of(next[i].begin(), next[i].end(), [&](size_t way) {
                               return way == meet || leads(next, way, meet, behind);
                             });
      const bool gets_out = leads(next, i, next.size(), none);
      const bool all_come = meet != ptx::kNoReconverge && !leads(next, i, next.size(), meet);
      const bool torn = own != nullptr && own->size() < static_cast<long>(next.size());
      CHECK((!gets_out || (both_come ? !all_come : torn)));
      ++(both_come ? nearer : farther);
    }
  }
  CHECK(equal > 10 * (nearer + farther));
  CHECK(nearer > 20);
}

TEST_CASE(
    "ptx: control flow: each branch of compiled programs reconverges at the beginning of a block" *
    kSlow) {
  for (const CompiledPtx& compiled : compiled_ptx()) {
    CAPTURE(compiled.name);
    const ptx::Module module = ptx::parse(compiled.text);
    for (const ptx::Function& f : module.functions) {
      const ptx::ControlFlow flow = ptx::analyse_control_flow(f);
      for (size_t i = 0; i < f.body.size(); ++i) {
        const uint32_t meet = flow.reconvergence_instruction(static_cast<int>(i));
        if (meet == ptx::kNoReconverge) continue;
        const auto block = static_cast<size_t>(flow.block_of[meet]);
        CHECK(flow.blocks[block].first == static_cast<int>(meet));
      }
    }
  }
}
