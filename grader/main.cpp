// The command line: subcommands only. What they do is in the rooms below.

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "base/error.h"
#include "device/device.h"
#include "labs/grade.h"
#include "report/render.h"

namespace {

using lab32::Error;

constexpr int kFullMarks = 0, kPointsLost = 1, kNotGraded = 2;

// The file appears whole or not at all: written beside its place, then renamed into it.
void write_file(const std::string& path, const std::string& text) {
  std::string temporary = path + ".XXXXXX";
  const auto fail = [&](const char* what) {
    const std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    throw Error(fmt::format("{}: {}: {}; name another file with -o", path, what, reason));
  };
  const int fd = mkstemp(temporary.data());
  if (fd < 0) fail("cannot be written");
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      close(fd);
      fail("cannot be written");
    }
    done += static_cast<size_t>(n);
  }
  // mkstemp makes files private; a report is as public as any other file of its owner.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  if (close(fd) != 0) fail("cannot be written");
  if (rename(temporary.c_str(), path.c_str()) != 0) fail("cannot be replaced");
}

int grade(const lab32::labs::Options& options, const std::string& format,
          const std::string& output) {
  const lab32::report::Result result = lab32::labs::grade(options);
  if (result.max_score <= 0)
    throw Error(fmt::format("no check could be run on {}; try --device sim", result.device));
  lab32::report::Style style;
  style.colour = output.empty() && lab32::report::wants_colour(STDOUT_FILENO);
  const std::string text =
      format == "json" ? lab32::report::json(result) : lab32::report::text(result, style);
  if (output.empty())
    std::cout << text << std::flush;
  else
    write_file(output, text);
  return result.score < result.max_score ? kPointsLost : kFullMarks;
}

int list_devices() {
  for (const std::string spec : {"sim", "gpu"}) {
    try {
      const auto device = lab32::device::open_device(spec);
      fmt::print("{:<12} {}\n", device->name(), device->describe());
    } catch (const Error& e) {
      fmt::print("{:<12} not here: {}\n", spec, e.what());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"lab32: CUDA labs, graded with or without a GPU"};
  app.name("lab32");
  app.require_subcommand(1);

  lab32::labs::Options options;
  std::string dir = "labs", format = "text", output;
  uint64_t seed = 0;
  CLI::App* grade_command = app.add_subcommand("grade", "grade labs");
  grade_command->add_option("LAB", options.labs, "which labs (all that there are)");
  grade_command->add_option("--dir", dir, "where LAB/LAB.cu are (labs)");
  grade_command->add_option("--device", options.device, "auto, sim, sim:NAME or gpu (auto)");
  CLI::Option* seed_option =
      grade_command->add_option("--seed", seed, "repeats the random inputs of an earlier run");
  grade_command->add_option("--format", format, "text or json (text)")
      ->check(CLI::IsMember({"text", "json"}));
  grade_command->add_option("-o", output, "write here instead of to standard output");
  app.add_subcommand("devices", "what can run here, and why the rest cannot");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-')
      fmt::print(stderr, "lab32: there is no command `{}`; see `lab32 --help`\n", argv[1]);
    else
      fmt::print(stderr, "lab32: {}; see `lab32 --help`\n", e.what());
    return kNotGraded;
  }

  try {
    if (!grade_command->parsed()) return list_devices();
    options.dir = dir;
    options.progress = true;
    if (*seed_option) options.seed = seed;
    return grade(options, format, output);
  } catch (const std::exception& e) {
    fmt::print(stderr, "lab32: {}\n", e.what());
    return kNotGraded;
  }
}
