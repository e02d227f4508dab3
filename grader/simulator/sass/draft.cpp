#include "simulator/sass/draft.h"

namespace lab32::sass {
namespace {

std::optional<sim::AccessSpace> space_of(WindowSpace space) {
  switch (space) {
    case WindowSpace::global:
      return sim::AccessSpace::global;
    case WindowSpace::shared:
      return sim::AccessSpace::shared;
    case WindowSpace::local:
      return sim::AccessSpace::local;
    case WindowSpace::generic:
      break;
  }
  return std::nullopt;
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

void Draft::fail(size_t i, Reason reason, const std::string& seen) {
  sim::Unmatched why;
  why.reason = reason;
  why.seen = seen;
  fail(i, std::move(why));
}

void Draft::fail(size_t i, sim::Unmatched why) {
  if (work[i].failed) return;
  work[i].failed = true;
  why.kind = accesses[i].kind;
  why.space = space_of(accesses[i].space);
  why.bytes = static_cast<uint32_t>(accesses[i].bytes);
  plan(i).unmatched = std::move(why);
}

void Draft::issue_as_written(size_t i) {
  sim::IssuedAccess issue;
  issue.bytes = static_cast<uint8_t>(accesses[i].bytes);
  issue.kind = accesses[i].kind;
  plan(i).issues = {issue};
}

}  // namespace lab32::sass
