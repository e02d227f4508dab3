// Kernels that a lab's file marks as given belong to the grader: checks/<lab>/given.cu is compiled
// behind each submission, in a namespace of its own, and checks launch these. So nothing is won by
// emptying them, or by making them cheaper than they are.
#pragma once

#include <string>

#include "base/source_file.h"
#include "device/device.h"

namespace lab32::grading {

// What is compiled behind the submission `source` (toolchain::CompileOptions::behind); empty where
// the lab has no given.cu. Macros of the submission end before it. A kernel has the line numbers
// that it has in the submission, so that a table of it can be read there.
std::string text_of_given(const std::string& lab, const SourceFile& source);

// What the compiler says of it, where the submission has no such kernel and so no line of it: what
// is missing there, or does not fit, and which kernel of the grader's needs it. Each thing once.
std::string in_students_terms(const std::string& messages, const std::string& display);

// The name of a given kernel in a module; where that has none of the grader's, its own.
std::string given(const std::string& kernel, device::LoadedModule& module);
// Whether a module's kernel is one of the grader's.
bool is_given(const std::string& kernel);
// In that of the session.
std::string given(const std::string& kernel);

}  // namespace lab32::grading
