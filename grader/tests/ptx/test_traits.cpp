// The traits of each row of opcodes.def must fit its pattern and operands, so that no instruction
// is added without its traits.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "simulator/ptx/module.h"
#include "simulator/ptx/parser.h"

using namespace lab32;
using ptx::AddressUse;
using ptx::ControlTransfer;
using ptx::CostClass;
using ptx::InstructionSync;
using ptx::OpInfo;
using ptx::Space;

namespace {

size_t operands_of_kind(const OpInfo& op, std::string_view name) {
  return static_cast<size_t>(
      std::count_if(op.operands.begin(), op.operands.end(),
                    [&](const ptx::OperandSpec& spec) { return spec.name == name; }));
}

// Whether some position of the pattern may be this word.
bool may_have(const OpInfo& op, std::string_view word) {
  return std::any_of(op.parts.begin(), op.parts.end(), [&](const OpInfo::Part& part) {
    return std::count(part.choices.begin(), part.choices.end(), word) != 0;
  });
}

bool has_destination(const OpInfo& op) { return !op.operands.empty() && op.operands[0].is_dest; }

template <class F>
void each_row(F f) {
  for (const OpInfo& op : ptx::opcode_table()) {
    CAPTURE(op.pattern);
    f(op, op.traits);
  }
}

}  // namespace

TEST_CASE("ptx: traits: every row has a cost class") {
  each_row(
      [](const OpInfo&, const ptx::InstructionTraits& t) { CHECK(t.issue != CostClass::unset); });
}

TEST_CASE("ptx: traits: every address has a kind of access and a space") {
  each_row([](const OpInfo& op, const ptx::InstructionTraits& t) {
    REQUIRE(t.memory_count == operands_of_kind(op, "mem"));
    for (size_t i = 0; i < t.memory_count; ++i) {
      const AddressUse use = t.memory[i];
      CHECK(use.kind != AddressUse::Kind::none);
      // `any` is for rows whose modifiers choose the space; the pattern must allow a space that the
      // row names.
      if (use.space == Space::generic) CHECK(may_have(op, "global"));
      if (use.space == Space::shared) CHECK(may_have(op, "shared"));
      if (use.space == Space::global) CHECK(may_have(op, "global"));
      if (use.space == Space::param) CHECK(may_have(op, "param"));
    }
    const bool moves = t.memory_count > 0 && !t.is_mbarrier();
    if (moves && t.memory_count == 1 && t.has_address_used_as(AddressUse::Kind::load))
      CHECK(has_destination(op));
    if (t.has_address_used_as(AddressUse::Kind::store)) CHECK_FALSE(has_destination(op));
    if (t.issue == CostClass::memory) CHECK(t.memory_count > 0);
    if (t.has_counted_memory_access()) CHECK(t.issue == CostClass::memory);
    CHECK(t.is_atomic() == ((op.base == "atom" || op.base == "red") && !may_have(op, "async")));
    // pending_count only reads the token of an arrival.
    const bool asks_token = may_have(op, "pending_count");
    CHECK(t.is_mbarrier() == may_have(op, "mbarrier") + (op.base == "mbarrier" && !asks_token));
    if (t.read_only)
      CHECK((t.has_counted_memory_access() && t.has_address_used_as(AddressUse::Kind::load)));
  });
}

TEST_CASE("ptx: traits: rows with labels, calls and exits have a control transfer") {
  each_row([](const OpInfo& op, const ptx::InstructionTraits& t) {
    const bool branches =
        t.transfer == ControlTransfer::branch || t.transfer == ControlTransfer::table_branch;
    CHECK(branches == (operands_of_kind(op, "label") == 1));
    CHECK((t.transfer == ControlTransfer::call) == (operands_of_kind(op, "func") == 1));
    CHECK(t.leaves_function() == (op.base == "ret" || op.base == "exit"));
    if (t.transfer != ControlTransfer::next) CHECK_FALSE(has_destination(op));
    if (t.transfer != ControlTransfer::next) CHECK(t.memory_count == 0);
  });
}

