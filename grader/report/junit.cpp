// JUnit's XML as Jenkins, GitLab and other tools read it (the schema with which Jenkins checks it:
// https://github.com/jenkinsci/xunit-plugin, junit-10.xsd). The format has no points, so they are
// properties of a suite, and the first line of the output of a case.

#include <fmt/core.h>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

std::string escape_xml(const std::string& text) {
  std::string out;
  for (const char c : visible(text)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':  // readers turn a plain line end in an attribute into a blank
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The element for lost points: <failure>, <error> or <skipped>.
std::string outcome_element(const char* element, const std::string& kind,
                            const std::string& words) {
  return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element, kind,
                     escape_xml(first_line(words)), escape_xml(words));
}

std::string test_case_element(const LabResult& lab, const CheckResult& test) {
  const std::string words = reason_with_numbers(test);
  std::string out =
      fmt::format("    <testcase classname=\"lab32.{}\" name=\"{}\" time=\"{:.3f}\">\n",
                  escape_xml(lab.name), escape_xml(test.name), test.seconds);
  if (test.status == Status::not_run)
    out +=
        outcome_element("skipped", test.not_run ? to_string(test.not_run->kind) : "", test.message);
  else if (test.status == Status::failed)
    out += outcome_element("failure", test.failure ? to_string(test.failure->kind) : "", words);
  else if (test.status != Status::passed)
    out += outcome_element("error", to_string(test.status), words);
  const std::string place =
      test.line > 0 ? fmt::format("\n{}:{}", test.file, test.line) : std::string();
  return out + fmt::format("      <system-out>{}</system-out>\n    </testcase>\n",
                           escape_xml("points: " + points_text(test) + place));
}

struct JunitTestCounts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;

  void add_lab(const LabResult& lab) {
    for (const CheckResult& test : lab.tests) {
      ++tests;
      failures += test.status == Status::failed;
      skipped += test.status == Status::not_run;
      errors += test.status == Status::error;
      seconds += test.seconds;
    }
    if (!lab.tests.empty()) return;
    ++tests;  // the case that stands for the lab itself
    (lab.status == Status::not_graded ? skipped : errors) += 1;
  }
};

// The case of a lab without tests: it could not be loaded or not be graded.
std::string ungraded_lab_element(const LabResult& lab) {
  const char* element = lab.status == Status::not_graded ? "skipped" : "error";
  return fmt::format("    <testcase classname=\"lab32.{0}\" name=\"{0}\" time=\"0\">\n",
                     escape_xml(lab.name)) +
         outcome_element(element, to_string(lab.status), lab.message) + "    </testcase>\n";
}

std::string suite_element(const GradingResult& result, const LabResult& lab) {
  JunitTestCounts counts;
  counts.add_lab(lab);
  std::string out = fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n    <properties>\n",
      escape_xml(lab.name), counts.tests, counts.failures, counts.errors, counts.skipped,
      counts.seconds);
  const auto property = [&](const char* name, const std::string& value) {
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, escape_xml(value));
  };
  property("status", to_string(lab.status));
  property("score", format_points(lab.score));
  property("max_score", format_points(lab.max_score));
  property("device", result.device);
  property("seed", std::to_string(result.seed));
  out += "    </properties>\n";
  for (const CheckResult& test : lab.tests) out += test_case_element(lab, test);
  if (lab.tests.empty()) out += ungraded_lab_element(lab);
  if (!lab.message.empty())
    out += fmt::format("    <system-err>{}</system-err>\n", escape_xml(lab.message));
  return out + "  </testsuite>\n";
}

}  // namespace

std::string junit(const GradingResult& result) {
  JunitTestCounts counts;
  for (const LabResult& lab : result.labs) counts.add_lab(lab);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"lab32\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n",
      counts.tests, counts.failures, counts.errors, counts.seconds);
  for (const LabResult& lab : result.labs) out += suite_element(result, lab);
  return out + "</testsuites>\n";
}

}  // namespace lab32::report
