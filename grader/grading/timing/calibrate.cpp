#include "grading/timing/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/work.h"
#include "grading/engine/progress.h"
#include "grading/engine/registry.h"
#include "grading/engine/run_suite.h"
#include "grading/timing/reference_module.h"
#include "grading/words/words.h"
#include "toolchain/toolchain.h"

namespace lab32::grading {
namespace {

using report::CheckResult;
using report::LabResult;
using report::Status;

// Times do not depend on the seed. A fixed one gives two calibrations the same inputs.
constexpr uint64_t kSeed = 1;

// What a timing check has measured of the reference solution: a row of the table.
struct ReferenceTimingRow {
  std::string name, reaches, asked, remark;
  std::optional<double> copy, seconds, noise, room;
  enum class Kind { decided, undecided, not_asked, failed } kind = Kind::failed;
};

std::optional<double> figure_in_test(const CheckResult& test, const std::string& name) {
  const auto at = test.figures.find(name);
  if (at == test.figures.end()) return std::nullopt;
  return at->second;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The noise of the timing: how much two timings of the same kernel differ, with the uncertainty of
// their ratio.
std::optional<double> timing_noise(const CheckResult& test) {
  const auto ratio = figure_in_test(test, "against_reference"),
             low = figure_in_test(test, "against_reference_low"),
             high = figure_in_test(test, "against_reference_high");
  if (!ratio || !low || !high) return std::nullopt;
  return std::max(std::abs(*ratio - 1), (*high - *low) / 2);
}

ReferenceTimingRow reference_timing_row(const CheckResult& test) {
  ReferenceTimingRow row;
  row.name = test.name;
  row.copy = figure_in_test(test, "copy_seconds");
  row.seconds = figure_in_test(test, "reference_seconds");
  row.noise = timing_noise(test);
  if (test.status == Status::not_run && test.not_run &&
      test.not_run->kind == report::NotRunReason::Kind::no_such_step) {
    row.kind = ReferenceTimingRow::Kind::not_asked;
    row.reaches = fmt::format("{:.2f} x", test.not_run->gain);
    row.remark = fmt::format("not required: the solution gains less than {:.2f} x",
                             test.not_run->least_gain);
    return row;
  }
  const auto fraction = figure_in_test(test, "fraction"),
             gain = figure_in_test(test, "reference_gain");
  const auto asked = figure_in_test(test, fraction ? "fraction_expected" : "ratio_expected");
  const auto reaches = fraction ? fraction : gain;
  if (!reaches || !asked || !row.noise) {
    row.remark = "cannot be timed: " + first_line(test.message);
    return row;
  }
  const char* const unit = fraction ? "" : " x";
  row.reaches = fmt::format("{:.2f}{}", *reaches, unit);
  row.asked = fmt::format("{:.2f}{}", *asked, unit);
  row.room = *reaches / *asked - 1;
  const bool decided = test.status == Status::passed && *row.noise < *row.room;
  row.kind = decided ? ReferenceTimingRow::Kind::decided : ReferenceTimingRow::Kind::undecided;
  row.remark = decided ? "yes" : "no: the noise exceeds the margin";
  if (const auto baseline = figure_in_test(test, "baseline_seconds"))
    row.remark += fmt::format("; CUB {}", duration(*baseline));
  return row;
}

std::string time_text_or_empty(const std::optional<double>& seconds) {
  return seconds ? duration(*seconds) : "";
}
std::string percent_text_or_empty(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "";
}

struct CalibrationTableRowTexts {
  std::string name, copy, time, reaches, asked, noise, room, remark;
};

std::string table_line(const CalibrationTableRowTexts& c) {
  return fmt::format("{:<28} {:>8} {:>8}  {:>7} {:>8}  {:>6} {:>7}  {}\n", c.name, c.copy, c.time,
                     c.reaches, c.asked, c.noise, c.room, c.remark);
}

}  // namespace

LabResult time_reference_against_itself(const Rubric& rubric, GradingSetup setup,
                                        device::LoadedModule& module,
                                        const toolchain::CompiledArtifact& artifact) {
  setup.counts_as_passed = [](const RubricCheckEntry& row) { return !row.bonus; };
  const SourceFile source = SourceFile::from_text("", "the reference solution");
  GradingSession session{setup, module, source, rubric};
  session.time = {setup.timer, &artifact, &artifact};
  LabResult lab;
  lab.name = rubric.lab();
  run_suite(session, lab);
  return lab;
}

DecidableTimingChecks find_gpu_decidable_timing_checks(const std::vector<std::string>& labs,
                                                       const std::filesystem::path& rubric) {
  const WorkTimer watch;
  std::vector<Rubric> rubrics;
  for (const std::string& lab : labs_or_all(labs))
    rubrics.emplace_back(rubric.empty() ? rubric_folder(lab) : rubric, lab);
  toolchain::installed_toolchain();
  const std::unique_ptr<device::KernelTimingDevice> timer = device::open_gpu_timer("gpu");
  const std::unique_ptr<device::Device> device = device::open_device("sim");
  timer->start_background_preparation();
  ProgressReporter progress(true);
  DecidableTimingChecks calibration{timer->name(), timer->describe(), 0, {}};
  for (const Rubric& of_lab : rubrics) {
    const auto artifact = reference_artifact(of_lab.lab(), timer->arch());
    if (artifact) {
      const std::unique_ptr<device::LoadedModule> module = device->load(*artifact);
      calibration.labs.push_back(time_reference_against_itself(
          of_lab, {*device, kSeed, progress, timer.get()}, *module, *artifact));
    } else {
      LabResult none;
      none.name = of_lab.lab();
      none.status = Status::not_graded;
      none.message = "there is no reference solution for this card";
      calibration.labs.push_back(none);
    }
  }
  calibration.seconds = watch.wall_seconds();
  return calibration;
}

std::string text_of(const DecidableTimingChecks& calibration) {
  std::string text = fmt::format(
      "{}\n{}\n\n"
      "Each timing check, with the reference solution as the submission.\n"
      "reached   the solution's share of a copy's bandwidth, or its speed-up over the earlier "
      "version\n"
      "required  the same, for all points of the check\n"
      "noise     the difference between two timings of the same kernel in the same rounds\n"
      "margin    how far the solution is above the requirement\n"
      "decides   whether the check can decide on this card: the noise is smaller than the "
      "margin\n\n",
      calibration.card, calibration.about);
  const std::string head =
      table_line({"check", "copy", "time", "reached", "required", "noise", "margin", "decides"});
  const std::string rule = std::string(head.size() - 1, '-') + "\n";
  text += head + rule;
  size_t counts[4] = {};
  for (const LabResult& lab : calibration.labs) {
    text += lab.name + (lab.status == Status::not_graded ? ": " + lab.message : "") + "\n";
    for (const CheckResult& test : lab.tests) {
      const ReferenceTimingRow row = reference_timing_row(test);
      ++counts[static_cast<size_t>(row.kind)];
      text += table_line({"  " + row.name, time_text_or_empty(row.copy),
                          time_text_or_empty(row.seconds), row.reaches, row.asked,
                          percent_text_or_empty(row.noise), percent_text_or_empty(row.room),
                          row.remark});
    }
  }
  return text + rule +
         fmt::format(
             "{} can decide, {} cannot, {} are not required on this card, {} were not timed; "
             "{:.0f} s\n",
             counts[0], counts[1], counts[2], counts[3], calibration.seconds);
}

}  // namespace lab32::grading
