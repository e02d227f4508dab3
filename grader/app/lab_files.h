// Which files `lab32 grade` and `lab32 explain` work on: the folder labs/ of this folder or of one
// above it, files that the command line names, and the files of a student's hand-in.
#pragma once

#include <string>

#include "grading/engine/runner.h"

namespace lab32::commands {

// The folder of LAB/LAB.cu if --dir names none: labs/ of this folder, or of the nearest folder
// above it whose labs/ has a lab.
std::string labs_folder();

// Replaces the words of `options.labs` that name a file or a folder of a lab by the lab, and enters
// their files. Throws Error for a file that does not exist or whose name tells no lab.
void take_named_files(grading::GradeOptions& options);

// Enters the files of labs that `options.dir` has elsewhere than in LAB/LAB.cu, as
// lab32/classroom/chooser.py chooses them, and says on standard error which these are.
void choose_files(grading::GradeOptions& options);

}  // namespace lab32::commands
