#include "base/text.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/work.h"

namespace lab32 {

// ---- which characters can be shown -------------------------------------------------------------

namespace {

struct DecodedCharacter {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8 begins here
};

DecodedCharacter decode_character(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < bytes) return {};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool is_control(uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// Marks of direction, and other invisible characters that move text or end lines; also U+fffe and
// U+ffff, which are no characters and which XML must not contain.
bool is_invisible_or_bidi_character(uint32_t c) {
  return c == 0x061c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         c == 0xfffe || c == 0xffff;
}

std::string escape_invisible_characters(const std::string& text, const char* as_it_is,
                                        const char* escaped) {
  const auto one_of = [](const char* set, uint32_t c) {
    for (; *set; ++set)
      if (static_cast<unsigned char>(*set) == c) return true;
    return false;
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const DecodedCharacter d = decode_character(text, at);
    if (d.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      continue;
    }
    const bool line_end = d.code == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (line_end && one_of(as_it_is, '\n')) {
      // In a file from Windows, a line ends with \r and \n; the \r is dropped.
    } else if (one_of(escaped, d.code) || (is_control(d.code) && !one_of(as_it_is, d.code))) {
      out += fmt::format("\\x{:02x}", d.code);
    } else if (is_invisible_or_bidi_character(d.code)) {
      out += fmt::format("\\u{:04x}", d.code);
    } else {
      out.append(text, at, d.bytes);
    }
    at += d.bytes;
  }
  return out;
}

}  // namespace

std::string grouped_digits(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string visible(const std::string& text) {
  return escape_invisible_characters(text, "\n\t", "");
}

std::string visible_name(const std::string& name) {
  return escape_invisible_characters(name, "", "\"\\");
}

// ---- columns ---------------------------------------------------------------------------------

namespace {

// The prefix of `text` that shows as `width` columns, never half a UTF-8 sequence.
size_t bytes_of_display_columns(std::string_view text, int width) {
  size_t at = 0;
  for (int shown = 0; at < text.size() && shown < width; ++shown) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

void wrap_line(std::string_view line, int width, std::vector<std::string>& out) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (indent >= 4 || display_columns(line) <= width) {
    out.emplace_back(line);
    return;
  }
  const std::string margin(indent, ' ');
  std::string current = margin;
  bool empty = true;
  size_t at = indent;
  while (at < line.size()) {
    const size_t end = std::min(line.find(' ', at), line.size());
    std::string_view word = line.substr(at, end - at);
    at = std::min(line.find_first_not_of(' ', end), line.size());
    if (!empty && display_columns(current) + 1 + display_columns(word) > width) {
      out.push_back(current);
      current = margin;
      empty = true;
    }
    while (empty && display_columns(current) + display_columns(word) > width) {
      const size_t cut =
          bytes_of_display_columns(word, std::max(1, width - display_columns(current)));
      if (cut >= word.size()) break;
      out.push_back(margin + std::string(word.substr(0, cut)));
      word.remove_prefix(cut);
    }
    if (!empty) current += ' ';
    current += word;
    empty = false;
  }
  if (!empty) out.push_back(current);
}

}  // namespace

int display_columns(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (true) {
    const size_t end = text.find('\n');
    wrap_line(text.substr(0, end), width, lines);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text) + std::string(std::max(0, width - display_columns(text)), ' ');
}

std::string pad_left(std::string_view text, int width) {
  return std::string(std::max(0, width - display_columns(text)), ' ') + std::string(text);
}

// ---- similar names ---------------------------------------------------------------------------

size_t edit_distance(const std::string& a, const std::string& b) {
  // Entry j of row i: the distance of a's first i letters from b's first j letters.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::vector<std::string> suggestions(const std::string& wanted,
                                     const std::vector<std::string>& names, size_t count) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(wanted, name);
    if (distance <= std::max<size_t>(wanted.size() / 2, 2)) near.emplace_back(distance, name);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > count) near.resize(count);
  std::vector<std::string> out;
  for (auto& [distance, name] : near) out.push_back(std::move(name));
  return out;
}

// ---- demangled_without_limits names
// -------------------------------------------------------------------------

namespace {

// Each reference to an earlier part of the name may double the text: 200 characters can stand for
// gigabytes, and the C++ library has no limit. A name with more references than this is
// demangled_without_limits in a child process with a time limit, and no such name is
// demangled_without_limits any more after several have exceeded it.
constexpr int kHarmlessReferences = 10;
constexpr size_t kHarmlessLength = 8192, kLongest = 1 << 20;
constexpr double kSeconds = 0.3;
constexpr int kMostFailures = 3;

// "S_", "S1Z_", "T0_".
int count_back_references(const std::string& name) {
  int count = 0;
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] != 'S' && name[at] != 'T') continue;
    size_t end = at + 1;
    while (end < name.size() && (std::isdigit(static_cast<unsigned char>(name[end])) ||
                                 std::isupper(static_cast<unsigned char>(name[end]))))
      ++end;
    count += end < name.size() && name[end] == '_' ? 1 : 0;
  }
  return count;
}

