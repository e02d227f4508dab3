// `lab32 grade --watch`: grades a lab each time that its file is saved.
#pragma once

#include <functional>
#include <string>

#include "grading/engine/runner.h"
#include "report/result.h"

namespace lab32::grading {

// Grades all, and then for ever what is saved. `show` is given each result and what is otherwise
// than before (report/changes.h), nothing at first. `complain` is told why a lab could not be
// graded, which ends nothing. All gradings have the first one's seed. Throws what the first throws.
[[noreturn]] void watch(
    GradeOptions options,
    const std::function<void(const report::Result&, const std::string& changes)>& show,
    const std::function<void(const std::string&)>& complain);

}  // namespace lab32::grading
