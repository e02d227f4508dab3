// Polls: strong loads and atomics that a loop repeats until they return the awaited value.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;

namespace {

// The numbers of the polls in a kernel with this body.
std::vector<int> polls_of(const std::string& body) {
  const ptx::Module module = ptx::parse(tests::with_header(R"(
.visible .entry test(.param .u64 test_in)
{
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [test_in];
)" + body + "\n}\n.file 1 \"a.cu\"\n"));
  const ptx::Function& function = ptx::require_kernel(module, "test");
  const std::vector<bool> polls =
      ptx::find_polling_loads(module, function, ptx::find_basic_blocks(function));
  std::vector<int> found;
  for (size_t i = 0; i < polls.size(); ++i)
    if (polls[i]) found.push_back(static_cast<int>(i));
  return found;
}

}  // namespace

TEST_CASE(
    "ptx: polls: a strong load or atomic at a fixed address that decides when its loop ends") {
  CHECK(polls_of(R"(
wait:
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra wait;
  ret;)") == std::vector<int>{1});
  CHECK(polls_of(R"(
wait:
  atom.global.cas.b32 %r1, [%d1], 0, 1;
  add.s32 %r2, %r1, 5;
  setp.ne.s32 %p1, %r2, 5;
  @%p1 bra wait;
  ret;)") == std::vector<int>{1});
}

TEST_CASE("ptx: polls: the loop may take the value through a vote, and leave in its middle") {
  CHECK(polls_of(R"(
wait:
  ld.acquire.gpu.global.u32 %r1, [%d1+8];
  setp.ne.s32 %p1, %r1, 0;
  vote.sync.any.pred %p2, %p1, -1;
  @%p2 bra done;
  nanosleep.u32 100;
  bra wait;
done:
  ret;)") == std::vector<int>{1});
}

TEST_CASE("ptx: polls: a load at changing addresses, or that does not decide, is none") {
  CHECK(polls_of(R"(
  mov.u32 %r3, 0;
next:
  ld.volatile.global.u32 %r1, [%d1];
  add.s32 %r2, %r2, %r1;
  add.s64 %d1, %d1, 4;
  add.s32 %r3, %r3, 1;
  setp.lt.s32 %p1, %r3, 100;
  @%p1 bra next;
  ret;)")
            .empty());
  CHECK(polls_of(R"(
  mov.u32 %r3, 0;
next:
  ld.volatile.global.u32 %r1, [%d1];
  add.s32 %r2, %r2, %r1;
  add.s32 %r3, %r3, 1;
  setp.lt.s32 %p1, %r3, 100;
  @%p1 bra next;
  ret;)")
            .empty());
  CHECK(polls_of(R"(
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra done;
  st.global.u32 [%d1], 1;
done:
  ret;)")
            .empty());
}

TEST_CASE("ptx: polls: the copy of a poll before its loop is one, too") {
  CHECK(polls_of(R"(
  .loc 1 7 12
  ld.volatile.global.u32 %r1, [%d1];
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra done;
wait:
  nanosleep.u32 100;
  .loc 1 7 12
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.s32 %p2, %r1, 0;
  @%p2 bra wait;
done:
  .loc 1 9 3
  ld.volatile.global.u32 %r2, [%d1];
  ret;)") == std::vector<int>{1, 5});
}

TEST_CASE("ptx: polls: a load of the same line of a header, called elsewhere, is none") {
  CHECK(polls_of(R"(
  .loc 2 50 3, function_name $L__info_string0, inlined_at 1 7 12
  ld.relaxed.gpu.global.u32 %r1, [%d1];
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra done;
wait:
  .loc 2 50 3, function_name $L__info_string0, inlined_at 1 7 12
  ld.relaxed.gpu.global.u32 %r1, [%d1];
  setp.eq.s32 %p2, %r1, 0;
  @%p2 bra wait;
done:
  .loc 2 50 3, function_name $L__info_string0, inlined_at 1 9 3
  ld.relaxed.gpu.global.u32 %r2, [%d1+4];
  ret;)") == std::vector<int>{1, 4});
}
