#include "grading/launch/standard_checks.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "grading/engine/check.h"
#include "grading/engine/suite.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/words/describe.h"
#include "grading/words/words.h"
#include "pictures/make.h"
#include "report/history.h"

namespace lab32::grading {

std::vector<uint32_t> sizes_to_check(Check& check) {
  std::vector<uint32_t> values;
  for (double n : check.row.required_numbers("sizes")) values.push_back(static_cast<uint32_t>(n));
  Random random(seed_of_stream(check.session.setup.seed, check.row.check + " sizes"));
  for (uint32_t remainder = 0; remainder < 4; ++remainder)
    values.push_back(4 * random.below(1000) + 32 + remainder);
  values.push_back(20000 + random.below(20000));
  return values;
}

double relative_tolerance(Check& check) { return check.row.required_number("relative_tolerance"); }

void check_result(Check& check, const std::string& setting, int line, const std::string& mismatch) {
  check.expected("right");
  if (mismatch.empty()) return;
  check.measured("wrong, " + setting);
  CheckFailureReason failure{CheckFailureReason::Kind::wrong_result};
  failure.setting = setting;
  check.fail_and_throw(failure, line, prefix(setting) + mismatch);
}

void report_right_result(Check& check) {
  check.measured("right");
  check.expected("right");
}

void reduce_points_for_idle_threads(Check& check, const device::LaunchResult& run) {
  const double least = check.row.required_number("min_working_share");
  const double working = run.working_share.value_or(1),
               needed = run.needed_thread_share.value_or(1);
  const double share = std::min(working, needed);
  if (share >= least) return;
  CheckFailureReason failure{CheckFailureReason::Kind::wasteful};
  failure.measured = share;
  failure.expected = least;
  if (run.working_share) check.figure("working_share", working);
  check.credit_share(share / least, failure);
  check.explain(
      0, working < least
             ? fmt::format("On average {:.2g} % of all threads work while the busiest warp does; "
                           "the others wait or have exited. The check gives points only for work "
                           "that all threads share.",
                           100 * working)
             : fmt::format("The result depends on {:.2g} % of a block's threads: a block that "
                           "lacks the others leaves the same in memory. The check gives points "
                           "only for work that all threads share.",
                           100 * needed));
}

void credit_sectors(Check& check, const device::LaunchResult& run, double ideal,
                    const std::string& idea, const ExplainedLine& reason) {
  check.expected(grouped_digits(static_cast<uint64_t>(ideal)) + " sectors");
  const counters::Counters& c = counters_of(check, run, Counted::global);
  const uint64_t requests = c.global_requests();
  const uint64_t sectors = c.global_sectors();
  check.measured(grouped_digits(sectors) + " sectors");
  check.figure("requests", static_cast<double>(requests));
  check.figure("sectors", static_cast<double>(sectors));
  check.figure("ideal_sectors", ideal);
  check.credit(ideal, static_cast<double>(sectors));
  if (static_cast<double>(sectors) <= ideal) return;
  const ExplainedLine waste = reason.line > 0 ? reason : line_of_most_excess_sectors(check, run);
  if (waste.message.empty())
    check.explain(
        line_of_most_global_atomics(check, run),
        fmt::format("Each access is coalesced, but the task needs fewer than {} requests.",
                    grouped_digits(requests)));
  else
    check.explain(waste.line, waste.message);
  check.explain(0, idea);
}

device::LaunchResult launch_without_changing_report_row(
    Check& check, const std::function<device::LaunchResult()>& launch) {
  const std::string shown = check.verdict.measured, wanted = check.verdict.expected;
  const auto pictures = check.pictures;
  device::LaunchResult launched = launch();
  check.measured(shown);
  check.expected(wanted);
  // Keeps the pictures of the launch whose count is in the table, unless this launch is worse.
  const auto& now = check.pictures;
  if (pictures && !now->fault && !now->race &&
      pictures::time_weighted_access_waste(*now) <= pictures::time_weighted_access_waste(*pictures))
    check.pictures = pictures;
  return launched;
}

SecretSize secret_size(Check& check, uint32_t unit, uint32_t full,
                       const std::string& published_size_key) {
  Random random(seed_of_stream(check.session.setup.seed, check.row.check + " size"));
  const std::vector<double> range = check.row.required_numbers("drawn");
  const uint32_t least = static_cast<uint32_t>(range.at(0)) / unit,
                 most = static_cast<uint32_t>(range.at(1)) / unit;
  const uint32_t n = unit * (least + random.below(most - least + 1));
  return {n, (n + full) / check.row.required_number(published_size_key)};
}

void limit_credit_at_secret_size(Check& check, const std::string& where, const char* what,
                                 double limit, uint64_t got, const ExplainedLine& waste) {
  // A count that is nearly proportional to the size must not make points depend on the seed.
  constexpr double kSlack = 1.01;
  const double published = check.verdict.credit;
  check.limit_credit_to_share(kSlack * limit, static_cast<double>(got));
  if (check.verdict.credit == published) return;
  std::string message = fmt::format(
      "{} {} the kernel takes {} {}, where {} are enough: what does your file do differently "
      "there?{}",
      published == 1 ? "At the published size the count is right."
                     : "Elsewhere it costs more points.",
      where, grouped_digits(got), what, grouped_digits(static_cast<uint64_t>(limit)),
      waste.message.empty() ? "" : " " + waste.message);
  if (check.withheld.empty()) {
    check.measured(fmt::format("{} {}", grouped_digits(got), what));
    check.expected(fmt::format("{} {}", grouped_digits(static_cast<uint64_t>(limit)), what));
  }
  check.explain(waste.line, message_unless_withheld(check, std::move(message)));
}

void limit_credit_by_sectors(Check& check, const std::string& where, double limit,
                             const device::LaunchResult& run) {
  limit_credit_at_secret_size(check, where, "sectors", limit,
                              counters_of(check, run, Counted::global).global_sectors(),
                              line_of_most_excess_sectors(check, run));
}

void reduce_credit_above_sector_limit(Check& check, const device::LaunchResult& run, double most) {
  const counters::Counters& c = counters_of(check, run, Counted::global);
  const uint64_t sectors = c.global_sectors();
  check.figure("sectors", static_cast<double>(sectors));
  if (static_cast<double>(sectors) <= most) return;
  check.credit(most, static_cast<double>(sectors));
  const ExplainedLine waste = line_of_most_excess_sectors(check, run);
  check.explain(
      waste.line,
      fmt::format("The kernel moves {} sectors of device memory, where the task needs {}: "
                  "the check gives that share of the points.{}",
                  grouped_digits(sectors), grouped_digits(static_cast<uint64_t>(most)),
                  waste.message.empty() ? "" : " " + waste.message));
}

void credit_requests(Check& check, const device::LaunchResult& run, double ideal_sectors,
                     double ideal, int line) {
  reduce_points_for_idle_threads(check, run);
  credit_sectors(check, run, ideal_sectors,
                 "Fewer requests must not cost more sectors: neighbouring lanes should access "
                 "neighbouring bytes.");
  const counters::Counters& c = counters_of(check, run, Counted::global);
  const uint64_t requests = c.global_requests();
  check.measured(grouped_digits(requests) + " requests");
  check.expected(grouped_digits(static_cast<uint64_t>(ideal)) + " requests");
  check.figure("ideal_requests", ideal);
  check.credit(ideal, static_cast<double>(requests));
  if (static_cast<double>(requests) > ideal)
    check.explain(
        line,
        fmt::format("The kernel makes {} requests, where {} are enough: a lane moves {:.3g} "
                    "bytes per request, and a request can move up to 16 bytes per lane.",
                    grouped_digits(requests), grouped_digits(static_cast<uint64_t>(ideal)),
                    static_cast<double>(c.global_bytes) / 32 / static_cast<double>(requests)));
}

namespace {

constexpr uint64_t kBanks = 32, kBankBytes = 4;

std::string banks_of_lanes_text(const device::WorstAccess& access) {
  std::vector<int> active;
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) active.push_back(lane);
  std::string text;
  for (size_t i = 0; i < active.size(); ++i) {
    const bool last = i + 1 == active.size();
    if (i >= 3 && !last) continue;
    if (i > 0) text += i >= 3 && active.size() > 4 ? ", ..., " : ", ";
    const uint64_t word = access.address[active[i]] / kBankBytes;
    text += fmt::format("lane {} bank {} (word {})", active[i], word % kBanks, word);
  }
  return text;
}

}  // namespace

