// Names like one that does not exist, for "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lab32 {

// Letters to insert, remove or replace to turn one into the other (Levenshtein 1966).
size_t edit_distance(const std::string& a, const std::string& b);

// The nearest of `names`, at most `count`, nearest first and of equals in their order; those that
// have nothing in common with `wanted` (more than half of its letters differ) are left out.
std::vector<std::string> suggestions(const std::string& wanted,
                                     const std::vector<std::string>& names, size_t count);

}  // namespace lab32
