#include "device/names.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace lab32::device {
namespace {

const char kAnonymous[] = "(anonymous namespace)";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

std::string trim_blanks(const std::string& s) {
  size_t begin = s.find_first_not_of(" \t\n"), end = s.find_last_not_of(" \t\n");
  return begin == std::string::npos ? "" : s.substr(begin, end - begin + 1);
}

// Normalises blanks: one between two words, none elsewhere: "unsigned  int" but "float*", "a,b".
std::string strip_needless_blanks(const std::string& s) {
  std::string out;
  bool blank = false;
  for (char c : s) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      blank = true;
      continue;
    }
    if (blank && !out.empty() && is_word(out.back()) && is_word(c)) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

// The position of the parenthesis that begins the list of function parameters, outside of template
// brackets; npos if there is none.
size_t argument_list_begin(const std::string& s) {
  int depth = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s.compare(i, sizeof kAnonymous - 1, kAnonymous) == 0) {
      i += sizeof kAnonymous - 2;
      continue;
    }
    if (s[i] == '<') ++depth;
    if (s[i] == '>') --depth;
    if (s[i] == '(' && depth == 0) return i;
  }
  return std::string::npos;
}

std::vector<std::string> split_arguments(const std::string& s) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : s) {
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Rewrites the spellings of types that the demangler does not use.
std::string demangler_spelling_of_type(const std::string& type) {
  static const std::map<std::string, std::string> names{
      {"unsigned", "unsigned int"},   {"uint", "unsigned int"},
      {"uint32_t", "unsigned int"},   {"int32_t", "int"},
      {"uint8_t", "unsigned char"},   {"int8_t", "signed char"},
      {"uint16_t", "unsigned short"}, {"int16_t", "short"},
      {"uint64_t", "unsigned long"},  {"int64_t", "long"},
      {"size_t", "unsigned long"},    {"half", "__half"}};
  std::string t = type;
  // People write const before the type; the demangler prints it after the type.
  std::string constant;
  if (t.rfind("const ", 0) == 0) {
    constant = " const";
    t = t.substr(6);
  }
  size_t base = std::min(t.find_first_of("*&"), t.size());
  auto known = names.find(trim_blanks(t.substr(0, base)));
  std::string name = known == names.end() ? t.substr(0, base) : known->second;
  return name + constant + t.substr(base);
}

std::string normalised_template_argument(const std::string& argument) {
  static const RegularExpression cast("\\([A-Za-z_][A-Za-z0-9_: ]*\\)(-?[0-9].*|true|false)");
  static const RegularExpression number("(-?)(0[xX][0-9a-fA-F']+|[0-9][0-9']*)[uUlL]*");
  static const RegularExpression letter("'(.)'");
  std::string a = strip_needless_blanks(trim_blanks(argument));
  if (const auto of = cast.match(a)) a = of->at(1);
  if (const auto of = letter.match(a)) return std::to_string(int{of->at(1)[0]});
  if (const auto of = number.match(a)) {
    std::string digits = of->at(2);
    digits.erase(std::remove(digits.begin(), digits.end(), '\''), digits.end());
    unsigned long long value = std::strtoull(digits.c_str(), nullptr, 0);
    return (value ? of->at(1) : "") + std::to_string(value);
  }
  // Arguments may be templates with arguments: f<pair<2u, int>>.
  size_t open = a.find('<');
  if (open == std::string::npos || a.back() != '>') return demangler_spelling_of_type(a);
  std::string out = a.substr(0, open + 1);
  auto parts = split_arguments(a.substr(open + 1, a.size() - open - 2));
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i ? ", " : "") + normalised_template_argument(parts[i]);
  return out + ">";
}

// Turns any spelling of a kernel into "reduce_v6<256>".
std::string normalised_kernel_name(const std::string& written) {
  std::string name = trim_blanks(written);
  name = trim_blanks(name.substr(0, argument_list_begin(name)));
  if (name.rfind("void ", 0) == 0) name = trim_blanks(name.substr(5));
  size_t open = name.find('<');
  if (open == std::string::npos || name.back() != '>') return strip_needless_blanks(name);
  std::string out = strip_needless_blanks(name.substr(0, open)) + "<";
  auto parts = split_arguments(name.substr(open + 1, name.size() - open - 2));
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i ? ", " : "") + normalised_template_argument(parts[i]);
  return out + ">";
}

// Returns a form for comparison only: true becomes 1 and false 0, since users write either.
std::string name_with_booleans_as_digits(std::string name) {
  static const RegularExpression yes("\\btrue\\b"), no("\\bfalse\\b");
  return no.replace(yes.replace(name, "1"), "0");
}

// The last component of a qualified name, with its template arguments.
std::string without_scopes(const std::string& name) {
  size_t template_begins = std::min(name.find('<'), name.size());
  size_t colons = name.rfind("::", template_begins);
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

}  // namespace

std::string kernel_name(const std::string& symbol) {
  std::string text = demangle(symbol);
  return text == symbol ? symbol : normalised_kernel_name(text);
}

