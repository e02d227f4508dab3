#include "runtime/profiler/kernel_names.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "base/text.h"

namespace lab32::profiler {
namespace {

struct Unreadable {};

// A type as the text before and the text after the declared name: `int (*` NAME `)[4]`.
struct TypeTextAroundName {
  std::string before, after;
  bool wraps = false;  // an array or function, so a pointer to it needs parentheses
  bool pack = false;
  std::string text() const { return before + after; }
};

TypeTextAroundName named(const std::string& name) { return {name, "", false, false}; }

class MangledNameReader {
 public:
  explicit MangledNameReader(const std::string& text) : text_(text) {}

  std::string read_encoding() {
    bool instance = false;
    const std::string name = read_name(&instance);
    if (at_ == text_.size()) return name;  // a variable
    std::string result;
    if (instance) result = read_type().text() + " ";
    return result + name + read_argument_list();
  }
  bool done() const { return at_ == text_.size(); }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next_character() {
    if (at_ >= text_.size()) throw Unreadable();
    return text_[at_++];
  }
  bool accept_word(const char* word) {
    const std::string w = word;
    if (text_.compare(at_, w.size(), w) != 0) return false;
    at_ += w.size();
    return true;
  }

  size_t read_length() {
    if (!std::isdigit(static_cast<unsigned char>(peek()))) throw Unreadable();
    size_t value = 0;
    while (std::isdigit(static_cast<unsigned char>(peek())))
      value = value * 10 + static_cast<size_t>(next_character() - '0');
    return value;
  }

  std::string read_source_name() {
    const size_t length = read_length();
    if (length > text_.size() - at_) throw Unreadable();
    const std::string name = text_.substr(at_, length);
    at_ += length;
    return name.rfind("_GLOBAL__N_", 0) == 0 ? "<unnamed>" : name;
  }

  // Reads the number of a substitution or template parameter. S_, S0_, ..., SZ_, S10_ count in base
  // 36 and T_, T0_, ... in base 10; the number that is written is one less than the position from
  // 0.
  size_t read_sequence_number(int base) {
    if (accept_word("_")) return 0;
    size_t value = 0;
    while (peek() != '_') {
      const char c = next_character();
      if (std::isdigit(static_cast<unsigned char>(c)))
        value = value * base + static_cast<size_t>(c - '0');
      else if (base == 36 && c >= 'A' && c <= 'Z')
        value = value * base + static_cast<size_t>(c - 'A') + 10;
      else
        throw Unreadable();
    }
    next_character();
    return value + 1;
  }

  TypeTextAroundName add_substitution(TypeTextAroundName type) {
    seen_.push_back(type);
    return type;
  }

  TypeTextAroundName read_substitution() {
    static const std::map<char, const char*> standard{
        {'t', "std"}, {'a', "std::allocator"}, {'b', "std::basic_string"}, {'s', "std::string"}};
    if (const auto s = standard.find(peek()); s != standard.end()) {
      next_character();
      return named(s->second);
    }
    const size_t index = read_sequence_number(36);
    if (index >= seen_.size()) throw Unreadable();
    return seen_[index];
  }

  // The name of a function or of a class. `instance`: whether the last part has template arguments.
  std::string read_name(bool* instance) {
    *instance = false;
    if (accept_word("N")) {
      accept_word("K");  // a const member function
      std::string name;
      while (!accept_word("E")) {
        if (peek() == 'I') {
          name += read_template_arguments();
          *instance = true;
          add_substitution(named(name));
          continue;
        }
        const bool known = peek() == 'S';
        *instance = false;
        std::string part;
        if (known) {
          ++at_;
          part = read_substitution().text();
        } else if (peek() == 'T') {
          ++at_;
          part = parameter().text();
        } else {
          accept_word("L");  // internal linkage
          part = read_source_name();
        }
        name += name.empty() ? part : "::" + part;
        if (!known) add_substitution(named(name));
      }
      // A complete name becomes a substitution only if it is used as a type, and not as a prefix.
      if (!seen_.empty() && seen_.back().text() == name) seen_.pop_back();
      return name;
    }
    std::string name;
    if (accept_word("St")) name = "std::";
    accept_word("L");
    if (peek() == 'S') {
      ++at_;
      name = read_substitution().text();
    } else {
      name += read_source_name();
      if (peek() == 'I') add_substitution(named(name));
    }
    if (peek() == 'I') {
      name += read_template_arguments();
      *instance = true;
    }
    return name;
  }

  TypeTextAroundName parameter() {
    return named("T" + std::to_string(read_sequence_number(10) + 1));
  }

  std::string read_template_arguments() {
    std::string list;
    const auto add = [&](const std::string& argument) {
      list += list.empty() ? argument : ", " + argument;
    };
    if (!accept_word("I")) throw Unreadable();
    while (!accept_word("E")) {
      if (accept_word("J")) {
        while (!accept_word("E")) add(read_template_argument());
      } else {
        add(read_template_argument());
      }
    }
    return "<" + list + ">";
  }

  std::string read_template_argument() {
    if (accept_word("XadL_Z")) {  // a function's address
      bool instance;
      const std::string name = "&" + read_name(&instance);
      if (instance) read_type();
      while (!accept_word("E"))
        read_type();  // skips the parameters' types, which ncu does not show
      if (!accept_word("E")) throw Unreadable();
      return name;
    }
    if (peek() == 'X') throw Unreadable();
    if (!accept_word("L")) return read_type().text();
    const std::string type = read_type().text();
    const bool negative = accept_word("n");
    const std::string value = std::to_string(read_length());
    if (!accept_word("E")) throw Unreadable();
    return "(" + type + ")" + (negative ? "-" : "") + value;
  }

