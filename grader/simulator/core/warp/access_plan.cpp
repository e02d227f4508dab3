#include "simulator/core/warp/access_plan.h"

#include <fmt/format.h>

namespace lab32::sim {

namespace {

const char* name_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::red:
      return "reduction";
    case AccessKind::atom:
      break;
  }
  return "atomic";
}

const char* space_word_with_blank(std::optional<AccessSpace> space) {
  if (!space) return "";
  return *space == AccessSpace::global   ? "global "
         : *space == AccessSpace::shared ? "shared "
                                         : "local ";
}

std::string describe_access_count_mismatch(const AccessWithoutSassMatch& u, const char* why) {
  return fmt::format("PTX has {} such here, the machine code {} ({}): {}", u.in_ptx,
                     u.in_machine_code, u.seen, why);
}

}  // namespace

const char* to_string(AccessWithoutSassMatch::Reason reason) {
  return kUnmatchedReasons[static_cast<size_t>(reason)];
}

std::string access_name(const AccessWithoutSassMatch& u) {
  if (u.bytes == 0) return "";
  return fmt::format("{}{} of {} bytes", space_word_with_blank(u.space), name_of(u.kind), u.bytes);
}

std::string source_or_ptx_line(int line, int ptx_line) {
  return line > 0 ? fmt::format("line {}", line) : fmt::format("PTX line {}", ptx_line);
}

std::string describe(const AccessWithoutSassMatch& u) {
  using Reason = AccessWithoutSassMatch::Reason;
  switch (u.reason) {
    case Reason::no_machine_code:
      return "there is no machine code";
    case Reason::uncounted:
      return "how the hardware counts this instruction is not known here";
    case Reason::not_listed:
      return "its machine code is not in the listing";
    case Reason::unexplained_instruction:
      return fmt::format("the machine code has {} that no access of the PTX explains", u.seen);
    case Reason::unknown_atomic:
      return fmt::format("the machine code has {}: this form is not known", u.seen);
    case Reason::other_instruction:
      return fmt::format("the machine code has {} in its place", u.seen);
    case Reason::other_width:
      return "issued as " + u.seen;
    case Reason::no_instruction:
      return "no machine instruction corresponds to it";
    case Reason::like_one_without:
      return source_or_ptx_line(u.line, u.ptx_line) +
             " has the same kind of access and no machine instruction either";
    case Reason::copies_differ:
      return describe_access_count_mismatch(u, "its instructions differ from copy to copy");
    case Reason::no_single_grouping:
      return describe_access_count_mismatch(u, "more than one way, or none, to group them");
    case Reason::jump_table:
      return "the kernel jumps through a table, so its loops are not known";
    case Reason::other_loop:
      return "the machine code has it in another loop";
    case Reason::moved_out_of_loop:
      return "ptxas moved it out of a loop";
    case Reason::condition_dropped:
      return "it runs without the condition that the PTX puts before it";
    case Reason::duplicated:
      return "ptxas duplicated the code around it";
    case Reason::shared_by_iterations:
      return "ptxas unrolled a loop and shares accesses between its iterations";
    case Reason::diverged:
      return "lanes of a warp left the unrolled loop at different times";
    case Reason::estimated:
      return "its 16-byte pieces are not in pairs: their wavefronts are an estimate";
  }
  return "";
}

}  // namespace lab32::sim
