#include "base/toml_file.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace lab32 {
namespace {

// An assertion has no place: it holds for the lines before the one that breaks it.
size_t line_that_breaks(std::string_view text) {
  size_t line = 1;
  for (size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    try {
      (void)toml::parse(text.substr(0, end + 1));
    } catch (const toml::parse_error&) {  // a value of several lines, cut
    } catch (const Error&) {
      return line;
    }
    ++line;
  }
  return line;
}

}  // namespace

void refuse_toml() { throw Error("a character that TOML does not allow here"); }

toml::table read_toml(const std::filesystem::path& path) {
  const auto file = read_file(path);
  if (!file) throw Error(path.string() + ": cannot be read");
  const std::string& text = *file;
  const auto fail = [&](size_t line, std::string_view what) {
    throw Error(fmt::format("{}:{}: {}", path.string(), line, what));
  };
  try {
    return toml::parse(text, path.string());
  } catch (const toml::parse_error& e) {
    fail(e.source().begin.line, e.description());
  } catch (const Error& e) {
    fail(line_that_breaks(text), e.what());
  }
  return {};
}

}  // namespace lab32
