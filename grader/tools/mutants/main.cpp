// build/lab32_mutants LAB FIRST OTHER...: grades files that differ little from the first, and
// prints a line of JSON for each: its score and the checks that lost points.
// grader/tools/mutants/mutants.py makes the files.
#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/memory.h"
#include "tools/mutants/reused_checks.h"

namespace {

using nlohmann::json;
using namespace lab32;

// Any seed would do, if all files are graded with the same one.
constexpr uint64_t kSeed = 20;

json failed_check_messages(const report::LabResult& lab) {
  json lost = json::array();
  for (const report::CheckResult& test : lab.tests)
    if (!test.bonus && test.status != report::Status::passed)
      lost.push_back(test.name + ": " + test.message.substr(0, test.message.find('\n')));
  return lost;
}

void grade_and_print_all(const std::string& lab, const std::vector<std::string>& files) {
  mutants::CheckReusingGrader checks(lab, kSeed);
  for (const std::string& file : files) {
    const report::LabResult graded = checks.grade(file);
    const bool compiled = graded.status != report::Status::error;
    json row;
    row["file"] = file;
    row["compiled"] = compiled;
    row["same"] = compiled && checks.same_code();
    row["score"] = graded.score;
    row["max_score"] = graded.max_score;
    row["lost"] = failed_check_messages(graded);
    fmt::print("{}\n", row.dump(-1, ' ', false, json::error_handler_t::replace));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab32::make_malloc_keep_freed_memory();
  if (argc < 3) {
    fmt::print(stderr, "usage: lab32_mutants LAB FIRST OTHER...\n");
    return lab32::kNotGraded;
  }
  try {
    grade_and_print_all(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& e) {
    fmt::print(stderr, "lab32_mutants: {}\n", e.what());
    return lab32::kNotGraded;
  }
  return 0;
}
