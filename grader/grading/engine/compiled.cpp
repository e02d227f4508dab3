#include "grading/engine/compiled.h"

#include <utility>
#include <vector>

#include "base/source_file.h"
#include "base/text.h"
#include "base/work_time.h"
#include "device/device.h"
#include "grading/engine/registry.h"
#include "grading/launch/given.h"
#include "toolchain/nvcc.h"

namespace lab32::grading {

toolchain::Artifact compiled(const std::string& lab, const toolchain::Submission& submission,
                             const std::string& arch, const std::string& display,
                             const std::string& more) {
  toolchain::CompileOptions options;
  options.behind = [&](const std::string& text) {
    return text_of_given(lab, SourceFile::of_text(text, display)) + more;
  };
  try {
    return toolchain::compile(submission, arch, display, options);
  } catch (const toolchain::CompileError& e) {
    throw toolchain::CompileError(display, in_students_terms(e.text, display));
  }
}

Compiling::Compiling(const std::string& lab, const std::filesystem::path& file,
                     const std::string& arch, Background::When when)
    : result_(std::make_shared<Compilation>()) {
  const auto compile = [lab, file, arch, result = result_] {
    const std::string display = visible_name(file.string());
    result->submission = toolchain::read_submission(file, display);
    const WorkTimer watch;
    result->artifact = compiled(lab, result->submission, arch, display);
    result->seconds = watch.passed();
  };
  work_ = Background(compile, when);
}

Compilation Compiling::get() {
  work_.get();
  return std::move(*result_);
}

Ptx ptx_of(const std::string& lab, const std::filesystem::path& file, const std::string& device) {
  labs_or_all({lab});
  const std::string arch = device::open_device(device)->arch(), display = lab + ".cu";
  try {
    return {true, compiled(lab, toolchain::read_submission(file, display), arch, display).ptx};
  } catch (const toolchain::CompileError& e) {
    return {false, e.what()};
  } catch (const toolchain::BadSubmission& e) {
    return {false, e.what()};
  }
}

}  // namespace lab32::grading
