#include "base/suggestions.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lab32 {

size_t edit_distance(const std::string& a, const std::string& b) {
  // Row i: the distances of a's first i letters to every beginning of b.
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

}  // namespace lab32