ExplainedLine line_of_most_excess_wavefronts(Check& check, const device::LaunchResult& run) {
  const std::string& own = check.session.source.display();
  ExplainedLine waste;
  uint64_t most = 0;
  const counters::Counters* counted = nullptr;
  for (const counters::LineCounters& line : run.lines) {
    const uint64_t excess =
        line.counters.shared_wavefronts() - line.counters.ideal_shared_wavefronts();
    if (line.file != own || excess <= most) continue;
    most = excess;
    waste.line = line.line;
    counted = &line.counters;
  }
  const device::WorstAccess* worst = nullptr;
  for (const device::WorstAccess& access : run.worst) {
    if (access.file != own || access.line != waste.line || !access.shared) continue;
    if (!worst || uint64_t{access.cost} * worst->ideal > uint64_t{worst->cost} * access.ideal)
      worst = &access;
  }
  if (counted && worst)
    waste.message = message_unless_withheld(
        check,
        fmt::format(
            "Warp {} of block {}: the {} of {} lane{}, {} byte{} each, take {} wavefronts where {} "
            "would "
            "do: {}.",
            worst->warp, worst->block, access_plural(*worst), __builtin_popcount(worst->mask),
            __builtin_popcount(worst->mask) == 1 ? "" : "s", worst->bytes,
            worst->bytes == 1 ? "" : "s", worst->cost, worst->ideal, banks_of_lanes_text(*worst)));
  return waste;
}

