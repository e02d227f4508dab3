#include "simulator/ptx/unknown_opcodes.h"

#include <unordered_set>
#include <vector>

#include "simulator/ptx/opcodes.h"

namespace lab32::ptx {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_of_opcode(char c) {
  return is_letter(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == ':';
}

bool is_known(std::string_view opcode) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', begin), opcode.size());
    words.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  Mods mods;
  std::vector<Type> types;
  return match_opcode(words, &mods, &types) != nullptr;
}

}  // namespace

bool may_have_unknown_opcodes(std::string_view text) {
  std::unordered_set<std::string_view> known;
  bool begins = true;  // a statement
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || c == ';' || c == '{' || c == '}' || c == ':') {
      begins = true;
    } else if (begins && c == '@') {  // @!%p1
      while (at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '\t') ++at;
    } else if (begins && is_letter(c)) {
      const size_t first = at;
      while (at + 1 < text.size() && is_of_opcode(text[at + 1])) ++at;
      const std::string_view word = text.substr(first, at + 1 - first);
      // Those without a dot (ret, exit) are all known; names of registers in braces have none.
      if (word.find('.') != word.npos && known.insert(word).second && !is_known(word)) return true;
      begins = false;
    } else if (c != ' ' && c != '\t') {
      begins = false;
    }
  }
  return false;
}

}  // namespace lab32::ptx
