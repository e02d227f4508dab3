#include "app/doctor.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/confine.h"
#include "base/error.h"
#include "base/layout.h"
#include "base/scratch.h"
#include "base/text.h"
#include "gpu/timer.h"
#include "toolchain/sandbox.h"
#include "toolchain/toolchain.h"

namespace lab32::device {
namespace {

namespace fs = std::filesystem;
using toolchain::Isolation;

constexpr int kWidth = 80, kNames = 14;

class Sheet {
 public:
  std::string text;

  void row(const std::string& name, const std::string& words) {
    std::string head = pad_right(name, kNames);
    for (const std::string& line : wrap(visible(words), kWidth - kNames)) {
      text += head + line + "\n";
      head = std::string(kNames, ' ');
    }
  }
  // What `describe` says, or that it is missing; whether it is there.
  template <class Describe>
  bool found(const std::string& name, Describe describe) {
    try {
      row(name, describe());
      return true;
    } catch (const Error& e) {
      row(name, std::string("missing: ") + e.what());
      return false;
    }
  }
};

std::string nvdisasm() {
  const fs::path& program = toolchain::installed().nvdisasm;
  if (program.empty())
    throw Error(
        "counters are those of the PTX, not of the machine code; `make grade` of a checkout, or "
        "pip "
        "install nvidia-cuda-nvdisasm, brings it");
  return program.string();
}

std::string scratch() {
  const Scratch probe;
  const double free = static_cast<double>(fs::space(probe.path).available);
  return fmt::format("{}, {:.1f} GB free", probe.path.parent_path().string(), free / 1e9);
}

const char* words(Isolation isolation) {
  switch (isolation) {
    case Isolation::bubblewrap:
      return "run in bubblewrap: they see their own files, labs/include and the submission, and "
             "have "
             "no network and no other processes";
    case Isolation::landlock:
      return "are closed off by Landlock: they can open their own files, labs/include and the "
             "submission, and no sockets";
    case Isolation::plain:
      break;
  }
  return "are not closed off: they could read what you can. What a submission includes is looked "
         "at, "
         "and nothing is shown of a file that is not its own";
}

void describe_isolation(Sheet& sheet) {
  const toolchain::IsolationProbe& probe = toolchain::isolation();
  sheet.row("compilers", words(probe.isolation));
  sheet.row("  bubblewrap", probe.isolation == Isolation::bubblewrap
                                ? "works"
                                : "cannot run here: " + probe.reason);
  const Confinable& kernel = confinable();
  sheet.row("  Landlock", kernel.landlock > 0
                              ? fmt::format("version {}", kernel.landlock)
                              : "this kernel has none: Linux 5.13 or later, with lsm=landlock");
  sheet.row("  seccomp", kernel.seccomp ? "works" : "this kernel has no filters");
  sheet.row("  limits", "time, memory, files and messages: always");
}

}  // namespace

Findings examine() {
  Sheet sheet;
  Findings findings;
  findings.can_grade = sheet.found("nvcc", [] { return toolchain::installed().nvcc.string(); });
  if (findings.can_grade) {
    sheet.row("gcc", toolchain::installed().host_compiler.string());
    sheet.found("nvdisasm", nvdisasm);
    describe_isolation(sheet);
  }
  findings.can_grade &= sheet.found("scratch", scratch);
  // Not missing: no check needs it.
  try {
    sheet.row("GPU", open_timer("gpu")->describe());
  } catch (const Error& e) {
    sheet.row("GPU", std::string("none, so timing checks are not run: ") + e.what());
  }
  sheet.text += findings.can_grade ? "lab32 can grade here.\n" : "lab32 cannot grade here.\n";
  findings.text = sheet.text;
  return findings;
}

}  // namespace lab32::device