  std::string read_argument_list() {
    std::string list;
    while (!done() && peek() != 'E') {
      if (accept_word("v")) continue;
      const TypeTextAroundName type = read_type();
      list += (list.empty() ? "" : ", ") + type.text() + (type.pack ? "..." : "");
    }
    return "(" + list + ")";
  }

  static const char* builtin_type(char c) {
    static const std::map<char, const char*> names{{'v', "void"},
                                                   {'b', "bool"},
                                                   {'c', "char"},
                                                   {'a', "signed char"},
                                                   {'h', "unsigned char"},
                                                   {'s', "short"},
                                                   {'t', "unsigned short"},
                                                   {'i', "int"},
                                                   {'j', "unsigned int"},
                                                   {'l', "long"},
                                                   {'m', "unsigned long"},
                                                   {'x', "long long"},
                                                   {'y', "unsigned long long"},
                                                   {'f', "float"},
                                                   {'d', "double"},
                                                   {'e', "long double"},
                                                   {'w', "wchar_t"},
                                                   {'n', "__int128"},
                                                   {'o', "unsigned __int128"},
                                                   {'z', "..."}};
    const auto n = names.find(c);
    return n == names.end() ? nullptr : n->second;
  }

  TypeTextAroundName pointer_to(TypeTextAroundName type, const std::string& sign) {
    // `float *`, but `float **`.
    const char last = type.before.empty() ? ' ' : type.before.back();
    if (type.wraps) {
      type.before += type.before.back() == ' ' ? "(" : " (";
      type.after = ")" + type.after;
    } else if (last != '*' && last != '(') {
      type.before += ' ';
    }
    type.before += sign;
    type.wraps = false;
    return type;
  }

  TypeTextAroundName add_qualifiers(TypeTextAroundName type, const std::string& words) {
    // `const float *`, but `float *const`: a qualifier of the pointer itself follows it.
    const char last = type.before.back();
    if (last == '*' || last == '&')
      type.before += words;
    else
      type.before = words + " " + type.before;
    return type;
  }

  TypeTextAroundName read_array_type() {
    std::string size;
    if (accept_word("T"))
      size = parameter().text();
    else if (peek() != '_')
      size = std::to_string(read_length());
    if (!accept_word("_")) throw Unreadable();
    TypeTextAroundName type = read_type();
    if (!type.wraps) type.before += ' ';
    type.after = "[" + size + "]" + type.after;
    type.wraps = true;
    return type;
  }

  TypeTextAroundName read_function_type() {
    accept_word("Y");
    TypeTextAroundName type = read_type();
    type.before += ' ';
    type.after = read_argument_list() + type.after;
    if (!accept_word("E")) throw Unreadable();
    type.wraps = true;
    return type;
  }

  TypeTextAroundName read_type() {
    const char c = peek();
    if (const char* name = builtin_type(c)) {
      next_character();
      return named(name);
    }
    if (accept_word("Dp")) {
      TypeTextAroundName type = read_type();
      type.pack = true;
      return add_substitution(type);
    }
    if (accept_word("Dn")) return named("decltype(nullptr)");
    if (accept_word("DF16_")) return named("_Float16");
    switch (c) {
      case 'P':
        next_character();
        return add_substitution(pointer_to(read_type(), "*"));
      case 'R':
        next_character();
        return add_substitution(pointer_to(read_type(), "&"));
      case 'O':
        next_character();
        return add_substitution(pointer_to(read_type(), "&&"));
      case 'r':  // NVIDIA's tools omit restrict
        next_character();
        return read_type();
      case 'V':
        next_character();
        return accept_word("K") ? add_substitution(add_qualifiers(read_type(), "const volatile"))
                                : add_substitution(add_qualifiers(read_type(), "volatile"));
      case 'K':
        next_character();
        return add_substitution(add_qualifiers(read_type(), "const"));
      case 'A':
        next_character();
        return add_substitution(read_array_type());
      case 'F':
        next_character();
        return add_substitution(read_function_type());
      case 'T': {
        next_character();
        TypeTextAroundName type = add_substitution(parameter());
        if (peek() != 'I') return type;
        return add_substitution(named(type.text() + read_template_arguments()));
      }
      case 'S':
        if (text_.compare(at_, 2, "St") != 0) {
          next_character();
          TypeTextAroundName type = read_substitution();
          if (peek() != 'I') return type;
          return add_substitution(named(type.text() + read_template_arguments()));
        }
        break;
      default:
        break;
    }
    if (c != 'N' && c != 'S' && !std::isdigit(static_cast<unsigned char>(c))) throw Unreadable();
    bool instance;
    return add_substitution(named(read_name(&instance)));
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<TypeTextAroundName> seen_;
};

}  // namespace

std::optional<std::string> demangle_as_ncu(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return std::nullopt;
  const std::string text = symbol.substr(2);
  try {
    MangledNameReader reader(text);
    std::string out = reader.read_encoding();
    if (reader.done()) return out;
  } catch (const Unreadable&) {
  }
  return std::nullopt;
}

std::string ncu_kernel_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;  // extern "C"
  if (const auto name = demangle_as_ncu(symbol)) {
    static const RegularExpression cast("\\((\\w|:| )+\\)([0-9])"), outer("(\\w+::)+(\\w+::)");
    return outer.replace(cast.replace(*name, "$2"), "$2");
  }
  return demangle(symbol);
}

}  // namespace lab32::profiler
