// Plans for real kernels, compiled by nvcc for Turing, Ada and Hopper; and the plans that result
// when the machine code does not match.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/parser.h"
#include "simulator/sass/operands.h"
#include "simulator/sass/reconcile.h"
#include "tests/fixtures/slow.h"
#include "toolchain/nvcc.h"
#include "toolchain/toolchain.h"

using namespace lab32;
using sim::AccessKind;
using sim::SassAccessOfPtxInstruction;

namespace {

struct Compiled {
  ptx::Module module;
  std::string sass;
  sass::PtxSassReconciliation result;
};

const Compiled& compiled(const std::string& arch) {
  static std::map<std::string, Compiled> all;
  auto found = all.find(arch);
  if (found != all.end()) return found->second;
  const auto artifact =
      toolchain::compile(toolchain::checkout_directory() / "grader/tests/fixtures/sass/kernels.cu",
                         arch, "grader/tests/fixtures/sass/kernels.cu");
  REQUIRE_MESSAGE(!artifact.sass.empty(), "there is no nvdisasm: run make test");
  Compiled& c = all[arch];
  c.module = ptx::parse(artifact.ptx);
  c.sass = artifact.sass;
  c.result = sass::reconcile(c.module, sass::parse_disassembly(artifact.sass));
  return c;
}

const std::vector<std::string> kArchs{"sm_75", "sm_89", "sm_90"};

std::string text_of(const SassAccessOfPtxInstruction& issue) {
  std::string s = issue.kind == AccessKind::load    ? "ld"
                  : issue.kind == AccessKind::store ? "st"
                  : issue.kind == AccessKind::red   ? "red"
                                                    : "atom";
  s += std::to_string(issue.bytes);
  if (issue.offset > 0) s += "+" + std::to_string(issue.offset);
  if (issue.offset < 0) s += std::to_string(issue.offset);
  switch (issue.lanes) {
    case SassAccessOfPtxInstruction::Lanes::all:
      break;
    case SassAccessOfPtxInstruction::Lanes::leader:
      s += " leader";
      break;
    case SassAccessOfPtxInstruction::Lanes::full_leader:
      s += " full_leader";
      break;
    case SassAccessOfPtxInstruction::Lanes::spin:
      s += " spin";
      break;
    case SassAccessOfPtxInstruction::Lanes::narrow_cas_loop:
      s += " narrow_cas_loop";
      break;
  }
  if (issue.form == sim::SharedAtomicForm::increment) s += " increment";
  if (issue.form == sim::SharedAtomicForm::compare_swap) s += " cas";
  if (issue.only) s += *issue.only == sim::AccessSpace::shared ? " in shared" : " in global";
  return s;
}

// The plans of a function's memory instructions in the order of the PTX: "ld4 | - | ?": as written,
// no instruction, not reconciled.
std::string text_of(const Compiled& c, const std::string& function) {
  const auto found = c.result.plans.find(function);
  REQUIRE_MESSAGE(found != c.result.plans.end(), function);
  std::string s;
  for (const sim::AccessPlan& plan : found->second) {
    if (plan.issues.empty() && plan.note.empty() && !plan.unmatched) continue;
    if (!s.empty()) s += " | ";
    if (plan.unmatched)
      s += "?";
    else if (plan.issues.empty())
      s += "-";
    for (size_t i = 0; i < plan.issues.size(); ++i) s += (i ? ", " : "") + text_of(plan.issues[i]);
  }
  return s;
}

std::string plans(const std::string& arch, const std::string& kernel) {
  return text_of(compiled(arch), kernel);
}

// The section of one kernel in a listing.
std::string section_of(const std::string& sass, const std::string& kernel) {
  const size_t from = sass.find("\t.section\t.text." + kernel + ",");
  REQUIRE(from != std::string::npos);
  return sass.substr(from, sass.find("\t.section\t", from + 1) - from);
}

// The PTX with empty lines in place of all other kernels, since the machine code refers to line
// numbers.
std::string without_others(const std::string& ptx, const std::string& kernel) {
  std::string out;
  bool other = false;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    const size_t entry = line.find(".entry ");
    if (entry != std::string::npos)
      other = line.compare(entry + 7, kernel.size() + 1, kernel + "(");
    if (!other) out += line;
    out += '\n';
    other &= line != "}";
  }
  return out;
}

