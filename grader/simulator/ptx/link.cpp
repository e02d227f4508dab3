#include "simulator/ptx/link.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "simulator/ptx/lexer.h"

namespace lab32::ptx {
namespace {

// local: only this module uses the name. external: another module defines it.
enum class Linkage : uint8_t { local, external, weak, strong };

// A declaration or definition at module scope: tokens [first, last).
struct ModuleItem {
  size_t first = 0, last = 0;
  size_t head_end = 0;  // the end of its declaration: before `{` or `=`, or at `;`
  bool defines = false;
  bool function = false;
  Linkage linkage = Linkage::local;
  std::string_view name;
};

// One input text with its items and the other data that linking needs.
struct TokenizedLinkerInput {
  std::string_view text;
  std::vector<Token> tokens;
  std::vector<ModuleItem> items;
  std::pair<uint64_t, uint64_t> version{0, 0};
  std::string_view target;
  uint64_t files = 0;  // the highest .file number plus one
};

class PtxModuleItemReader {
 public:
  explicit PtxModuleItemReader(std::string_view text) {
    part_.text = text;
    part_.tokens = lex(text);
  }

  TokenizedLinkerInput read_input() {
    while (peek().kind != Token::Kind::end) read_ptx_directive();
    if (part_.version.first == 0)
      throw Error("this is not a PTX module: it has no .version directive");
    return std::move(part_);
  }

 private:
  const Token& peek() const { return part_.tokens[at_]; }
  void skip_token() {
    if (at_ + 1 < part_.tokens.size()) ++at_;
  }
  [[noreturn]] void fail(const char* what) const {
    throw PtxParseError{static_cast<size_t>(peek().text.data() - part_.text.data()), what};
  }
  // Skips to the token behind the closing bracket that matches the next opening one.
  void skip_bracketed(char open, char close) {
    int depth = 0;
    do {
      if (peek().kind == Token::Kind::end) fail("this bracket is not closed");
      depth += peek().is(open) ? 1 : peek().is(close) ? -1 : 0;
      skip_token();
    } while (depth > 0);
  }
  uint64_t read_number() {
    const auto value = parse_integer_literal(peek().text);
    if (!value) fail("a number is expected here");
    skip_token();
    return *value;
  }

  void read_ptx_directive() {
    const Token& token = peek();
    if (token.is(".version")) {
      skip_token();
      const std::string_view text = peek().text;
      const size_t dot = std::min(text.find('.'), text.size());
      part_.version = {
          parse_integer_literal(text.substr(0, dot)).value_or(0),
          parse_integer_literal(text.substr(std::min(dot + 1, text.size()))).value_or(0)};
      return skip_token();
    }
    if (token.is(".target")) {
      skip_token();
      part_.target = peek().text;
      skip_token();
      while (peek().is(',')) skip_token(), skip_token();
      return;
    }
    if (token.is(".address_size")) return skip_token(), skip_token();
    if (token.is(".section")) return skip_token(), skip_token(), skip_bracketed('{', '}');
    if (token.is(".file")) return read_file_directive();
    if (token.is(';')) return skip_token();
    read_module_item();
  }

  void read_file_directive() {
    ModuleItem item;
    item.first = at_;
    skip_token();
    part_.files = std::max(part_.files, read_number() + 1);
    while (peek().kind == Token::Kind::string || peek().is(',') ||
           peek().kind == Token::Kind::number)
      skip_token();
    item.last = at_;
    part_.items.push_back(item);
  }

  void read_module_item() {
    ModuleItem item;
    item.first = at_;
    for (;; skip_token()) {
      if (peek().is(".extern"))
        item.linkage = Linkage::external;
      else if (peek().is(".visible"))
        item.linkage = Linkage::strong;
      else if (peek().is(".weak") || peek().is(".common"))
        item.linkage = Linkage::weak;
      else
        break;
    }
    item.function = peek().is(".func") || peek().is(".entry");
    skip_token();
    // The name of a function follows its result, and the name of a variable follows its attributes.
    while (peek().kind != Token::Kind::end && !peek().is(';')) {
      if (peek().is('('))
        skip_bracketed('(', ')');
      else if (peek().kind == Token::Kind::word && peek().text[0] != '.')
        break;
      else
        skip_token();
    }
    if (peek().kind == Token::Kind::word) item.name = peek().text;
    while (!peek().is(';') && !peek().is('=') && !peek().is('{')) {
      if (peek().kind == Token::Kind::end) fail("this declaration has no end");
      skip_token();
    }
    item.head_end = at_;
    const bool body = peek().is('{');
    item.defines = item.function ? body : item.linkage != Linkage::external;
    if (body) {
      skip_bracketed('{', '}');
    } else {
      while (!peek().is(';')) {
        if (peek().kind == Token::Kind::end) fail("this declaration has no end");
        skip_token();
      }
      skip_token();
    }
    item.last = at_;
    part_.items.push_back(item);
  }

  TokenizedLinkerInput part_;
  size_t at_ = 0;
};

class Linker {
 public:
  explicit Linker(std::vector<TokenizedLinkerInput> parts) : parts_(std::move(parts)) {}

