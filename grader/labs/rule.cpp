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
    throw Error(
        fmt::format("`{}` is worth {} points in its suite and {} in data/limits; the two "
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
  const std::string result = ": result";
  const bool of_result = name.size() > result.size() &&
                         name.compare(name.size() - result.size(), result.size(), result) == 0;
  lose(0, fmt::format("Counts once {}: see `{}`.",
                      of_result ? "the result is right" : "nothing is lost there", name));
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
  const observe::Counters& c = counters_of(run, Counted::global);
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

void credit_requests(const device::Run& run, double ideal_sectors, double ideal, int line) {
  credit_sectors(run, ideal_sectors,
                 "Fewer requests must not cost more sectors: keep neighbouring lanes together.");
  const observe::Counters& c = counters_of(run, Counted::global);
  const uint64_t requests = c.load.requests + c.store.requests;
  measured(grouped(requests) + " requests");
  wanted(grouped(static_cast<uint64_t>(ideal)) + " requests");
  figure("ideal_requests", ideal);
  credit(ideal, static_cast<double>(requests));
  if (static_cast<double>(requests) > ideal)
    explain(line,
            fmt::format("{} requests for what {} could carry: a lane moves {:.3g} bytes a "
                        "request, and a request can carry 16 a lane.",
                        grouped(requests), grouped(static_cast<uint64_t>(ideal)),
                        static_cast<double>(c.global_bytes) / 32 / static_cast<double>(requests)));
}

}  // namespace lab32::labs