// The reconciliation of `kernel` after `edit` has changed the lines of its machine code.
template <class Edit>
Compiled edited(const std::string& arch, const std::string& kernel, Edit edit) {
  const Compiled& original = compiled(arch);
  Compiled c;
  c.module = ptx::parse(without_others(original.module.text, kernel));
  std::string section = section_of(original.sass, kernel);
  c.sass = section;
  edit(c.sass);
  REQUIRE(c.sass != section);
  c.result = sass::reconcile(c.module, sass::parse_disassembly(c.sass));
  return c;
}

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE("sass: reconcile") {
  TEST_CASE("sass: all kernels of the test file are reconciled, except two") {
    // The load of `invariant` does not depend on the loop around it.
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      std::set<std::string> expected{"invariant"};
      // Here ptxas loads a word once for two iterations of the loop.
      if (arch == "sm_90") expected.insert("sliding_shared");
      const Compiled& c = compiled(arch);
      CHECK(c.module.functions.size() > 80);
      std::set<std::string> doubtful;
      for (const auto& [function, plans] : c.result.plans) {
        for (const sim::AccessPlan& plan : plans) {
          if (!plan.unmatched) continue;
          doubtful.insert(function);
          CHECK(plan.issues.empty());
          if (expected.count(function) == 0) MESSAGE(function << ": " << describe(*plan.unmatched));
        }
      }
      CHECK(doubtful == expected);
      CHECK(c.result.plans.at("invariant").size() > 0);
    }
  }

  TEST_CASE("sass: ordinary accesses are issued as written") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      CHECK(plans(arch, "copy") == "ld4 | st4");
      CHECK(plans(arch, "add_restrict") == "ld4 | ld4 | st4");
      CHECK(plans(arch, "copy_float4") == "ld16 | st16");
      CHECK(plans(arch, "scale_float4_tail") == "ld16 | st16 | ld4 | st4");
      CHECK(plans(arch, "bytes_to_words") == "ld1 | st4");
      CHECK(plans(arch, "shorts_and_doubles") == "ld2 | ld8 | st8");
      CHECK(plans(arch, "transpose_naive") == "ld4 | st4");
      CHECK(plans(arch, "branchy") == "ld4 | st4 | ld4 | st4");
      CHECK(plans(arch, "both_arms") == "ld4 | ld4 | st4 | ld4 | st4");
      CHECK(plans(arch, "volatile_loads") == "st4 | st4 | ld4 | ld4 | st4");
      CHECK(plans(arch, "load_matrix") == "ld16 | st16 | ld16 | st4");
      CHECK(plans(arch, "store_between") == "st4 | ld4 | st4 | ld4 | st4");
    }
    CHECK(plans("sm_90", "async_copy") == "ld16 | ld16 | st16");
  }

  TEST_CASE("sass: four neighbouring loads become one, wherever the instruction stands") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      // The front end puts the second word first.
      CHECK(plans(arch, "sum_quad") == "ld4 | st4 | ld16-4 | - | - | - | st4");
      CHECK(plans(arch, "sum_quad_loop") == "ld4 | st4 | ld16-4 | - | - | - | st4");
      CHECK(plans(arch, "store_quad") == "ld4 | - | - | - | st16-12 | ld4 | ld4 | st4");
      const auto& merged = compiled(arch).result.plans.at("sum_quad");
      CHECK(std::any_of(merged.begin(), merged.end(), [](const sim::AccessPlan& p) {
        return p.note.rfind("merged into the LDS.", 0) == 0;
      }));
    }
  }

  TEST_CASE("sass: a scalar-looking row sum is eight wide loads, a column sum is not") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      std::string rows, columns;
      for (int k = 0; k < 32; ++k) rows += "ld4 | st4 | ", columns += "ld4 | ";
      std::string wide;
      for (int k = 0; k < 8; ++k) wide += "ld16 | - | - | - | ";
      auto sorted = [](std::string text) {  // the front end reorders loads and stores
        std::multiset<std::string> words;
        size_t at = 0;
        while (at != std::string::npos) {
          const size_t bar = text.find(" | ", at);
          words.insert(text.substr(at, bar == std::string::npos ? bar : bar - at));
          at = bar == std::string::npos ? bar : bar + 3;
        }
        words.erase("");
        return words;
      };
      CHECK(sorted(plans(arch, "tile_row_sum")) == sorted(rows + wide + "st4"));
      CHECK(sorted(plans(arch, "tile_column_sum")) == sorted(rows + columns + "st4"));
      CHECK(sorted(plans(arch, "padded_row_sum")) == sorted(rows + columns + "st4"));
    }
  }

  TEST_CASE("sass: vectors that are read in part are reconciled") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      CHECK(plans(arch, "int4_ends") == "ld4, ld4+12 | st4");
      CHECK(plans(arch, "int4_low_half") == "ld8 | st4");
      CHECK(plans(arch, "int4_last") == "ld4 | st4");
      const std::string halves = plans(arch, "halves_in_a_loop");
      CHECK(halves ==
            "ld4+4, ld4+8 | ld4+4, ld4+8 | ld4+4, ld4+8 | ld4+4, ld4+8 | ld4+4, ld4+8 | st4");
    }
  }

  TEST_CASE("sass: two neighbours are merged, and two with a gap share a line") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      const std::string p = plans(arch, "reduce_interleaved");
      CHECK(p.rfind("ld4 | st4 | ld8 | - | st4 | ld4, ld4+8 | - | st4 | ld4 | ld4 | st4", 0) == 0);
    }
  }

  TEST_CASE("sass: integer atomics to one address are aggregated by warp") {
    for (const char* arch : {"sm_89", "sm_90"}) {
      CAPTURE(arch);
      CHECK(plans(arch, "count_uniform") == "ld4 | red4 leader");
      CHECK(plans(arch, "count_ones") == "ld4 | red4 leader");
      CHECK(plans(arch, "max_uniform") == "ld4 | red4 leader");
      CHECK(plans(arch, "or_uniform") == "ld4 | red4 leader");
      CHECK(plans(arch, "tickets") == "ld4 | atom4 leader | st4");
      CHECK(plans(arch, "leader_adds") == "ld4 | red4 leader");
      CHECK(plans(arch, "shared_sum") == "st4 | ld4 | atom4 leader | ld4 | st4");
    }
    CHECK(plans("sm_75", "count_uniform") == "ld4 | red4 full_leader");
    CHECK(plans("sm_75", "count_ones") == "ld4 | red4 leader");
    CHECK(plans("sm_75", "shared_sum") == "st4 | ld4 | atom4 full_leader | ld4 | st4");
    CHECK(plans("sm_75", "tickets") == "ld4 | atom4 leader | st4");
  }

  TEST_CASE("sass: other atomics are reconciled") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      CHECK(plans(arch, "add_float_uniform") == "ld4 | red4");
      CHECK(plans(arch, "add_double_uniform") == "ld8 | red8");
      CHECK(plans(arch, "histogram_global") == "ld1 | red4");
      CHECK(plans(arch, "exchange") == "atom4 | st4");
      CHECK(plans(arch, "exchange_unused") == "atom4");
      CHECK(plans(arch, "compare_swap") == "atom4 cas | st4");
      CHECK(plans(arch, "shared_compare_swap") == "st4 | atom4 cas | st4");
      CHECK(plans(arch, "shared_bins") == "st4 | ld4 | atom4 | ld4 | st4");
      CHECK(plans(arch, "shared_max") == "st4 | ld4 | atom4 | ld4 | st4");
      CHECK(plans(arch, "shared_float_add") == "st4 | ld4 | atom4 spin | ld4 | st4");
      CHECK(plans(arch, "shared_float_total") == "st4 | ld4 | atom4 spin | ld4 | st4");
      CHECK(plans(arch, "shared_double_add") == "st8 | ld8 | atom8 spin | ld8 | st8");
      CHECK(plans(arch, "shared_long_add") == "st8 | ld8 | atom8 spin | ld8 | st8");
      CHECK(plans(arch, "locked") == "atom4 cas | ld4 | st4 | atom4");
    }
    for (const char* arch : {"sm_89", "sm_90"}) {
      CHECK(plans(arch, "shared_count") == "st4 | ld4 | atom4 increment | ld4 | st4");
      CHECK(plans(arch, "histogram_shared") == "st4 | ld1 | atom4 increment | ld4 | red4");
    }
    CHECK(plans("sm_75", "shared_count") == "st4 | ld4 | atom4 leader | ld4 | st4");
    CHECK(plans("sm_75", "histogram_shared") == "st4 | ld1 | atom4 | ld4 | red4");
  }

  TEST_CASE("sass: generic and narrow atomics, fragments and constant branches are reconciled") {
    CHECK(plans("sm_90", "add_half") == "ld2 | atom4 narrow_cas_loop cas");
    CHECK(plans("sm_90", "add_halves") == "ld4 | atom4 in global, atom4 spin in shared");
    CHECK(plans("sm_90", "add_float_generic") == "ld4 | atom4 in global, atom4 spin in shared");
    CHECK(plans("sm_90", "pointer_walk").find('?') == std::string::npos);
    CHECK(plans("sm_90", "warp_matrix") ==
          "ld4, ld4, ld4, ld4 | ld4, ld4, ld4, ld4 | st8, st8, st8, st8");
  }

  TEST_CASE(
      "sass: plans of unrolled loops are valid while warps do not diverge at their branches") {
    for (const std::string& arch : kArchs) {
      for (const char* kernel :
           {"column_sum", "row_sum", "matrix_product", "softmax_row", "shared_run"}) {
        CAPTURE(arch);
        CAPTURE(kernel);
        const Compiled& c = compiled(arch);
        const ptx::Function* f = c.module.find_function(kernel);
        REQUIRE(f != nullptr);
        size_t conditional = 0;
        for (const sim::AccessPlan& plan : c.result.plans.at(kernel)) {
          conditional += !plan.if_uniform.empty();
          for (int32_t branch : plan.if_uniform) {
            const ptx::Instruction& in = f->body[static_cast<size_t>(branch)];
            CHECK(in.op->id == ptx::OpId::bra);
            CHECK(in.guard >= 0);
          }
        }
        CHECK(conditional > 0);
      }
      CHECK(plans(arch, "shuffled_turns") == "st4 | ld16 | - | - | - | ld4 | st4");
      for (const sim::AccessPlan& plan : compiled(arch).result.plans.at("stencil"))
        CHECK(plan.if_uniform.empty());
    }
  }

  TEST_CASE("sass: called functions have plans of their own, and spills are recognised") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      CHECK(plans(arch, "put") == "st4 | st4 | st4 | st4 | st4");
      CHECK(plans(arch, "calls_store") == "ld4");
      const auto& local = compiled(arch).result.local_lines;
      REQUIRE(local.count("spilling") == 1);
      CHECK(local.at("spilling").size() >= 2);
      CHECK(local.count("local_array") == 1);
      CHECK(local.count("put") == 0);
    }
  }
}

