// `lab32 explain LAB [CHECK]`: pictures of what a check has seen.
#pragma once

#include <string>

#include "grading/engine/runner.h"
#include "pictures/shown.h"

namespace lab32::grading {

// Grades the one lab of `options`, looking as closely as its close_up says, and takes the check of
// that name, or whose name begins so; of several the one that has lost most. Without a name: that
// of the whole lab. Throws Error where there is nothing to be shown, and says why.
pictures::Shown explain(GradeOptions options, const std::string& check);

}  // namespace lab32::grading
