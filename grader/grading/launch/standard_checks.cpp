#include "grading/launch/standard_checks.h"

#include <fmt/core.h>

#include "base/random.h"
#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/launch.h"
#include "grading/words/describe.h"
#include "grading/words/words.h"
#include "pictures/make.h"

namespace lab32::grading {

std::vector<uint32_t> sizes() {
  std::vector<uint32_t> values;
  for (double n : rubric().numbers("sizes")) values.push_back(static_cast<uint32_t>(n));
  Random random(stream_of(session().seed, rubric().check + " sizes"));
  for (uint32_t remainder = 0; remainder < 4; ++remainder)
    values.push_back(4 * random.below(1000) + 32 + remainder);
  values.push_back(20000 + random.below(20000));
  return values;
}

double relative_tolerance() { return rubric().number("relative_tolerance"); }

void check_result(const std::string& setting, int line, const std::string& mismatch) {
  expected("right");
  if (mismatch.empty()) return;
  measured("wrong, " + setting);
  Failure failure{Failure::Kind::wrong_result};
  failure.setting = setting;
  lose(failure, line, prefix(setting) + mismatch);
}

void right_result() {
  measured("right");
  expected("right");
}

void credit_work(const device::Run& run) {
  const double least = rubric().number("threads_at_work");
  if (!run.threads_at_work || *run.threads_at_work >= least) return;
  Failure failure{Failure::Kind::wasteful};
  failure.measured = *run.threads_at_work;
  failure.expected = least;
  figure("threads_at_work", *run.threads_at_work);
  credit_share(*run.threads_at_work / least, failure);
  explain(0, fmt::format("While the busiest warp works, {:.2g} % of all threads do, one with "
                         "another; the others wait or have left. Points are for work that all "
                         "threads share.",
                         100 * *run.threads_at_work));
}

void credit_sectors(const device::Run& run, double ideal, const std::string& idea) {
  expected(grouped(static_cast<uint64_t>(ideal)) + " sectors");
  const counters::Counters& c = counters_of(run, Counted::global);
  const uint64_t requests = c.global_requests();
  const uint64_t sectors = c.global_sectors();
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

device::Run launch_beside(const std::function<device::Run()>& launch) {
  const std::string shown = verdict().measured, wanted = verdict().expected;
  const auto pictures = session().pictures;
  device::Run launched = launch();
  measured(shown);
  expected(wanted);
  // The launch that the count is of is drawn, unless this one is worse.
  const auto& now = session().pictures;
  if (pictures && !now->fault && !now->race && pictures::waste(*now) <= pictures::waste(*pictures))
    session().pictures = pictures;
  return launched;
}

DrawnSize drawn_size(uint32_t unit, uint32_t full, const std::string& key) {
  Random random(stream_of(session().seed, rubric().check + " size"));
  const std::vector<double> range = rubric().numbers("drawn");
  const uint32_t least = static_cast<uint32_t>(range.at(0)) / unit,
                 most = static_cast<uint32_t>(range.at(1)) / unit;
  const uint32_t n = unit * (least + random.below(most - least + 1));
  return {n, (n + full) / rubric().number(key)};
}

void hold_elsewhere(const std::string& where, const char* what, double limit, uint64_t got,
                    const Waste& waste) {
  if (verdict().credit < 1 || static_cast<double>(got) <= limit) return;
  credit(limit, static_cast<double>(got));
  measured(fmt::format("{} {}", grouped(got), what));
  expected(fmt::format("{} {}", grouped(static_cast<uint64_t>(limit)), what));
  explain(waste.line,
          fmt::format("At the size that is published all is well. {} there are {} {}, where {} are "
                      "plenty: what else does your file do there?{}",
                      where, grouped(got), what, grouped(static_cast<uint64_t>(limit)),
                      waste.message.empty() ? "" : " " + waste.message));
}

void hold_sectors(const std::string& where, double limit, const device::Run& run) {
  hold_elsewhere(where, "sectors", limit, counters_of(run, Counted::global).global_sectors(),
                 worst_global(run));
}

void credit_most_sectors(const device::Run& run, double most) {
  const counters::Counters& c = counters_of(run, Counted::global);
  const uint64_t sectors = c.global_sectors();
  figure("sectors", static_cast<double>(sectors));
  if (static_cast<double>(sectors) <= most) return;
  credit(most, static_cast<double>(sectors));
  const Waste waste = worst_global(run);
  explain(
      waste.line,
      fmt::format("{} sectors of device memory, where {} are plenty for the task: the points are "
                  "shared out accordingly.{}",
                  grouped(sectors), grouped(static_cast<uint64_t>(most)),
                  waste.message.empty() ? "" : " " + waste.message));
}

void credit_requests(const device::Run& run, double ideal_sectors, double ideal, int line) {
  credit_work(run);
  credit_sectors(run, ideal_sectors,
                 "Fewer requests must not cost more sectors: keep neighbouring lanes together.");
  const counters::Counters& c = counters_of(run, Counted::global);
  const uint64_t requests = c.global_requests();
  measured(grouped(requests) + " requests");
  expected(grouped(static_cast<uint64_t>(ideal)) + " requests");
  figure("ideal_requests", ideal);
  credit(ideal, static_cast<double>(requests));
  if (static_cast<double>(requests) > ideal)
    explain(line,
            fmt::format("{} requests for what {} could carry: a lane moves {:.3g} bytes per "
                        "request, and a request can carry 16 per lane.",
                        grouped(requests), grouped(static_cast<uint64_t>(ideal)),
                        static_cast<double>(c.global_bytes) / 32 / static_cast<double>(requests)));
}

}  // namespace lab32::grading
