// `lab32 grade`, `ptx` and `calibrate`: results printed, written, kept, watched. Each gives its
// exit status.
#pragma once

#include <string>
#include <vector>

#include "grading/engine/runner.h"

namespace lab32::commands {

struct GradeCommand {
  std::string format = "text", output, json;  // -o, --json
  bool watches = false, keeps_history = false;
};

int grade(const GradeCommand& command, const grading::GradeOptions& options);

int show_ptx(const std::string& lab, const std::string& file, const std::string& device,
             const std::string& output);

int calibrate(const std::vector<std::string>& labs, const std::string& rubric,
              const std::string& output);

}  // namespace lab32::commands
