// Tests of prove_independent_blocks(): for which launches the proof succeeds, and that their blocks
// really access disjoint bytes.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "tests/fixtures/sim_kit.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

Setup grid_of(Dim3 grid, Dim3 block) {
  Setup setup;
  setup.grid = grid;
  setup.block = block;
  setup.out_written = true;
  setup.out_words = 1 << 16;
  setup.in_bytes = 1 << 18;
  return setup;
}

bool known(const std::string& body, Setup setup = grid_of({8, 1, 1}, {64, 1, 1})) {
  for (const unsigned threads : {1u, 4u}) {
    setup.threads = threads;
    const LaunchOutcome o = tests::finish(body, setup);
    if (threads == 4) return o.independent_blocks;
  }
  return false;
}

// Records which blocks read and write each byte.
class Watcher final : public sim::Observer {
 public:
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Watcher>(); }
  void merge(Observer& other) override {
    auto& o = static_cast<Watcher&>(other);
    for (auto& [byte, blocks] : o.touched_) touched_[byte].insert(blocks.begin(), blocks.end());
    written_.insert(o.written_.begin(), o.written_.end());
  }
  bool wants_accesses() const override { return true; }
  void block_begin(const sim::BlockInfo& info) override { block_ = info.index; }
  void access(uint32_t, const sim::IssuedWarpAccess& a) override {
    if (a.space != sim::AccessSpace::global) return;
    for (uint32_t l = 0; l < 32; ++l)
      for (uint64_t b = 0; (a.mask >> l & 1) != 0 && b < a.bytes; ++b) {
        touched_[a.address[l] + b].insert(block_);
        if (a.kind == sim::AccessKind::store) written_.insert(a.address[l] + b);
      }
  }
  bool blocks_are_disjoint() const {
    for (const uint64_t byte : written_)
      if (touched_.at(byte).size() > 1) return false;
    return true;
  }

 private:
  uint64_t block_ = 0;
  std::map<uint64_t, std::set<uint64_t>> touched_;
  std::set<uint64_t> written_;
};

// The thread's x and y coordinates in %r10 and %r11; the address of its word in a plane of 50
// columns.
const std::string kPlane = R"(
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r10, %r1, %r2, %r3;
  mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ntid.y; mov.u32 %r6, %tid.y;
  mad.lo.s32 %r11, %r4, %r5, %r6;
  mad.lo.s32 %r12, %r11, 50, %r10;
  mul.wide.s32 %d1, %r12, 4;
  add.s64 %d2, %out, %d1;
)";

}  // namespace

TEST_CASE(
    "core: independent blocks: threads that access only their own words are proven independent") {
  CHECK(known("ld.global.u32 %r1, [%src]; st.global.u32 [%dst], %r1;"));
  CHECK(known("ld.global.u32 %r1, [%dst]; add.u32 %r1, %r1, 1; st.global.u32 [%dst], %r1;"));
  CHECK(known(
      "ld.u32 %r1, [%src+4]; ld.u32 %r2, [%src]; add.u32 %r1, %r1, %r2; st.u32 [%dst], %r1;"));
  CHECK(known("setp.ge.u32 %p1, %g, 100; @%p1 bra END; st.global.u32 [%dst], %g; END: ret;"));
  // Each thread stores a pair of words.
  CHECK(
      known("shl.b32 %r1, %g, 3; cvt.u64.u32 %d1, %r1; add.s64 %d2, %d1, %out;"
            "st.global.u32 [%d2], %g; st.global.u32 [%d2+4], %g;"));
  // Threads of one block may share words.
  CHECK(known("mov.u32 %r1, %ctaid.x; mad.wide.u32 %d1, %r1, 4, %out; st.global.u32 [%d1], %g;"));
  CHECK(
      known("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.s32 %r3, %r2, %r1;"
            "mad.wide.s32 %d1, %r3, 4, %out; st.global.u32 [%d1], %g;"));
}

TEST_CASE("core: independent blocks: the proof uses the bounds of branches") {
  const Setup plane = grid_of({4, 4, 1}, {16, 8, 1});
  const std::string inside = kPlane + "setp.ge.s32 %p1, %r10, 50; setp.gt.s32 %p2, %r11, 28;";
  CHECK(known(inside + "or.pred %p3, %p1, %p2; @%p3 bra END; st.global.u32 [%d2], %g; END: ret;",
              plane));
  CHECK(known(kPlane + "setp.lt.s32 %p1, %r10, 50; @%p1 st.global.u32 [%d2], %g;", plane));
  // Without the branch, a row runs into the next one.
  CHECK(!known(kPlane + "st.global.u32 [%d2], %g;", plane));
  CHECK(!known(inside + "@%p2 bra END; st.global.u32 [%d2], %g; END: ret;", plane));
  // One of the two conditions is not enough.
  CHECK(!known(inside + "and.pred %p3, %p1, %p2; @%p3 bra END; st.global.u32 [%d2], %g; END: ret;",
               plane));
  // The bound of the store does not apply to the load.
  CHECK(!known(kPlane + "ld.global.u32 %r13, [%d2]; setp.lt.s32 %p1, %r10, 50;"
                        "@%p1 st.global.u32 [%d2], %r13;",
               plane));
  // Another path reaches the store.
  CHECK(
      !known(inside + "@%p2 bra IN; @%p1 bra END; IN: st.global.u32 [%d2], %g; END: ret;", plane));
}

