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

class DoctorReport {
 public:
  std::string text;

  void add_row(const std::string& name, const std::string& words) {
    std::string head = pad_right(name, kNames);
    for (const std::string& line : wrap(visible(words), kWidth - kNames)) {
      text += head + line + "\n";
      head = std::string(kNames, ' ');
    }
  }
  // Prints the result of `describe`, or that the part is missing. Returns whether it is there.
  template <class Describe>
  bool add_row_or_missing(const std::string& name, Describe describe) {
    try {
      add_row(name, describe());
      return true;
    } catch (const Error& e) {
      add_row(name, std::string("missing: ") + e.what());
      return false;
    }
  }
};

std::string required_nvdisasm_path() {
  const fs::path& program = toolchain::installed_toolchain().nvdisasm;
  if (program.empty())
    throw Error(
        "without it counters are those of the PTX instead of the machine code; install it by "
        "`make grade` in a checkout or by pip install nvidia-cuda-nvdisasm");
  return program.string();
}

std::string scratch_folder_text() {
  const ScratchDirectory probe;
  const double free = static_cast<double>(fs::space(probe.path).available);
  return fmt::format("{}, {:.1f} GB free", probe.path.parent_path().string(), free / 1e9);
}

const char* isolation_text(Isolation isolation) {
  switch (isolation) {
    case Isolation::bubblewrap:
      return "run in bubblewrap: they see their own files, labs/include and the submission, and "
             "have "
             "no network and no other processes";
    case Isolation::landlock:
      return "are restricted by Landlock: they can open their own files, labs/include and the "
             "submission, and no sockets";
    case Isolation::plain:
      break;
  }
  return "are not restricted: they can read every file that you can read. The grader checks which "
         "files a submission includes, and shows nothing of other files";
}

void describe_isolation(DoctorReport& report) {
  const toolchain::IsolationProbe& probe = toolchain::best_isolation();
  report.add_row("compilers", isolation_text(probe.isolation));
  report.add_row("  bubblewrap", probe.isolation == Isolation::bubblewrap
                                     ? "works"
                                     : "cannot run here: " + probe.reason);
  const ConfinementSupport& kernel = confinement_support();
  report.add_row("  Landlock",
                 kernel.landlock > 0
                     ? fmt::format("version {}", kernel.landlock)
                     : "this kernel has none; it needs Linux 5.13 or later, with lsm=landlock");
  report.add_row("  seccomp", kernel.seccomp ? "works" : "this kernel has no filters");
  report.add_row("  limits", "time, memory, files and messages: always");
}

int examine_machine() {
  DoctorReport report;
  bool can_grade = report.add_row_or_missing(
      "nvcc", [] { return toolchain::installed_toolchain().nvcc.string(); });
  if (can_grade) {
    report.add_row("gcc", toolchain::installed_toolchain().host_compiler.string());
    report.add_row_or_missing("nvdisasm", required_nvdisasm_path);
    describe_isolation(report);
  }
  can_grade &= report.add_row_or_missing("scratch", scratch_folder_text);
  // A missing GPU is not reported as a fault, since no check needs one.
  try {
    report.add_row("GPU", device::open_gpu_timer("gpu")->describe());
  } catch (const Error& e) {
    report.add_row("GPU", std::string("none, so timing checks do not run: ") + e.what());
  }
  report.text += can_grade ? "lab32 can grade here.\n" : "lab32 cannot grade here.\n";
  print(report.text);
  return can_grade ? kFullMarks : kNotGraded;
}

// `describe` may throw Error.
template <class Describe>
void list_device(const std::string& name, Describe describe) {
  try {
    fmt::print("{:<12} {}\n", name, describe());
  } catch (const Error& e) {
    fmt::print("{:<12} not available: {}\n", name, e.what());
  }
}

int list_devices() {
  const std::string usual = device::open_device("sim")->name();
  for (const std::string& id : model::device_profile_ids()) {
    const std::string name = "sim:" + id;
    list_device(name, [&] {
      return device::open_device(name)->describe() + (name == usual ? ", the default" : "");
    });
  }
  list_device("gpu", [] { return device::open_gpu_timer("gpu")->describe(); });
  return kFullMarks;
}

}  // namespace

Subcommand doctor_command(CLI::App& lab32) {
  Subcommand command;
  command.app = lab32.add_subcommand(
      "doctor", "show what grading needs, what is missing, and how to install it");
  command.run = examine_machine;
  return command;
}

Subcommand devices_command(CLI::App& lab32) {
  Subcommand command;
  command.app = lab32.add_subcommand(
      "devices", "list the devices of this machine, and why others are missing");
  command.run = list_devices;
  return command;
}

}  // namespace lab32::commands
