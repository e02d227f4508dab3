#include "base/pattern.h"

#include <array>
#include <cctype>

#include "base/error.h"

namespace lab32 {
namespace {

constexpr size_t kMostGroups = 10;

void release(regex_t* compiled) {
  regfree(compiled);
  delete compiled;
}

}  // namespace

Pattern::Pattern(const std::string& expression) {
  auto compiled = std::make_unique<regex_t>();
  if (const int code = regcomp(compiled.get(), expression.c_str(), REG_EXTENDED)) {
    std::array<char, 256> reason{};
    regerror(code, compiled.get(), reason.data(), reason.size());
    throw Error(reason.data());
  }
  compiled_ = {compiled.release(), release};
}

std::optional<Pattern::Match> Pattern::find(const std::string& text, size_t from) const {
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

std::optional<Pattern::Groups> Pattern::search(const std::string& text) const {
  auto place = find(text, 0);
  if (!place) return std::nullopt;
  return std::move(place->groups);
}

std::optional<Pattern::Groups> Pattern::match(const std::string& text) const {
  auto groups = search(text);
  if (!groups || groups->front() != text) return std::nullopt;
  return groups;
}

std::vector<Pattern::Groups> Pattern::all(const std::string& text) const {
  std::vector<Groups> found;
  for (size_t from = 0; auto place = find(text, from);) {
    from = place->end + (place->end == place->begin ? 1 : 0);
    found.push_back(std::move(place->groups));
    if (from > text.size()) break;
  }
  return found;
}

std::string Pattern::replace(const std::string& text, const std::string& by) const {
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
    // An empty match: copy the next character, so that the search advances.
    if (from == text.size()) return out;
    out += text[from++];
  }
  return out.append(text, from, std::string::npos);
}

}  // namespace lab32
