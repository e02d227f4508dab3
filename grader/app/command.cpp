#include "app/command.h"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace lab32::commands {

const CLI::Validator kWholeNumber(
    [](std::string& text) -> std::string {
      const bool digits =
          !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
      uint64_t value = 0;
      const char* end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, value);
      if (digits && parsed.ec == std::errc() && parsed.ptr == end) return {};
      return fmt::format("{} is not a whole number from 0 to {}", text,
                         std::numeric_limits<uint64_t>::max());
    },
    "");

void add_gpus_option(CLI::App* app, unsigned& gpus) {
  constexpr unsigned kMostGpus = 8;  // the runtime's kMostDevices
  app->add_option("--gpus", gpus,
                  fmt::format("number of GPUs that the program sees, 1 to {} (1)", kMostGpus))
      ->check(CLI::Range(1u, kMostGpus));
}

std::string program_name_as_typed() {
  const std::string words = read_file("/proc/self/cmdline").value_or("");
  const std::filesystem::path typed = words.c_str();  // up to the first 0
  if (typed.is_relative()) return typed.string();
  std::error_code error;
  const std::filesystem::path below =
      typed.lexically_relative(std::filesystem::current_path(error));
  return error || below.empty() || *below.begin() == ".." ? "lab32" : below.string();
}

void print_error(const std::string& message) {
  // fmt::print would throw if stderr is closed.
  std::fprintf(stderr, "lab32: %s\n", visible(message).c_str());
}

void print(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw MachineError(fmt::format("standard output cannot be written: {}; name a file with -o",
                                   std::strerror(errno)));
}

void print_or_write(const std::string& text, const std::string& file, const std::string& option) {
  if (file.empty())
    print(text);
  else
    write_file(file, text, option);
}

}  // namespace lab32::commands
