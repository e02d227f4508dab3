// set, setp, selp and slct: every comparison on every type, all masks, both predicates.
#include <functional>

#include "tests/fixtures/host_half.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// The definition of a comparison: its result if a is less than b, equal or greater, and if one of
// them is NaN.
struct ComparisonResults {
  bool less, equal, greater, unordered;

  template <class T>
  bool operator()(T a, T b) const {
    return a < b ? less : a == b ? equal : a > b ? greater : unordered;
  }
};

ComparisonResults results_of(const std::string& op) {
  if (op == "num") return {true, true, true, false};
  if (op == "nan") return {false, false, false, true};
  const bool unordered = op.size() == 3;  // equ neu ltu leu gtu geu
  const std::string base = op.substr(0, 2);
  if (base == "eq") return {false, true, false, unordered};
  if (base == "ne") return {true, false, true, unordered};
  if (base == "lt" || base == "lo") return {true, false, false, unordered};
  if (base == "le" || base == "ls") return {true, true, false, unordered};
  if (base == "gt" || base == "hi") return {false, false, true, unordered};
  return {false, true, true, unordered};  // ge, hs
}

const std::vector<std::string> kEquality{"eq", "ne"};
const std::vector<std::string> kSigned{"eq", "ne", "lt", "le", "gt", "ge"};
const std::vector<std::string> kUnsigned{"eq", "ne", "lt", "le", "gt",
                                         "ge", "lo", "ls", "hi", "hs"};
const std::vector<std::string> kFloat{"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                      "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// `bool_op` is "and", "or" or "xor".
bool combined(const std::string& bool_op, bool result, bool c) {
  const char first = bool_op[0];
  return first == 'a' ? result && c : first == 'o' ? result || c : result != c;
}

// setp and set of one comparison. `type` is the spelling of the type, `reg` a register of it.
template <class T>
void check_comparison(const std::string& op, const std::string& ftz, const std::string& type,
                      std::function<bool(T, T)> holds) {
  const std::string reg = TypeNames<T>::reg, ab = ", " + reg + "2, " + reg + "3";
  for (const std::string bool_op : {"", "and", "or", "xor"}) {
    const std::string words = "." + op + (bool_op.empty() ? "" : "." + bool_op) + ftz;
    const std::string setp = "setp" + words + "." + type;
    if (bool_op.empty()) {
      check_line<bool, T, T>(setp + " %p1" + ab + ";", holds);
      check_line<bool, T, T>(setp + " %p1|%p4" + ab + ";", holds);
      check_line<uint32_t, T, T>("set" + words + ".u32." + type + " %r9" + ab + ";",
                                 [=](T a, T b) { return holds(a, b) ? 0xffffffffu : 0u; });
      check_line<int32_t, T, T>("set" + words + ".s32." + type + " %r9" + ab + ";",
                                [=](T a, T b) { return holds(a, b) ? -1 : 0; });
      check_line<float, T, T>("set" + words + ".f32." + type + " %f9" + ab + ";",
                              [=](T a, T b) { return holds(a, b) ? 1.0f : 0.0f; });
      continue;
    }
    const auto both = [=](T a, T b, bool c) { return combined(bool_op, holds(a, b), c); };
    check_line<bool, T, T, bool>(setp + " %p1" + ab + ", %p4;", both);
    check_line<bool, T, T, bool>(setp + " %p1" + ab + ", !%p4;",
                                 [=](T a, T b, bool c) { return both(a, b, !c); });
    check_line<uint32_t, T, T, bool>("set" + words + ".u32." + type + " %r9" + ab + ", %p4;",
                                     [=](T a, T b, bool c) { return both(a, b, c) ? ~0u : 0u; });
  }
}

template <class T>
void check_comparisons(const std::vector<std::string>& ops, const std::string& type) {
  for (const std::string& op : kUnsigned) {
    const bool exists = std::find(ops.begin(), ops.end(), op) != ops.end();
    if (!exists) check_refused("setp." + op + "." + type + " %p1, %r2, %r3;");
  }
  for (const std::string& op : ops) {
    check_comparison<T>(op, "", type, results_of(op));
  }
}

}  // namespace

TEST_CASE("core: set and setp compare integers") {
  check_comparisons<uint16_t>(kUnsigned, "u16");
  check_comparisons<uint32_t>(kUnsigned, "u32");
  check_comparisons<uint64_t>(kUnsigned, "u64");
  check_comparisons<int16_t>(kSigned, "s16");
  check_comparisons<int32_t>(kSigned, "s32");
  check_comparisons<int64_t>(kSigned, "s64");
  check_comparisons<uint16_t>(kEquality, "b16");
  check_comparisons<uint32_t>(kEquality, "b32");
  check_comparisons<uint64_t>(kEquality, "b64");
}

TEST_CASE("core: set and setp compare floats") {
  check_comparisons<float>(kFloat, "f32");
  check_comparisons<double>(kFloat, "f64");
  for (const std::string& op : kFloat) {
    check_comparison<float>(op, ".ftz", "f32", [holds = results_of(op)](float a, float b) {
      return holds(flushed(a), flushed(b));
    });
  }
  check_refused("setp.lt.ftz.f64 %p1, %fd2, %fd3;");
}

