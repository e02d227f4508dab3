#include "grading/launch/compare.h"

namespace lab32::grading {
namespace {

std::string ordinal(size_t n) {
  const size_t tens = n % 100;
  const char* suffix = "th";
  if (tens < 11 || tens > 13) {
    if (n % 10 == 1) suffix = "st";
    if (n % 10 == 2) suffix = "nd";
    if (n % 10 == 3) suffix = "rd";
  }
  return std::to_string(n) + suffix;
}

}  // namespace

std::string pattern(const std::vector<size_t>& wrong, size_t total) {
  if (wrong.empty() || total < 2) return "";
  const size_t first = wrong.front(), last = wrong.back(), count = wrong.size();
  if (count == total) return "all of them";
  if (count == 1)
    return first + 1 == total ? "only the last one"
           : first == 0       ? "only the first one"
                              : "only this one";
  const bool contiguous = last - first + 1 == count;
  if (contiguous && last + 1 == total) return fmt::format("the tail, from {} on", first);
  if (contiguous && first == 0) return fmt::format("the first {}", count);
  if (contiguous) return fmt::format("those from {} to {}", first, last);
  const size_t step = wrong[1] - wrong[0];
  bool regular = true;
  for (size_t i = 1; i < count && regular; ++i) regular = wrong[i] - wrong[i - 1] == step;
  if (regular && last + step >= total)
    return fmt::format("every {} one from {} on", ordinal(step), first);
  if (regular) return fmt::format("every {} one from {} to {}", ordinal(step), first, last);
  // All but a regular few: the right ones make the pattern.
  std::vector<size_t> right;
  size_t w = 0;
  for (size_t i = 0; i < total; ++i)
    if (w < count && wrong[w] == i)
      ++w;
    else
      right.push_back(i);
  if (right.size() == 1) return fmt::format("all but element {}", right[0]);
  const size_t gap = right[1] - right[0];
  for (size_t i = 1; i < right.size(); ++i)
    if (right[i] - right[i - 1] != gap) return "";
  return gap == 1 ? "" : fmt::format("all but every {} one from {} on", ordinal(gap), right[0]);
}

std::string mismatch_message(const std::string& name, const std::vector<size_t>& wrong,
                             size_t total, const std::string& got, const std::string& want,
                             size_t unwritten) {
  std::string message =
      got.empty() ? fmt::format("{}[{}] was not written; {} was expected", name, wrong[0], want)
                  : fmt::format("{}[{}] is {} where {} was expected", name, wrong[0], got, want);
  if (total > 1) {
    message += fmt::format("; {} of {} elements {} wrong", wrong.size(), total,
                           wrong.size() == 1 ? "is" : "are");
    if (const std::string p = pattern(wrong, total); !p.empty()) message += ": " + p;
  }
  if (unwritten > 0 && wrong.size() > 1)
    message += unwritten == wrong.size()
                   ? " (none of these was written)"
                   : fmt::format(" ({} of these were not written)", unwritten);
  return message + ".";
}

}  // namespace lab32::grading