void credit_wavefronts(Check& check, const device::LaunchResult& run, double ideal,
                       const std::string& idea, const LineToShow& line_to_show) {
  check.expected(grouped_digits(static_cast<uint64_t>(ideal)) + " wavefronts");
  const counters::Counters& c = counters_of(check, run, Counted::shared);
  const uint64_t wavefronts = c.shared_wavefronts();
  const bool may_show = check.withheld.empty() || static_cast<double>(wavefronts) <= ideal;
  if (may_show) {
    check.measured(grouped_digits(wavefronts) + " wavefronts");
    check.figure("wavefronts", static_cast<double>(wavefronts));
    check.figure("conflicts", static_cast<double>(wavefronts - c.ideal_shared_wavefronts()));
  } else {
    check.withhold_count(check.withheld);
  }
  check.figure("shared_requests", static_cast<double>(c.shared_requests()));
  check.figure("ideal_wavefronts", ideal);
  reduce_points_for_idle_threads(check, run);
  check.credit(ideal, static_cast<double>(wavefronts));
  if (static_cast<double>(wavefronts) <= ideal) return;
  const ExplainedLine waste = line_of_most_excess_wavefronts(check, run);
  check.explain(line_to_show ? line_to_show(waste.line) : waste.line,
                waste.message.empty()
                    ? fmt::format("No access has a bank conflict, but the task needs fewer than {} "
                                  "wavefronts.",
                                  grouped_digits(wavefronts))
                    : waste.message);
  check.explain(0, idea);
}

void limit_credit_by_wavefronts(Check& check, const std::string& where, double limit,
                                const device::LaunchResult& run) {
  limit_credit_at_secret_size(check, where, "wavefronts", limit,
                              counters_of(check, run, Counted::shared).shared_wavefronts(),
                              line_of_most_excess_wavefronts(check, run));
}