// q is the opposite of the comparison, combined with c. c may be the register of p or q.
TEST_CASE("core: setp p|q may overwrite its predicate operand") {
  for (const std::string bool_op : {"and", "or", "xor"}) {
    for (const std::string target : {"%p1|%p2", "%p2|%p1"}) {
      Line line("setp.lt." + bool_op + ".s32 " + target + ", %r1, %r2, %p1;");
      const uint32_t c = 0x0ff0f0a5, old = 0x12345678, mask = 0x00fffff0;
      line.set_word(line.inst().dst[target == "%p1|%p2" ? 1 : 0], old);
      line.set_word(line.inst().src[2], c);
      const uint32_t was[2] = {line.word(line.inst().dst[0]), line.word(line.inst().dst[1])};
      for (int lane = 0; lane < 32; ++lane) {
        line.set(line.inst().src[0], lane, lane % 3);
        line.set(line.inst().src[1], lane, 1);
      }
      line.run(mask);
      for (int lane = 0; lane < 32; ++lane) {
        const bool active = (mask >> lane & 1) != 0, less = lane % 3 < 1;
        const bool in = (c >> lane & 1) != 0;
        for (int i = 0; i < 2; ++i) {
          const bool want =
              active ? combined(bool_op, i == 0 ? less : !less, in) : (was[i] >> lane & 1) != 0;
          CHECK(line.get<bool>(line.inst().dst[i], lane) == want);
        }
      }
    }
  }
}

TEST_CASE("core: set and setp compare halves") {
  for (const HalfFormat* format : {&f16(), &bf16()}) {
    const bool brain = format == &bf16();
    const std::string type = brain ? "bf16" : "f16";
    const uint16_t one = brain ? 0x3f80 : 0x3c00;
    for (const std::string ftz : {"", ".ftz"}) {
      if (brain && !ftz.empty()) {
        check_refused("setp.eq.ftz.bf16 %p1, %rs2, %rs3;");
        continue;
      }
      for (const std::string& op : kFloat) {
        const auto holds = [format, of_values = results_of(op), flushes = !ftz.empty()](
                               HalfBits a, HalfBits b) {
          const auto value = [=](HalfBits x) {
            return format->value(flushes ? format->flushed(x.bits) : x.bits);
          };
          return of_values(value(a), value(b));
        };
        using H = HalfBits;
        using P = HalfPairBits;
        const std::string words = "." + op + ftz + ".";
        check_line<bool, H, H>("setp" + words + type + " %p1, %rs2, %rs3;", holds);
        check_line<bool, H, H, bool>(
            "setp." + op + ".and" + ftz + "." + type + " %p1, %rs2, %rs3, %p4;",
            [=](H a, H b, bool c) { return holds(a, b) && c; });
        check_line<bool, P, P>("setp" + words + type + "x2 %p1|%p4, %r2, %r3;",
                               [=](P a, P b) { return holds(a.lo, b.lo); });
        check_line<uint32_t, H, H>("set" + words + "u32." + type + " %r1, %rs2, %rs3;",
                                   [=](H a, H b) { return holds(a, b) ? ~0u : 0u; });
        check_line<uint16_t, H, H>(
            "set" + words + "u16." + type + " %rs1, %rs2, %rs3;",
            [=](H a, H b) { return static_cast<uint16_t>(holds(a, b) ? 0xffff : 0); });
        check_line<uint16_t, H, H>(
            "set" + words + type + "." + type + " %rs1, %rs2, %rs3;",
            [=](H a, H b) { return static_cast<uint16_t>(holds(a, b) ? one : 0); });
        const auto pair_of = [=](uint32_t truth) {
          return [=](P a, P b) {
            return (holds(a.lo, b.lo) ? truth : 0u) | (holds(a.hi, b.hi) ? truth << 16 : 0u);
          };
        };
        check_line<uint32_t, P, P>("set" + words + type + "x2." + type + "x2 %r1, %r2, %r3;",
                                   pair_of(one));
        check_line<uint32_t, P, P>("set" + words + "s32." + type + "x2 %r1, %r2, %r3;",
                                   pair_of(0xffff));
      }
    }
    check_refused("set.eq.u16." + type + "x2 %rs1, %r2, %r3;");
    check_refused("setp.eq." + type + " %p1|%p2, %rs2, %rs3;");
    check_refused("setp.eq.and." + type + " %p1, %rs2, %rs3;");
  }
}

// The second predicate of a pair instruction is the upper halves' comparison, not the opposite.
TEST_CASE("core: setp.f16x2 p|q compares both halves") {
  Line line("setp.eq.f16x2 %p1|%p2, %r1, %r2;");
  for (int lane = 0; lane < 32; ++lane) {
    line.set(line.inst().src[0], lane, 0x3c000000u | (lane % 2 == 0 ? 0x4000u : 0u));
    line.set(line.inst().src[1], lane, (lane % 3 == 0 ? 0x3c000000u : 0u) | 0x4000u);
  }
  line.run(~0u);
  for (int lane = 0; lane < 32; ++lane) {
    CHECK(line.get<bool>(line.inst().dst[0], lane) == (lane % 2 == 0));
    CHECK(line.get<bool>(line.inst().dst[1], lane) == (lane % 3 == 0));
  }
}

TEST_CASE("core: selp and slct select operands") {
  for_types<uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t, float, double>([](auto t) {
    using T = decltype(t);
    check_line<T, T, T, bool>(line<T, T, T, bool>(typed<T>("selp")),
                              [](T a, T b, bool p) { return p ? a : b; });
    check_line<T, T, T, int32_t>(line<T, T, T, int32_t>(typed<T>("slct") + ".s32"),
                                 [](T a, T b, int32_t c) { return c >= 0 ? a : b; });
    const auto by_float = [](T a, T b, float c) { return c >= 0 ? a : b; };
    check_line<T, T, T, float>(line<T, T, T, float>(typed<T>("slct") + ".f32"), by_float);
    check_line<T, T, T, float>(line<T, T, T, float>(typed<T>("slct.ftz") + ".f32"),
                               [=](T a, T b, float c) { return by_float(a, b, flushed(c)); });
  });
  check_refused("slct.ftz.u32.s32 %r1, %r2, %r3, %r4;");
}