TEST_SUITE("sass: what does not fit") {
  // Removes each memory instruction in turn. No plan may continue as if it were there, unless the
  // PTX itself gives the reason.
  TEST_CASE("sass: a missing instruction is noticed" * kSlow) {
    for (const char* kernel :
         {"copy", "sum_quad", "store_quad", "tile_row_sum", "reduce_modulo", "branchy", "both_arms",
          "transpose_tile", "int4_ends", "scan_block", "count_uniform", "shared_float_add",
          "matrix_product", "async_copy", "load_matrix"}) {
      CAPTURE(kernel);
      const std::string before = plans("sm_90", kernel);
      const std::string section = section_of(compiled("sm_90").sass, kernel);
      size_t taken = 0;
      for (size_t at = 0; at < section.size();) {
        const size_t end = section.find('\n', at);
        const std::string line = section.substr(at, end - at);
        static const lab32::RegularExpression access(
            "\\b(LDG|STG|LDS|STS|REDG|ATOMS|LDSM|LDGSTS)\\b");
        if (access.search(line) && line.find("@!PT") == std::string::npos) {
          CAPTURE(line);
          const Compiled c =
              edited("sm_90", kernel, [&](std::string& s) { s.erase(at, end - at + 1); });
          const std::string after = text_of(c, kernel);
          CHECK(after != before);
          const bool doubted = after.find('?') != std::string::npos;
          bool reason = false;
          for (const sim::AccessPlan& p : c.result.plans.at(kernel))
            reason |= p.note.rfind("removed: ", 0) == 0;
          CHECK((doubted || reason));
          ++taken;
        }
        at = end + 1;
      }
      CHECK(taken > 0);
    }
  }

  TEST_CASE("sass: a width that no grouping explains is refused") {
    Compiled c =
        edited("sm_90", "sum_quad", [](std::string& s) { replace_first(s, "LDS.128", "LDS.64"); });
    CHECK(text_of(c, "sum_quad") == "ld4 | st4 | ? | ? | ? | ? | st4");
    const auto& plans = c.result.plans.at("sum_quad");
    const auto doubtful = std::find_if(plans.begin(), plans.end(), [](const sim::AccessPlan& p) {
      return p.unmatched.has_value();
    });
    CHECK(access_name(*doubtful->unmatched) == "shared load of 4 bytes");
    CHECK(describe(*doubtful->unmatched) ==
          "PTX has 4 such here, the machine code 1 (LDS.64): more "
          "than "
          "one way, or none, to group them");
    c = edited("sm_90", "copy", [](std::string& s) { replace_first(s, "LDG.E ", "LDG.E.128 "); });
    CHECK(text_of(c, "copy") == "? | st4");
    c = edited("sm_90", "copy", [](std::string& s) { replace_first(s, "STG.E ", "STS "); });
    CHECK(text_of(c, "copy") == "ld4 | ?");
    c = edited("sm_90", "shared_float_add",
               [](std::string& s) { replace_first(s, "ATOMS.CAST.SPIN ", "ATOMS.CAST.SPIN.64 "); });
    CHECK(text_of(c, "shared_float_add") == "st4 | ld4 | ? | ld4 | st4");
  }

  TEST_CASE("sass: a load that runs without its condition is not reconciled") {
    const Compiled c = edited("sm_90", "branchy", [](std::string& s) {
      // Without branches everything runs always.
      s = lab32::RegularExpression("[^\n]*@!?P[0-9] (BRA|EXIT)[^\n]*\n").replace(s, "");
    });
    CHECK(text_of(c, "branchy").find("?") != std::string::npos);
    const Compiled d = edited("sm_90", "copy", [](std::string& s) {
      s = lab32::RegularExpression("[^\n]*@!?P[0-9] EXIT[^\n]*\n").replace(s, "");
    });
    CHECK(text_of(d, "copy") == "? | ?");
  }

  TEST_CASE("sass: an election that does not guard the atomic is refused") {
    const Compiled c = edited("sm_90", "count_uniform",
                              [](std::string& s) { replace_first(s, "@P0 REDG", "REDG"); });
    CHECK(text_of(c, "count_uniform") == "ld4 | ?");
  }

  TEST_CASE("sass: an unexplained memory instruction makes its kernel doubtful") {
    const Compiled c = edited("sm_90", "copy", [](std::string& s) {
      const size_t last = s.rfind("EXIT");
      s.insert(s.rfind('\n', last) + 1, "        /*0fff*/ LDG.E R9, [R2.64] ;\n");
    });
    CHECK(text_of(c, "copy") == "? | ?");
  }

  TEST_CASE("sass: texture fetches and surface accesses are matched by their number") {
    for (const std::string& arch : kArchs) {
      CAPTURE(arch);
      CHECK(plans(arch, "fetch_two") == "ld4 | ld4 | st4");
      // The compiler has unrolled it, and ptxas does so again.
      CHECK(plans(arch, "fetch_rounds") == "ld4 | ld4 | ld4 | ld4 | ld4 | st4");
      CHECK(plans(arch, "through_surface") == "ld4 | ld4 | st4");
    }
    // One fetch is missing, and it may have been either of them.
    const Compiled c = edited("sm_90", "fetch_two", [](std::string& s) {
      const size_t at = s.rfind('\n', s.find("TLD"));
      s.erase(at, s.find('\n', at + 1) - at);
    });
    CHECK(text_of(c, "fetch_two") == "? | ? | st4");
  }

  TEST_CASE("sass: without a listing of the kernel all counts are PTX-level") {
    const Compiled& original = compiled("sm_90");
    const auto result = sass::reconcile(original.module, sass::parse_disassembly(""));
    for (const sim::AccessPlan& plan : result.plans.at("copy")) CHECK(plan.issues.empty());
    Compiled c;
    c.module = ptx::parse(original.module.text);
    c.sass = section_of(original.sass, "copy");
    c.result = sass::reconcile(c.module, sass::parse_disassembly(c.sass));
    CHECK(text_of(c, "copy") == "ld4 | st4");
    CHECK(text_of(c, "sum_quad") == "? | ? | ? | ? | ? | ? | ?");
  }

  TEST_CASE("sass: an access shared between iterations of an unrolled loop is not reconciled") {
    // One of the unrolled copies is missing, as if its value came from the previous iteration.
    const Compiled c = edited("sm_90", "column_sum", [](std::string& s) {
      const size_t at = s.find("LDG.E");
      const size_t from = s.rfind('\n', at) + 1;
      s.erase(from, s.find('\n', at) + 1 - from);
    });
    const std::string text = text_of(c, "column_sum");
    CHECK(text.find('?') != std::string::npos);
  }
}