std::vector<std::string> parameter_types(const std::string& symbol) {
  const std::string text = trim_blanks(demangle(symbol));
  const size_t open = argument_list_begin(text);
  if (text == symbol || open == std::string::npos || text.back() != ')') return {};
  const std::string list = text.substr(open + 1, text.size() - open - 2);
  if (list.empty()) return {};
  std::vector<std::string> types = split_arguments(list);
  for (std::string& type : types) type = trim_blanks(type);
  return types;
}

namespace {

std::string name_after_last_scope(const std::string& name) {
  // The part after the last scope; template arguments and parameter lists may contain "::"
  // themselves.
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' || c == '<' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == '}') --depth;
    if (depth == 0 && c == ':' && name[i + 1] == ':') start = i + 2;
  }
  return name.substr(start);
}

}  // namespace

std::string variable_name(const std::string& symbol) {
  // A recorded access asks for the name of the same variable once for each lane.
  thread_local std::string last_symbol, last_name;
  if (last_symbol != symbol) {
    last_name = name_after_last_scope(demangle(symbol));
    last_symbol = symbol;
  }
  return last_name;
}

std::optional<size_t> find_kernel(const std::vector<std::string>& symbols,
                                  const std::string& wanted) {
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i] == wanted) return i;
  std::string name = name_with_booleans_as_digits(normalised_kernel_name(demangle(wanted)));
  std::vector<size_t> exact, loose;
  for (size_t i = 0; i < symbols.size(); ++i) {
    std::string candidate = name_with_booleans_as_digits(kernel_name(symbols[i]));
    if (candidate == name) exact.push_back(i);
    if (without_scopes(candidate) == name) loose.push_back(i);
  }
  const auto& found = exact.empty() ? loose : exact;
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found[0];
  std::string which;
  for (size_t i : found) which += "\n  " + symbols[i] + "  " + demangle(symbols[i]);
  throw Error("kernel '" + wanted + "' could be any of these; name one of them in full:" + which);
}

// ---- elements of arrays ----

namespace {

std::string element_name(const std::string& symbol, const std::string& part) {
  return part.empty() ? "" : variable_name(symbol) + part;
}

// The symbol of an array and the index of an element. nvcc splits a small array in shared memory
// into variables of one element each. For the symbol of any other variable, the index is 0.
struct ArrayElementSymbol {
  std::string array;
  int64_t element = 0;
};
ArrayElementSymbol parse_split_array_symbol(const std::string& symbol) {
  static constexpr std::string_view kMark = "_$_";
  const size_t mark = symbol.find(kMark);
  if (mark == std::string::npos) return {symbol, 0};
  const std::string number = symbol.substr(mark + kMark.size());
  const bool one_level =
      !number.empty() && number.size() < 9 &&
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return {symbol.substr(0, mark), one_level ? std::stoll(number) : 0};
}

}  // namespace

const ptx::DebugTypes& ElementNames::types() {
  if (!types_) types_ = debug_ptx_ ? ptx::DebugTypes(debug_ptx_()) : ptx::DebugTypes();
  return *types_;
}

void ElementNames::name_element(counters::Finding& f) {
  if (f.object.empty()) return;
  if (f.global && module_.find_variable(f.object) == nullptr) return;  // the host allocated it
  const bool race = f.kind == counters::Finding::Kind::race;
  const uint32_t bytes = race ? std::min(f.party.bytes, f.other.bytes) : f.party.bytes;
  const ArrayElementSymbol piece = parse_split_array_symbol(f.object);
  const int64_t offset = static_cast<int64_t>(f.offset) + piece.element * bytes;
  f.place = element_name(piece.array, types().element_path(piece.array, offset, bytes));
  f.object = variable_name(piece.array);
}

void ElementNames::name_element(sim::FaultyMemoryAccess& access,
                                const std::vector<sim::SharedVariable>& shared) {
  if (access.space == sim::AccessSpace::local) return;
  std::string symbol = access.object;
  if (access.space == sim::AccessSpace::shared && symbol.empty()) {
    const bool outside =
        access.offset < 0 || static_cast<uint64_t>(access.offset) + access.bytes > access.size;
    for (const sim::SharedVariable& v : shared) {
      const int64_t offset = access.offset - int64_t{v.offset};
      const bool holds = offset >= 0 && offset + access.bytes <= int64_t{v.bytes};
      if (outside ? shared.size() > 1 : !holds) continue;
      const ArrayElementSymbol piece = parse_split_array_symbol(v.name);
      symbol = piece.array;
      access.object = variable_name(symbol);
      access.offset = offset + piece.element * int64_t{v.bytes};
      access.size = v.bytes * static_cast<uint64_t>(piece.element + 1);
      break;
    }
  }
  const bool shared_memory = access.space == sim::AccessSpace::shared;
  if (symbol.empty() || (!shared_memory && module_.find_variable(symbol) == nullptr)) return;
  access.object = variable_name(symbol);
  access.place = element_name(symbol, types().element_path(symbol, access.offset, access.bytes));
  access.last_place = element_name(
      symbol, types().last_valid_element_path(symbol, access.offset, access.bytes, access.size));
}

}  // namespace lab32::device
