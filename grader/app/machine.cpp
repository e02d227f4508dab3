// `lab32 doctor` and `lab32 devices`: whether this machine has everything that grading needs, and
// which devices it has.

#include <fmt/format.h>

#include <filesystem>

#include "app/command.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "device/device.h"
#include "gpu/timer.h"
#include "simulator/timing/profile.h"
#include "toolchain/sandbox.h"
#include "toolchain/toolchain.h"

namespace lab32::commands {
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
  // Prints the result of `describe`, or that the part is missing. Returns whether it is there.
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
  const ConfinementSupport& kernel = confinement_support();
  sheet.row("  Landlock", kernel.landlock > 0
                              ? fmt::format("version {}", kernel.landlock)
                              : "this kernel has none: Linux 5.13 or later, with lsm=landlock");
  sheet.row("  seccomp", kernel.seccomp ? "works" : "this kernel has no filters");
  sheet.row("  limits", "time, memory, files and messages: always");
}

int examine() {
  Sheet sheet;
  bool can_grade = sheet.found("nvcc", [] { return toolchain::installed().nvcc.string(); });
  if (can_grade) {
    sheet.row("gcc", toolchain::installed().host_compiler.string());
    sheet.found("nvdisasm", nvdisasm);
    describe_isolation(sheet);
  }
  can_grade &= sheet.found("scratch", scratch);
  // Never reported as missing, since no check needs it.
  try {
    sheet.row("GPU", device::open_timer("gpu")->describe());
  } catch (const Error& e) {
    sheet.row("GPU", std::string("none, so timing checks are not run: ") + e.what());
  }
  sheet.text += can_grade ? "lab32 can grade here.\n" : "lab32 cannot grade here.\n";
  print(sheet.text);
  return can_grade ? kFullMarks : kNotGraded;
}

// `describe` may throw Error.
template <class Describe>
void list_device(const std::string& name, Describe describe) {
  try {
    fmt::print("{:<12} {}\n", name, describe());
  } catch (const Error& e) {
    fmt::print("{:<12} not here: {}\n", name, e.what());
  }
}

int list_devices() {
  const std::string usual = device::open_device("sim")->name();
  for (const std::string& id : model::profile_ids()) {
    const std::string name = "sim:" + id;
    list_device(name, [&] {
      return device::open_device(name)->describe() + (name == usual ? ", what sim is" : "");
    });
  }
  list_device("gpu", [] { return device::open_timer("gpu")->describe(); });
  return kFullMarks;
}

}  // namespace

Command doctor_command(CLI::App& lab32) {
  Command command;
  command.app =
      lab32.add_subcommand("doctor", "what grading needs: what is here, and what brings the rest");
  command.run = examine;
  return command;
}

Command devices_command(CLI::App& lab32) {
  Command command;
  command.app = lab32.add_subcommand("devices", "what can run here, and why the rest cannot");
  command.run = list_devices;
  return command;
}

}  // namespace lab32::commands