void require_static_shared_at_most(Check& check, const std::string& kernel, double bytes) {
  const device::Kernel* found = check.session.module.find(kernel);
  if (!found) return;  // the launch will report it
  const uint32_t taken = found->info().static_shared;
  check.figure("shared_bytes", taken);
  check.figure("shared_limit", bytes);
  if (taken <= bytes) return;
  check.measured(grouped_digits(taken) + " bytes");
  check.expected("at most " + grouped_digits(static_cast<uint64_t>(bytes)));
  CheckFailureReason failure{CheckFailureReason::Kind::shared_memory, "", kernel};
  failure.measured = taken;
  failure.expected = bytes;
  check.fail_and_throw(failure, check.line_of(kernel.substr(0, kernel.find('<'))));
}

// ---- questions ----

std::optional<float> submitted_answer(Check& check, const std::string& question) {
  const auto bytes = check.session.module.initial_constant("lab32_answer_" + question);
  if (!bytes || bytes->size() != sizeof(float)) return std::nullopt;
  float value;
  std::memcpy(&value, bytes->data(), sizeof(value));
  return value;
}

std::string answer_text_in_source(Check& check, const std::string& question, float given) {
  const RegularExpression answer("LAB32_ANSWER\\( *" + question + " *, *(.*[^ ]) *\\) *;");
  const auto found = answer.search(check.session.source.text_of(check.line_of(question)));
  return found ? found->at(1) : show(given);
}

namespace {

bool is_right_answer(const RubricAnswerKey& question, double given) {
  if (question.options.empty()) return question.answer.equals_number(given);
  const auto [least, most] = std::minmax_element(question.options.begin(), question.options.end());
  return given >= *least / 2 && given <= *most * 2 &&
         question.answer.equals_number(nearest_option_by_ratio(given, question.options));
}

const std::string& hint_for_answer(const RubricAnswerKey& question, float given) {
  for (const auto& [answer, hint] : question.hints)
    if (static_cast<float>(answer) == given) return hint;
  return question.hint;
}

}  // namespace

bool are_answers_of_check_right(Check& check, const std::string& name) {
  for (const RubricCheckEntry& row : check.session.rubric.rows()) {
    if (row.check != name || !row.asks()) continue;
    for (const RubricAnswerKey& asked : row.questions()) {
      const std::optional<float> given = submitted_answer(check, asked.name);
      if (!given || !is_right_answer(asked, *given)) return false;
    }
  }
  return true;
}

bool judge_answers(Check& check) {
  size_t correct = 0, asked = 0;
  std::vector<std::string> open;
  for (const RubricAnswerKey& question : check.row.questions()) {
    ++asked;
    const int line = check.line_of(question.name);
    const std::optional<float> given = submitted_answer(check, question.name);
    if (given && *given >= 0) check.figure(report::kPrediction + question.name, *given);
    if (!given)
      check.explain(0, fmt::format("{0}: the file has no LAB32_ANSWER({0}, ...).", question.name));
    else if (std::isnan(*given) || *given < 0)
      open.push_back(fmt::format("{} (line {})", question.name, line));
    else if (!is_right_answer(question, *given))
      check.explain(
          line, fmt::format("It is not {}. {}", answer_text_in_source(check, question.name, *given),
                            hint_for_answer(question, *given)));
    else {
      ++correct;
      check.figure(question.name, *given);  // for a lab's own pictures
    }
  }
  if (!open.empty()) check.explain(0, fmt::format("Not answered yet: {}.", fmt::join(open, ", ")));
  check.measured(fmt::format("{} of {} right", correct, asked));
  check.expected("all right");
  check.figure("questions", static_cast<double>(asked));
  check.figure("right", static_cast<double>(correct));
  if (correct == asked) return true;
  CheckFailureReason failure{CheckFailureReason::Kind::wrong_answer};
  failure.measured = static_cast<double>(correct);
  failure.expected = static_cast<double>(asked);
  check.mark_as_failed(failure);
  return false;
}

}  // namespace lab32::grading