  LinkedPtx link_inputs() {
    for (size_t i = 0; i < parts_.size(); ++i)
      for (const ModuleItem& item : parts_[i].items) record_symbol_use_or_definition(i, item);
    std::pair<uint64_t, uint64_t> version;
    std::string_view target;
    for (const TokenizedLinkerInput& part : parts_) {
      version = std::max(version, part.version);
      if (part.target > target) target = part.target;
    }
    linked_.text = ".version " + std::to_string(version.first) + "." +
                   std::to_string(version.second) + "\n.target " + std::string(target) +
                   "\n.address_size 64\n";
    for (size_t i = 0; i < parts_.size(); ++i) append_input_text(i);
    return std::move(linked_);
  }

 private:
  struct LinkedSymbol {
    size_t kept_part = 0;  // the part whose definition is kept
    Linkage linkage = Linkage::external;
    size_t first_user = 0;
    bool shared = false;  // more than one part uses the name
  };

  void record_symbol_use_or_definition(size_t part, const ModuleItem& item) {
    if (item.name.empty()) return;
    const auto [at, is_new] = symbols_.try_emplace(item.name);
    LinkedSymbol& symbol = at->second;
    if (is_new) symbol.first_user = part;
    symbol.shared |= symbol.first_user != part;
    if (!item.defines || item.linkage == Linkage::local) return;
    if (item.linkage == Linkage::strong && symbol.linkage == Linkage::strong &&
        symbol.kept_part != part)
      throw Error("`" + demangle(std::string(item.name)) +
                  "` is defined in two of the program's files");
    if (item.linkage <= symbol.linkage) return;
    symbol.linkage = item.linkage;
    symbol.kept_part = part;
  }

  void append_input_text(size_t index) {
    const TokenizedLinkerInput& part = parts_[index];
    // Local names that other parts use, too, get a suffix. It has the form of a compiler's clones,
    // which demanglers know.
    std::unordered_map<std::string_view, std::string> renamed;
    for (const ModuleItem& item : part.items)
      if (item.linkage == Linkage::local && !item.name.empty() && symbols_.at(item.name).shared)
        renamed[item.name] = std::string(item.name) + "." + std::to_string(index + 1);
    const int before = count_lines_so_far();
    for (const ModuleItem& item : part.items) {
      const int line = before + part.tokens[item.first].line;
      text_.append(static_cast<size_t>(std::max(0, line - count_lines_so_far() - 1)), '\n');
      const bool ours = item.name.empty() || item.linkage == Linkage::local || !item.defines ||
                        symbols_.at(item.name).kept_part == index;
      // The definition that is kept is in another part, perhaps behind uses in this part, so this
      // part needs a declaration. ptxas also requires a definition's attributes in the declaration.
      const bool declares = !item.name.empty() && item.linkage == Linkage::external &&
                            item.function && symbols_.at(item.name).linkage != Linkage::external;
      if (ours && !declares) {
        copy_tokens(part, item.first, item.last, renamed);
      } else {
        text_ += item.function ? linkage_word(symbols_.at(item.name).linkage) : ".extern ";
        copy_tokens(part, item.first + 1, item.head_end, renamed);
        text_ += ";";
      }
      text_ += "\n";
      if (item.function && item.defines && ours && !renamed.count(item.name))
        linked_.lines_before.emplace(item.name, before);
    }
    files_before_ += part.files;
  }

  static const char* linkage_word(Linkage linkage) {
    return linkage == Linkage::strong ? ".visible " : ".weak ";
  }

  int count_lines_so_far() {
    lines_ += static_cast<int>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_), text_.end(), '\n'));
    counted_ = text_.size();
    return lines_;
  }

  // Copies tokens [first, last) and the text between them, and replaces names and file numbers.
  void copy_tokens(const TokenizedLinkerInput& part, size_t first, size_t last,
                   const std::unordered_map<std::string_view, std::string>& renamed) {
    bool file = false;  // the next number is a file number
    const char* copied = first_char_of(part.tokens[first]);
    const auto put = [&](const Token& token, const std::string& instead) {
      text_.append(copied, token.text.data());
      text_ += instead;
      copied = token.text.data() + token.text.size();
    };
    for (size_t i = first; i < last; ++i) {
      const Token& token = part.tokens[i];
      if (token.is(".loc") || token.is("inlined_at") || token.is(".file")) {
        file = true;
      } else if (file && token.kind == Token::Kind::number) {
        put(token, std::to_string(parse_integer_literal(token.text).value_or(0) + files_before_));
        file = false;
      } else if (token.kind == Token::Kind::word) {
        if (const auto name = renamed.find(token.text); name != renamed.end())
          put(token, name->second);
      }
    }
    const Token& end = part.tokens[last - 1];
    text_.append(copied, end.text.data() + end.text.size() + (end.kind == Token::Kind::string));
  }
  static const char* first_char_of(const Token& token) {
    return token.text.data() - (token.kind == Token::Kind::string);
  }

  std::vector<TokenizedLinkerInput> parts_;
  std::unordered_map<std::string_view, LinkedSymbol> symbols_;
  uint64_t files_before_ = 0;
  LinkedPtx linked_;
  std::string& text_ = linked_.text;
  size_t counted_ = 0;  // the length of the text whose lines have been counted
  int lines_ = 0;       // the lines in that part
};

}  // namespace

LinkedPtx link_ptx(const std::vector<std::string>& texts) {
  std::vector<TokenizedLinkerInput> parts;
  for (const std::string& text : texts) {
    try {
      parts.push_back(PtxModuleItemReader(text).read_input());
    } catch (const PtxParseError& diagnostic) {
      throw Error("PTX that is to be linked: " + diagnostic.message);
    }
  }
  return Linker(std::move(parts)).link_inputs();
}

}  // namespace lab32::ptx
