#include "sass/draft.h"

namespace lab32::sass {
namespace {

using sim::AccessKind;

const char* space_word(Space space) {
  switch (space) {
    case Space::global:
      return "global ";
    case Space::shared:
      return "shared ";
    case Space::local:
      return "local ";
    case Space::generic:
      break;
  }
  return "";
}

std::string name_of(const PtxAccess& a) {
  const char* kind = a.kind == AccessKind::load    ? "load"
                     : a.kind == AccessKind::store ? "store"
                     : a.kind == AccessKind::red   ? "reduction"
                                                   : "atomic";
  return std::string(space_word(a.space)) + kind + " of " + std::to_string(a.bytes) + " bytes";
}

}  // namespace

Draft::Draft(const ptx::Module& m, const PtxFunction& f, const Sites& s)
    : module(m), function(f), sites(s), accesses(f.accesses()) {
  work.resize(accesses.size());
  plans.resize(f.function().body.size());
}

const ptx::Instruction& Draft::instruction(size_t i) const {
  return function.function().body[static_cast<size_t>(accesses[i].index)];
}

std::string Draft::where(size_t i) const {
  const auto position = module.position(instruction(i).loc);
  if (position) return "line " + std::to_string(position->line);
  return "PTX line " + std::to_string(instruction(i).ptx_line);
}

void Draft::fail(size_t i, const std::string& why) {
  if (work[i].failed) return;
  work[i].failed = true;
  plan(i).note = where(i) + ": " + name_of(accesses[i]) + ": " + why;
}

void Draft::issue_as_written(size_t i) {
  sim::Issue issue;
  issue.bytes = static_cast<uint8_t>(accesses[i].bytes);
  issue.kind = accesses[i].kind;
  plan(i).issues = {issue};
}

}  // namespace lab32::sass