// "add(Array<...>)" for Numba's "__main__::add[abi:v2][abi:cw51cXTLSUwv1sDUaKthqaNg](Array<...>)".
std::string short_numba_function_name(const std::string& text) {
  const size_t tags = text.find("[abi:v");
  if (tags == text.npos) return text;
  size_t end = tags;
  while (end < text.size() && text[end] == '[') end = text.find(']', end) + 1;
  const size_t scope = text.rfind("::", tags);
  const size_t begin = scope == text.npos ? 0 : scope + 2;
  return text.substr(begin, tags - begin) + text.substr(end);
}

std::string demangled_without_limits(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return name;
  return is_name_of_numba(name) ? short_numba_function_name(text.get()) : std::string(text.get());
}

}  // namespace

bool is_name_of_numba(const std::string& symbol) {
  static const RegularExpression tags("[a-z0-9_]B[0-9]v[0-9]+B[0-9]+c");
  return symbol.compare(0, 2, "_Z") == 0 && tags.search(symbol).has_value();
}

std::string demangle(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;  // else `f` would become `float`
  if (name.size() > kLongest) return name;
  if (count_back_references(name) <= kHarmlessReferences && name.size() <= kHarmlessLength)
    return demangled_without_limits(name);
  static std::atomic<int> failures{0};
  if (failures >= kMostFailures) return name;
  const ForkResult child = run_forked(
      [&] {
        const std::string text = demangled_without_limits(name);
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        return text.size() > kLongest ? std::vector<std::byte>()
                                      : std::vector<std::byte>(bytes, bytes + text.size());
      },
      kSeconds);
  if (child.end == ForkResult::End::done && !child.answer.empty())
    return {reinterpret_cast<const char*>(child.answer.data()), child.answer.size()};
  ++failures;
  return name;
}

// ---- patterns ----

namespace {

constexpr size_t kMostGroups = 10;

void free_regex(regex_t* compiled) {
  regfree(compiled);
  delete compiled;
}

}  // namespace

RegularExpression::RegularExpression(const std::string& expression) {
  auto compiled = std::make_unique<regex_t>();
  if (const int code = regcomp(compiled.get(), expression.c_str(), REG_EXTENDED)) {
    std::array<char, 256> reason{};
    regerror(code, compiled.get(), reason.data(), reason.size());
    throw Error(reason.data());
  }
  compiled_ = {compiled.release(), free_regex};
}

std::optional<RegularExpression::Match> RegularExpression::find(const std::string& text,
                                                                size_t from) const {
  std::array<regmatch_t, kMostGroups> at{};
  // With REG_STARTEND, offsets count from the beginning of the text, so that \b and ^ see the
  // character before `from`, and the text may contain any byte.
  at[0].rm_so = static_cast<regoff_t>(from);
  at[0].rm_eo = static_cast<regoff_t>(text.size());
  if (regexec(compiled_.get(), text.c_str(), at.size(), at.data(), REG_STARTEND) != 0)
    return std::nullopt;
  Match place{static_cast<size_t>(at[0].rm_so), static_cast<size_t>(at[0].rm_eo), {}};
  for (size_t i = 0; i <= compiled_->re_nsub && i < at.size(); ++i)
    place.groups.push_back(at[i].rm_so < 0 ? ""
                                           : text.substr(static_cast<size_t>(at[i].rm_so),
                                                         static_cast<size_t>(at[i].rm_eo) -
                                                             static_cast<size_t>(at[i].rm_so)));
  return place;
}

std::optional<RegularExpression::Groups> RegularExpression::search(const std::string& text) const {
  auto place = find(text, 0);
  if (!place) return std::nullopt;
  return std::move(place->groups);
}

std::optional<RegularExpression::Groups> RegularExpression::match(const std::string& text) const {
  auto groups = search(text);
  if (!groups || groups->front() != text) return std::nullopt;
  return groups;
}

std::vector<RegularExpression::Groups> RegularExpression::all(const std::string& text) const {
  std::vector<Groups> found;
  for (size_t from = 0; auto place = find(text, from);) {
    from = place->end + (place->end == place->begin ? 1 : 0);
    found.push_back(std::move(place->groups));
    if (from > text.size()) break;
  }
  return found;
}

std::string RegularExpression::replace(const std::string& text, const std::string& by) const {
  std::string out;
  size_t from = 0;
  while (auto place = find(text, from)) {
    out.append(text, from, place->begin - from);
    for (size_t i = 0; i < by.size(); ++i) {
      const bool group = by[i] == '$' && i + 1 < by.size() &&
                         std::isdigit(static_cast<unsigned char>(by[i + 1])) != 0;
      const size_t number = group ? static_cast<size_t>(by[++i] - '0') : 0;
      if (!group)
        out += by[i];
      else if (number < place->groups.size())
        out += place->groups[number];
    }
    from = place->end;
    if (place->end > place->begin) continue;
    // After an empty match the next character is copied, so that the search advances.
    if (from == text.size()) return out;
    out += text[from++];
  }
  return out.append(text, from, std::string::npos);
}

}  // namespace lab32
