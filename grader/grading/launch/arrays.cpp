#include "grading/launch/arrays.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "grading/engine/check.h"

namespace lab32::grading {

DeviceArray::DeviceArray(Check& check, std::string name, size_t element_bytes, size_t count)
    : check_(check),
      name_(std::move(name)),
      element_bytes_(element_bytes),
      count_(count),
      buffer_(check.device().allocate(element_bytes * count, name_)) {
  check.arrays.push_back(this);
}

DeviceArray::~DeviceArray() {
  auto& live = check_.arrays;
  live.erase(std::remove(live.begin(), live.end(), this), live.end());
  check_.device().release(buffer_);
}

void DeviceArray::poison() { check_.device().poison(buffer_); }

void DeviceArray::upload(const void* from) {
  if (count_ > 0) check_.device().upload(buffer_, from, buffer_.bytes);
}

void DeviceArray::download(void* to) const {
  if (count_ > 0) check_.device().download(to, buffer_, buffer_.bytes);
}

ptrdiff_t DeviceArray::first_difference(const void* values) const {
  constexpr uint64_t kPiece = 256 << 10;  // stays in the host's cache
  const auto* want = static_cast<const std::byte*>(values);
  std::vector<std::byte> now(std::min(kPiece, buffer_.bytes));
  for (uint64_t at = 0; at < buffer_.bytes; at += kPiece) {
    const uint64_t bytes = std::min(kPiece, buffer_.bytes - at);
    check_.device().download(now.data(), {buffer_.address + at, bytes}, bytes);
    if (std::memcmp(now.data(), want + at, bytes) == 0) continue;
    const auto differ =
        std::mismatch(now.begin(), now.begin() + static_cast<ptrdiff_t>(bytes), want + at);
    return static_cast<ptrdiff_t>((at + static_cast<uint64_t>(differ.first - now.begin())) /
                                  element_bytes_);
  }
  return -1;
}

std::string name_of_address(Check& check, uint64_t address) {
  for (const LaunchedArray& region : check.launched) {
    const uint64_t offset = address - region.address;
    if (address < region.address || offset >= region.bytes) continue;
    std::string name = fmt::format("{}[{}]", region.name, offset / region.element_bytes);
    if (const uint64_t rest = offset % region.element_bytes) name += fmt::format("+{}", rest);
    return name;
  }
  return fmt::format("{:#x}", address);
}

namespace {

std::string ordinal_text(size_t n) {
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

std::string index_pattern_text(const std::vector<size_t>& wrong, size_t total) {
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
    return fmt::format("every {} one from {} on", ordinal_text(step), first);
  if (regular) return fmt::format("every {} one from {} to {}", ordinal_text(step), first, last);
  // Most elements are wrong: describe the few right ones, if they form a pattern.
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
  return gap == 1 ? ""
                  : fmt::format("all but every {} one from {} on", ordinal_text(gap), right[0]);
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
    if (const std::string p = index_pattern_text(wrong, total); !p.empty()) message += ": " + p;
  }
  if (unwritten > 0 && wrong.size() > 1)
    message += unwritten == wrong.size()
                   ? " (none of these was written)"
                   : fmt::format(" ({} of these were not written)", unwritten);
  return message + ".";
}

}  // namespace lab32::grading
