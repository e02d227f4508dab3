// The implementations of two header-only libraries, toml++ and doctest, compiled once here since
// each takes seconds, and read_toml(), which uses the first. Other files include these libraries
// without their implementations. build/lab32 and the grader's own tests both contain doctest
// suites. doctest's signal handlers are left out: they do not survive a context inside a context
// (grading/engine/run_suite.cpp). A crash then ends the process with its signal, as it should.
#define TOML_IMPLEMENTATION
#include "base/toml_file.h"
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace lab32 {
namespace {

// A failed assertion has no position. The line that causes it is the first one that fails when the
// text is cut behind it.
size_t first_line_failing_toml_assertion(std::string_view text) {
  size_t line = 1;
  for (size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    try {
      (void)toml::parse(text.substr(0, end + 1));
    } catch (const toml::parse_error&) {  // the cut is inside a value of several lines
    } catch (const Error&) {
      return line;
    }
    ++line;
  }
  return line;
}

}  // namespace

void refuse_toml() { throw Error("a character that TOML does not allow here"); }

namespace {

// Reading a pipe would wait for its writer, and a device may never end.
void require_small_file(const std::filesystem::path& path) {
  constexpr uintmax_t kLargest = 1 << 20;
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return;
  if (!std::filesystem::is_regular_file(path, none))
    throw Error(path.string() + ": not a regular file");
  if (std::filesystem::file_size(path, none) > kLargest)
    throw Error(path.string() + ": larger than 1 MiB");
}

}  // namespace

toml::table read_toml(const std::filesystem::path& path) {
  require_small_file(path);
  const auto file = read_file(path);
  if (!file) throw Error(path.string() + ": cannot be read");
  const std::string& text = *file;
  const auto fail = [&](size_t line, std::string_view what) {
    throw Error(fmt::format("{}:{}: {}", path.string(), line, what));
  };
  try {
    return toml::parse(text, path.string());
  } catch (const toml::parse_error& e) {
    // The description quotes the character at fault, which can be the end of the line.
    std::string what = visible(std::string(e.description()));
    if (const size_t end = what.find('\n'); end != std::string::npos) what.replace(end, 1, "\\n");
    fail(e.source().begin.line, what);
  } catch (const Error& e) {
    fail(first_line_failing_toml_assertion(text), e.what());
  }
  return {};
}

}  // namespace lab32
