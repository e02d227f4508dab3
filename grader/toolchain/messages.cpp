#include <sstream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "toolchain/nvcc.h"

namespace lab32::toolchain {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Replaces `from` by `to`, and moves the column of the caret with the text behind it.
void replace_and_move_caret(std::string& line, size_t at, size_t length, const std::string& to,
                            size_t& caret) {
  line.replace(at, length, to);
  if (caret >= at + length)
    caret = caret + to.size() - length;
  else if (caret > at)
    caret = at;
}

// The position of the parenthesis that closes the one at `open`; npos: there is none.
size_t closing_bracket(const std::string& line, size_t open) {
  int depth = 0;
  for (size_t i = open; i < line.size(); ++i) {
    if (line[i] == '(') ++depth;
    if (line[i] == ')' && --depth == 0) return i;
  }
  return std::string::npos;
}

// Replaces the expansions of keywords that CUDA's headers define as macros by their names.
void restore_cuda_keywords(std::string& line, size_t& caret) {
  static const std::pair<const char*, const char*> kWords[] = {
      {"__inline__ __attribute__((always_inline))", "__forceinline__"},
      {"__attribute__((global))", "__global__"},
      {"__attribute__((device))", "__device__"},
      {"__attribute__((host))", "__host__"},
      {"__attribute__((shared))", "__shared__"},
      {"__attribute__((constant))", "__constant__"},
      {"__attribute__((managed))", "__managed__"},
      {"__attribute__((grid_constant))", "__grid_constant__"}};
  for (const auto& [expansion, name] : kWords) {
    const std::string from = expansion;
    for (size_t at; (at = line.find(from)) != std::string::npos;)
      replace_and_move_caret(line, at, from.size(), name, caret);
  }
  // With arguments: `__attribute__((launch_bounds(128, 2)))`.
  static const std::pair<const char*, const char*> kCalls[] = {
      {"launch_bounds", "__launch_bounds__"},
      {"cluster_dims", "__cluster_dims__"},
      {"maxnreg", "__maxnreg__"},
      {"aligned", "__align__"}};
  for (const auto& [word, name] : kCalls) {
    const std::string from = "__attribute__((" + std::string(word) + "(";
    for (size_t at; (at = line.find(from)) != std::string::npos;) {
      const size_t end = closing_bracket(line, at + from.size() - 1);
      if (end == std::string::npos || line.compare(end + 1, 2, "))") != 0) break;
      replace_and_move_caret(line, end + 1, 2, "", caret);
      replace_and_move_caret(line, at, from.size() - 1, name, caret);
    }
  }
}

bool is_caret(const std::string& line) {
  const size_t at = line.find_first_not_of(' ');
  return at != std::string::npos && line[at] == '^' && at + 1 == line.size();
}

}  // namespace

std::string use_source_spelling(const std::string& messages) {
  static const RegularExpression unneeded(
      "^(Remark: The warnings can be suppressed .*|[0-9]+ errors? detected in the compilation of "
      ".*)$");
  std::vector<std::string> out;
  std::vector<std::string> lines = lines_of(messages);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (unneeded.match(lines[i])) {
      if (i + 1 < lines.size() && lines[i + 1].empty()) ++i;
      continue;
    }
    const bool has_caret = i + 1 < lines.size() && is_caret(lines[i + 1]);
    size_t caret = has_caret ? lines[i + 1].find('^') : 0;
    restore_cuda_keywords(lines[i], caret);
    if (has_caret) lines[i + 1] = std::string(caret, ' ') + "^";
    out.push_back(lines[i]);
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return joined_lines(out);
}

namespace {

// The number and the text of the line with the first use of the macro that the source does not
// close. Comments may have parentheses of their own.
std::pair<size_t, std::string> line_of_unclosed_macro_use(const std::string& source,
                                                          const std::string& macro) {
  const std::vector<std::string> lines = lines_of(source);
  std::string rest;  // without comments, from the current line on
  for (size_t n = lines.size(); n-- > 0;) {
    rest = lines[n].substr(0, lines[n].find("//")) + "\n" + rest;
    const size_t use = rest.find(macro + "(");
    if (use < rest.find('\n') &&
        closing_bracket(rest.substr(use), macro.size()) == std::string::npos &&
        lines[n].find("#define") == std::string::npos)
      return {n + 1, lines[n]};
  }
  return {0, ""};
}

}  // namespace

std::string move_to_unclosed_macro(const std::string& messages, const std::string& source,
                                   const std::string& display) {
  static const RegularExpression open(
      "^.*: (error: unterminated argument list invoking macro \"(.*)\")$");
  std::string out;
  for (const std::string& line : lines_of(messages)) {
    const auto found = open.match(line);
    const auto [number, text] =
        found ? line_of_unclosed_macro_use(source, found->at(2)) : std::pair<size_t, std::string>();
    out += number == 0 ? line + "\n"
                       : display + "(" + std::to_string(number) + "): " + found->at(1) + "\n  " +
                             text + "\n";
  }
  return out;
}

std::string without_warnings(const std::string& messages) {
  std::vector<std::string> out;
  bool warns = false;  // the message that continues
  for (const std::string& line : lines_of(messages)) {
    const bool begins = !line.empty() && line[0] != ' ';
    if (begins)
      warns = line.find(": warning #") != std::string::npos ||
              line.find(": warning: ") != std::string::npos || line.rfind("ptxas warning", 0) == 0;
    if (!warns) out.push_back(line);
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out.empty() ? messages : joined_lines(out);
}

}  // namespace lab32::toolchain
