#include "labs/rule.h"

#include <fmt/core.h>

#include "base/error.h"
#include "labs/describe.h"
#include "labs/launch.h"
#include "labs/session.h"
#include "labs/verdict.h"

namespace lab32::labs {

Rule::Rule(const std::string& table) : table_(table) {
  if (number("points") != session().points)
    throw Error(fmt::format("`{}` is worth {} points in its suite and {} in data/limits; the two "
                            "must agree",
                            session().test, session().points, number("points")));
}

double Rule::number(const std::string& key) const {
  return session().limits.number(table_ + "." + key);
}

std::vector<double> Rule::numbers(const std::string& key) const {
  return session().limits.numbers(table_ + "." + key);
}

void Rule::after(const std::string& name) const {
  if (session().passed[name]) return;
  measured("not counted");
  lose(0, fmt::format("Counts once the result is right: see `{}`.", name));
}

std::vector<uint32_t> sizes() {
  std::vector<uint32_t> values;
  for (double n : session().limits.numbers("sizes")) values.push_back(static_cast<uint32_t>(n));
  return values;
}

double relative_tolerance() { return session().limits.number("relative_tolerance"); }

void check_result(const std::string& setting, int line, const std::string& mismatch) {
  wanted("right");
  if (mismatch.empty()) return;
  measured("wrong, " + setting);
  lose(line, prefix(setting) + mismatch);
}

void right_result() {
  measured("right");
  wanted("right");
}

void credit_sectors(const device::Run& run, double ideal, const std::string& idea) {
  wanted(grouped(static_cast<uint64_t>(ideal)) + " sectors");
  const observe::Counters& c = counters_of(run);
  const uint64_t requests = c.load.requests + c.store.requests + c.red.requests + c.atom.requests;
  const uint64_t sectors = c.load.sectors + c.store.sectors + c.red.sectors + c.atom.sectors;
  measured(grouped(sectors) + " sectors");
  figure("requests", static_cast<double>(requests));
  figure("sectors", static_cast<double>(sectors));
  figure("ideal_sectors", ideal);
  credit(ideal, static_cast<double>(sectors));
  if (static_cast<double>(sectors) <= ideal) return;
  const Waste waste = worst_global(run);
  explain(waste.line, waste.message.empty()
                          ? fmt::format("Each access is coalesced, but {} requests are more than "
                                        "the task needs.",
                                        grouped(requests))
                          : waste.message);
  explain(0, idea);
}

}  // namespace lab32::labs