TEST_CASE("core: independent blocks: the proof fails for shared words and unknown addresses") {
  const auto stores_at = [](const std::string& offset) {
    return offset + " add.s64 %d9, %d1, %out; st.global.u32 [%d9], %g;";
  };
  // A neighbour's word, a single word, overlapping words, blocks along another axis.
  CHECK(!known("ld.global.u32 %r1, [%dst+4]; st.global.u32 [%dst], %r1;"));
  CHECK(!known("st.global.u32 [%out], %n;"));
  CHECK(!known("cvt.u64.u32 %d1, %n; st.global.u64 [%out+8], %d1; ld.global.u32 %r1, [%out+12];"));
  CHECK(!known("st.global.u32 [%dst], %n;", grid_of({8, 2, 1}, {64, 1, 1})));
  // An address that is loaded, divided, or computed in a loop.
  CHECK(!known(stores_at("ld.global.u32 %r1, [%src]; mul.wide.u32 %d1, %r1, 4;")));
  CHECK(!known(stores_at("shr.u32 %r1, %g, 1; mul.wide.u32 %d1, %r1, 4;")));
  CHECK(
      !known("mov.u64 %d1, %dst; mov.u32 %r1, 0; L: st.global.u32 [%d1], %r1;"
             "add.s64 %d1, %d1, 2048; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L;"));
  // Products that overflow their registers, so that all threads access one word.
  const std::string wraps = "mul.lo.u32 %r1, %g, 0x40000000; shl.b32 %r2, %r1, 2;";
  CHECK(!known(stores_at(wraps + "cvt.u64.u32 %d1, %r2;")));
  CHECK(!known(stores_at(wraps + "mul.wide.s32 %d1, %r2, 4;")));
  // Atomic updates, and loads that may poll.
  CHECK(!known("red.global.add.u32 [%dst], 1;"));
  CHECK(
      !known("mov.u32 %r1, 0; L: ld.volatile.global.u32 %r2, [%dst]; add.u32 %r1, %r1, 1;"
             "setp.lt.u32 %p1, %r1, 3; @%p1 bra L; st.global.u32 [%dst], %r2;"));
  // The address depends on a predicate.
  CHECK(
      !known("setp.lt.u32 %p1, %g, 100; mov.u64 %d1, %dst; @%p1 add.s64 %d1, %d1, 4;"
             "st.global.u32 [%d1], %g;"));
}

TEST_CASE(
    "core: independent blocks: random launches that are proven independent access disjoint bytes" *
    kSlow) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const std::string coordinates[] = {"tid.x", "tid.y", "ctaid.x", "ctaid.y"};
  int are = 0, said = 0;
  for (int i = 0; i < 1000; ++i) {
    const Setup shape = grid_of({unsigned(pick(1, 4)), unsigned(pick(1, 3)), 1},
                                {unsigned(pick(1, 6)), unsigned(pick(1, 4)), 1});
    const int steps[] = {0,
                         4,
                         4,
                         8,
                         16,
                         -4,
                         4 * pick(1, 30),
                         4 * int(shape.block.x),
                         4 * int(shape.block.x * shape.grid.x),
                         4 * int(shape.block.count()),
                         2};
    std::string body;
    for (int c = 0; c < 4; ++c) body += fmt::format("mov.u32 %r{}, %{};", 20 + c, coordinates[c]);
    int factor[4], limit[4];
    std::string address = "4096", compared = "0";
    for (int c = 0; c < 4; ++c) {
      factor[c] = steps[pick(0, 10)];
      limit[c] = pick(0, 1) != 0 ? factor[c] / 4 : pick(0, 3);
      body += fmt::format("mad.lo.s32 %r{}, %r{}, {}, {};", 10 + c, 20 + c, factor[c], address);
      body += fmt::format("mad.lo.s32 %r{}, %r{}, {}, {};", 30 + c, 20 + c, limit[c], compared);
      address = fmt::format("%r{}", 10 + c);
      compared = fmt::format("%r{}", 30 + c);
    }
    const bool aligned = std::none_of(factor, factor + 4, [](int f) { return f % 4 != 0; });
    const char* type = aligned ? "u32" : "u16";
    const std::string value = aligned ? "%r1" : "%h1";
    body += fmt::format("cvt.s64.s32 %d0, {}; add.s64 %d1, %d0, %out; mov.{} {}, 1;", address, type,
                        value);
    if (pick(0, 1) != 0)
      body += fmt::format("setp.{}.s32 %p1, {}, {}; @%p1 bra END;", pick(0, 1) != 0 ? "ge" : "gt",
                          compared, pick(1, 20));
    if (pick(0, 2) == 0)
      body += fmt::format("ld.global.{} {}, [%d1+{}];", type, value, 4 * pick(-2, 2));
    body += fmt::format("st.global.{} [%d1], {};", type, value);
    if (pick(0, 2) == 0)
      body += fmt::format("st.global.{} [%d1+{}], {};", type, 4 * pick(-3, 3), value);
    body += "END: ret;";
    CAPTURE(body);
    CAPTURE(shape.grid.x);
    CAPTURE(shape.grid.y);
    CAPTURE(shape.block.x);
    CAPTURE(shape.block.y);
    Watcher watcher;
    Setup setup = shape;
    setup.watcher = &watcher;
    const LaunchOutcome o = tests::finish(body, setup);
    if (o.independent_blocks) REQUIRE(watcher.blocks_are_disjoint());
    are += static_cast<int>(watcher.blocks_are_disjoint());
    said += static_cast<int>(o.independent_blocks);
  }
  // Guards against a proof that never succeeds.
  CHECK(said > are / 3);
}
