// CSV with a row per check, for spreadsheets and pandas (RFC 4180: lines end with CR LF, and
// quotation marks are doubled).

#include <fmt/core.h>

#include <cstring>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

std::string csv_quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// A cell with foreign text. Spreadsheets take a field that begins with certain characters for a
// formula.
std::string csv_cell(const std::string& foreign) {
  const std::string shown = visible(foreign);
  return csv_quoted(!shown.empty() && std::strchr("=+-@\t", shown[0]) ? "'" + shown : shown);
}

}  // namespace

std::string csv(const GradingResult& result) {
  std::string out =
      "lab,check,status,bonus,score,max_score,measured,expected,file,line,seconds,message\r\n";
  for (const LabResult& lab : result.labs) {
    for (const CheckResult& test : lab.tests)
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.3f},{}\r\n", csv_cell(lab.name),
                         csv_cell(test.name), to_string(test.status), test.bonus,
                         format_points(test.score), format_points(test.max_score),
                         csv_cell(test.measured), csv_cell(test.expected), csv_cell(test.file),
                         test.line, test.seconds, csv_cell(test.message));
    // A lab without checks gets a row of its own, so that it is not missed.
    if (lab.tests.empty())
      out += fmt::format("{},,{},false,{},{},,,,0,0.000,{}\r\n", csv_cell(lab.name),
                         to_string(lab.status), format_points(lab.score),
                         format_points(lab.max_score), csv_cell(lab.message));
  }
  return out;
}

}  // namespace lab32::report
