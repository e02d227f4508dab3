// The command line: finds the subcommand, reads its options and runs it.

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "base/error.h"
#include "base/memory.h"

namespace lab32::commands {
namespace {

// The commands in the order of `lab32 --help`.
constexpr Subcommand (*kCommands[])(CLI::App&) = {grade_command,
                                                  run_command,
                                                  profile_command,
                                                  check_command,
                                                  explain_command,
                                                  ask_command,
                                                  report_command,
                                                  nvcc_command,
                                                  class_command,
                                                  course_command,
                                                  similarity_command,
                                                  ptx_command,
                                                  init_command,
                                                  new_lab_command,
                                                  try_lab_command,
                                                  seal_command,
                                                  decidable_timing_checks_command,
                                                  doctor_command,
                                                  devices_command};

// Opens /dev/null for standard streams that the parent process has closed. The next opened file
// would otherwise take their number, and output would be written into it. Writing to these streams
// fails, as it would have.
void open_missing_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) std::abort();
}

// Prints the help of the command that was given no words, and names it for any other mistake.
void print_usage_error(const CLI::App& lab32, const CLI::ParseError& mistake) {
  const std::vector<CLI::App*> commands = lab32.get_subcommands();
  const CLI::App& named = commands.empty() ? lab32 : *commands.front();
  const bool needs_words = dynamic_cast<const CLI::RequiredError*>(&mistake) != nullptr;
  if (needs_words && !commands.empty()) std::fputs(named.help("lab32").c_str(), stderr);
  print_error(fmt::format("{}; see `lab32 {}--help`", mistake.what(),
                          commands.empty() ? "" : named.get_name() + " "));
}

// Parses the words of the command line. Returns an exit status if there is nothing left to run, as
// after --help or a mistake.
std::optional<int> parse_words(CLI::App& lab32, Words words) {
  const std::string first = words.empty() ? "" : words[0];
  try {
    std::reverse(words.begin(), words.end());  // the order that CLI11 expects
    lab32.parse(words);
    return std::nullopt;
  } catch (const CLI::Success& e) {  // --help
    return lab32.exit(e);
  } catch (const CLI::ParseError& e) {
    if (lab32.get_subcommands().empty() && !first.empty() && first[0] != '-')
      print_error(fmt::format("there is no command `{}`; see `lab32 --help`", first));
    else
      print_usage_error(lab32, e);
    return kNotGraded;
  }
}

int run_parsed_command(Subcommand& command, const Words& behind) {
  if (command.behind) command.behind->insert(command.behind->end(), behind.begin(), behind.end());
  std::optional<CleanSignalExit> clean_end;
  if (command.clean_end) clean_end.emplace(*command.clean_end);
  // With SIGPIPE ignored, a closed output is an error of write(), reported like any other.
  if (command.clean_end == CleanSignalExit::Interrupt::too) std::signal(SIGPIPE, SIG_IGN);
  return command.run();
}

int run_command_line(int argc, char** argv) {
  CLI::App lab32{"lab32: CUDA labs, graded with or without a GPU"};
  lab32.name("lab32");
  lab32.set_version_flag("--version", "lab32 " LAB32_VERSION);
  lab32.require_subcommand(1);
  std::vector<Subcommand> commands;
  for (const auto add : kCommands) commands.push_back(add(lab32));

  // The words behind `--` belong to the program, even if they look like options of lab32.
  char** const mark = std::find(argv, argv + argc, std::string_view("--"));
  const Words behind(std::min(mark + 1, argv + argc), argv + argc);
  Words words(std::min(argv + 1, mark), mark);
  const auto named = std::find_if(commands.begin(), commands.end(), [&](const Subcommand& command) {
    return !words.empty() && command.app->get_name() == words[0];
  });
  if (named != commands.end() && named->run_with_words)
    return named->run_with_words({argv + 2, argv + argc});
  if (named != commands.end() && named->take_own_options) {
    const Words ours = named->take_own_options({words.begin() + 1, words.end()});
    words.resize(1);
    words.insert(words.end(), ours.begin(), ours.end());
  }
  if (const std::optional<int> ended = parse_words(lab32, words)) return *ended;
  const auto parsed = std::find_if(commands.begin(), commands.end(),
                                   [](const Subcommand& command) { return command.app->parsed(); });
  return run_parsed_command(*parsed, behind);
}

}  // namespace
}  // namespace lab32::commands

int main(int argc, char** argv) {
  using lab32::commands::print_error;
  lab32::commands::open_missing_standard_streams();
  lab32::make_malloc_keep_freed_memory();
  try {
    return lab32::commands::run_command_line(argc, argv);
  } catch (const std::exception& e) {
    print_error(e.what());
  } catch (...) {
    print_error("an internal error of the grader, of an unknown kind");
  }
  return lab32::kNotGraded;
}