TEST_CASE("ptx: traits: rows with .sync, fences and barriers synchronise") {
  each_row([](const OpInfo& op, const ptx::InstructionTraits& t) {
    const bool of_cluster = op.pattern.find("barrier.cluster") == 0;
    const bool barrier = (op.base == "bar" || op.base == "barrier") && !of_cluster;
    CHECK(t.is_cluster_barrier() == of_cluster);
    CHECK((t.sync == InstructionSync::cluster_arrive) == (of_cluster && may_have(op, "arrive")));
    if (may_have(op, "sync")) CHECK(t.sync != InstructionSync::none);
    CHECK(t.is_block_barrier() == (barrier && !may_have(op, "warp")));
    CHECK((t.sync == InstructionSync::warp_barrier) == (barrier && may_have(op, "warp")));
    CHECK((t.sync == InstructionSync::fence) == (op.base == "fence" || op.base == "membar"));
    CHECK((t.sync == InstructionSync::block_arrive) == (barrier && may_have(op, "arrive")));
    CHECK((t.sync == InstructionSync::mbarrier_arrive) ==
          (t.is_mbarrier() && may_have(op, "arrive")));
    if (t.matrix) CHECK((may_have(op, "m8n8") && t.sync == InstructionSync::warp));
    CHECK((t.issue == CostClass::barrier) ==
          (t.sync == InstructionSync::block || t.sync == InstructionSync::cluster));
    CHECK(t.fragments == (op.base == "mma" || op.base == "wmma"));
    CHECK(t.reads_texels == (op.base == "tex" || op.base == "tld4" || op.base == "suld"));
    CHECK(t.writes_texels == (op.base == "sust" || op.base == "sured"));
    const bool async = may_have(op, "async") && !may_have(op, "prefetch");
    CHECK(t.bulk == (async && operands_of_kind(op, "addr") > 0));
    CHECK(t.is_texture() == (t.issue == CostClass::texture));
    if (t.is_texture()) CHECK(t.memory_count == 0);
    if (t.sync == InstructionSync::warp) {
      CHECK(t.of_whole_warp() == may_have(op, "aligned"));
      if (!t.of_whole_warp()) CHECK(op.operands.back().name == "u32");  // the member mask
    }
  });
}

TEST_CASE("ptx: traits: exactly the rows with .cc or carry use the carry flag") {
  each_row([](const OpInfo& op, const ptx::InstructionTraits& t) {
    const bool reads = op.base == "addc" || op.base == "subc" || op.base == "madc";
    CHECK(t.carry == (reads || may_have(op, "cc")));
  });
}

TEST_CASE("ptx: traits: derived properties are consistent") {
  const auto traits_of = [](std::vector<std::string_view> words) {
    ptx::Mods mods;
    std::vector<ptx::DataType> types;
    const OpInfo* op = ptx::match_opcode(words, &mods, &types);
    REQUIRE(op != nullptr);
    return op->traits;
  };
  const ptx::InstructionTraits vote = traits_of({"vote", "sync", "ballot", "b32"});
  const ptx::InstructionTraits red_barrier = traits_of({"bar", "red", "popc", "u32"});
  const ptx::InstructionTraits store = traits_of({"st", "global", "f32"});
  const ptx::InstructionTraits argument = traits_of({"st", "param", "b32"});
  const ptx::InstructionTraits hint = traits_of({"prefetch", "global", "L2"});
  const ptx::InstructionTraits arrival = traits_of({"mbarrier", "arrive", "shared", "b64"});
  const ptx::InstructionTraits copy = traits_of({"cp", "async", "cg", "shared", "global"});
  CHECK(vote.may_differ_when_repeated());
  CHECK_FALSE(vote.may_release_waiters());
  CHECK(red_barrier.may_release_waiters());
  CHECK(red_barrier.is_block_barrier());
  CHECK(store.has_counted_memory_access());
  CHECK(store.may_release_waiters());
  CHECK_FALSE(argument.has_counted_memory_access());
  CHECK_FALSE(argument.may_release_waiters());
  CHECK_FALSE(hint.has_counted_memory_access());
  CHECK(arrival.may_release_waiters());
  CHECK_FALSE(arrival.has_counted_memory_access());
  CHECK(copy.has_counted_memory_access());
  CHECK(copy.memory[0].space == Space::shared);
  CHECK(copy.memory[1].space == Space::global);
  CHECK(traits_of({"brkpt"}).transfer == ControlTransfer::trap);
}

TEST_CASE("ptx: traits: the space of an access comes from the row or a modifier") {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b64 %rd<3>;\n"
      ".reg .b32 %r<3>;\nld.shared.u32 %r1, [%rd1];\nld.u32 %r1, [%rd1];\n"
      "ld.const.u32 %r1, [%rd1];\nldu.v2.u64 {%rd1, %rd2}, [%rd1];\n"
      "cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
      "ldmatrix.sync.aligned.m8n8.x1.b16 %r1, [%rd1];\nret;\n}\n");
  const auto& body = module.functions.at(0).body;
  CHECK(ptx::memory_space(body[0], 0) == Space::shared);
  CHECK(ptx::memory_space(body[1], 0) == Space::generic);
  CHECK(ptx::memory_space(body[2], 0) == Space::constant);
  CHECK(ptx::memory_space(body[3], 0) == Space::global);
  CHECK(ptx::memory_space(body[4], 0) == Space::shared);
  CHECK(ptx::memory_space(body[4], 1) == Space::global);
  CHECK(ptx::memory_space(body[5], 0) == Space::shared);
  CHECK(ptx::element_bytes(body[0]) == 4);
  CHECK(ptx::element_bytes(body[3]) == 8);
  CHECK(ptx::element_bytes(body[4]) == 16);
  CHECK(ptx::element_bytes(body[5]) == 16);
}
