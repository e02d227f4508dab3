#include "splice.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace lab32::tests {
namespace {

// A definition at the top level, or the comments and blanks between two (which have no name).
struct Chunk {
  std::string name;
  std::string text;
};

// What stands before the first '(': a function's name; of LAB32_ANSWER(question, what and which.
// Launch bounds stand before the name and have parentheses of their own.
std::string name_of(const std::string& text) {
  const size_t bounds = text.find("__launch_bounds__(");
  const size_t open = text.find('(', bounds == std::string::npos ? 0 : text.find(')', bounds));
  if (open == std::string::npos) return "";
  const std::string macro = "LAB32_";
  if (text.compare(0, macro.size(), macro) == 0) return text.substr(0, text.find(','));
  const size_t space = text.find_last_of(" *&", open);
  return text.substr(space == std::string::npos ? 0 : space + 1, open - space - 1);
}

std::vector<Chunk> chunks_of(const std::string& source) {
  std::vector<Chunk> chunks;
  std::istringstream in(source);
  int depth = 0;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool between =
        !inside && (line.empty() || line[0] == '#' || line.compare(0, 2, "//") == 0);
    if (!inside) chunks.push_back({"", ""});
    chunks.back().text += line + "\n";
    if (between) continue;
    inside = true;
    const std::string code = line.substr(0, line.find("//"));
    depth += static_cast<int>(std::count(code.begin(), code.end(), '{')) -
             static_cast<int>(std::count(code.begin(), code.end(), '}'));
    const size_t last = code.find_last_not_of(' ');
    const bool ends = last != std::string::npos && (code[last] == '}' || code[last] == ';');
    if (depth > 0 || !ends) continue;
    inside = false;
    chunks.back().name = name_of(chunks.back().text);
  }
  return chunks;
}

}  // namespace

std::string splice(const std::string& base, const std::string& changes) {
  std::vector<Chunk> chunks = chunks_of(base);
  std::string fresh;
  size_t first = chunks.size();
  for (const Chunk& change : chunks_of(changes)) {
    const auto same = std::find_if(chunks.begin(), chunks.end(), [&](const Chunk& c) {
      return !change.name.empty() && c.name == change.name;
    });
    if (same == chunks.end()) {
      fresh += change.text;
      continue;
    }
    same->text = change.text;
    first = std::min(first, static_cast<size_t>(same - chunks.begin()));
  }
  if (first == chunks.size()) return changes;
  std::string text;
  for (size_t i = 0; i < chunks.size(); ++i) text += (i == first ? fresh : "") + chunks[i].text;
  return text;
}

}  // namespace lab32::tests
