#include "grading/words/words.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace lab32::grading {

namespace {

using report::CheckFailureReason;
using report::NotRunReason;

std::string model_prediction_without_gpu_text(const NotRunReason& reason) {
  const NotRunReason::ModelledTime& m = *reason.modelled;
  if (m.seconds_before)
    return fmt::format("No GPU here. For n = {} the model predicts {} for {} and {} for your {}.",
                       grouped_digits(m.n), duration(*m.seconds_before), m.before,
                       duration(m.seconds), m.kernel);
  if (m.copy_seconds)
    return fmt::format(
        "No GPU here. For n = {1} on {0} the model predicts {2} for your kernel "
        "and {3} for a copy of as many bytes: {4:.2f}, expected {5:.2f}; {6}. "
        "The mean error of such predictions is {7:.0f} %.",
        reason.device, grouped_digits(m.n), duration(m.seconds), duration(*m.copy_seconds),
        *m.copy_seconds / m.seconds, *m.fraction, m.bottleneck, 100 * m.error);
  return fmt::format(
      "The check needs a GPU, and this machine has none. For n = {} the model "
      "predicts {} (with a mean error of {:.0f} %) on {}{}.",
      grouped_digits(m.n), duration(m.seconds), 100 * m.error, reason.device,
      m.bottleneck.empty() ? "" : ", " + m.bottleneck);
}

}  // namespace

std::string duration(double seconds) {
  const double us = seconds * 1e6, ms = seconds * 1e3;
  if (us < 1000) return fmt::format("{:.{}f} µs", us, us < 100 ? 1 : 0);
  return fmt::format("{:.{}f} ms", ms, ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

std::string quantity(int64_t number, const std::string& noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string prefix(const std::string& setting) { return setting.empty() ? "" : setting + ": "; }

std::string words(const NotRunReason& reason) {
  switch (reason.kind) {
    case NotRunReason::Kind::no_gpu:
      return reason.modelled ? model_prediction_without_gpu_text(reason)
                             : "The check needs a GPU, and this machine has none.";
    case NotRunReason::Kind::no_counters:
      return "The device `" + reason.device + "` does not count sectors.";
    case NotRunReason::Kind::no_reference:
      return fmt::format(
          "The grader cannot tell how much faster this step is on {}: the "
          "reference solution is missing, or needs a newer GPU.",
          reason.device);
    case NotRunReason::Kind::no_such_step:
      return fmt::format(
          "This step is not timed on {}: it makes the reference solution, timed "
          "just now, only {:.2f} times as fast, and the check needs {:.2f}.",
          reason.device, reason.gain, reason.least_gain);
    case NotRunReason::Kind::hidden:
      return "The course shows the result of this check after the deadline.";
  }
  return "";
}

std::string words(const CheckFailureReason& failure) {
  switch (failure.kind) {
    case CheckFailureReason::Kind::changed_input:
      return fmt::format("{}the kernel has changed {}[{}], which it may only read.",
                         prefix(failure.setting), failure.subject, failure.index.value_or(0));
    case CheckFailureReason::Kind::prerequisite:
      return fmt::format("This check counts once {}: see `{}`.", failure.detail, failure.subject);
    case CheckFailureReason::Kind::shared_memory:
      return fmt::format(
          "A block of {} declares {} bytes of shared memory, but the task allows "
          "{}: the more a block takes, the fewer blocks fit on a multiprocessor.",
          failure.subject, grouped_digits(static_cast<uint64_t>(failure.measured.value_or(0))),
          grouped_digits(static_cast<uint64_t>(failure.expected.value_or(0))));
    case CheckFailureReason::Kind::time_limit:
      return fmt::format("Not run: the lab's time is used up ({:g} s, --time-limit).",
                         failure.expected.value_or(0));
    default:
      return "";
  }
}

namespace {

constexpr size_t kMostLines = 10, kMostBytes = 200;  // per line

std::string printable_line(const std::string& line) {
  std::string text;
  for (const char c : line.substr(0, kMostBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      text += c;
    else
      text += fmt::format("\\x{:02x}", byte);
  }
  return line.size() > kMostBytes ? text + " ..." : text;
}

}  // namespace

std::string printf_output_text(const std::string& setting, const std::string& output) {
  if (output.empty()) return "";
  std::string text =
      setting.empty() ? "The kernel printed:" : "The kernel printed, " + setting + ":";
  size_t lines = 0;
  for (size_t begin = 0; begin < output.size(); ++lines) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    if (lines < kMostLines) text += "\n    " + printable_line(output.substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines > kMostLines) text += fmt::format("\n    and {} more lines", lines - kMostLines);
  return text;
}

}  // namespace lab32::grading
