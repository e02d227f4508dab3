#include "toolchain/artifact.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lab32::toolchain {

namespace {

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

// The bytes of the types ".b8", ".u64", ".f32" and so on; 0: the word is no such type.
uint64_t bytes_of_ptx_type(std::string_view word) {
  if (word.size() < 3 || std::string_view("busf").find(word[1]) == std::string_view::npos) return 0;
  const std::string_view bits = word.substr(2);
  return bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : bits == "64" ? 8 : 0;
}

uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t result;
  return __builtin_mul_overflow(a, b, &result) ? ~0ull : result;
}

uint64_t sum(uint64_t a, uint64_t b) { return a > ~b ? ~0ull : a + b; }

// "x[3][4] = {...};"
uint64_t element_count(std::string_view declarator) {
  uint64_t count = 1;
  size_t at = declarator.find_first_of("[=;");
  while (at < declarator.size() && declarator[at] == '[') {
    uint64_t length = 0;
    for (++at; at < declarator.size() && std::isdigit(static_cast<unsigned char>(declarator[at]));
         ++at)
      length = sum(saturating_product(length, 10), static_cast<uint64_t>(declarator[at] - '0'));
    count = saturating_product(count, length);
    at = declarator.find_first_not_of("] \t", at);
  }
  return count;
}

uint64_t device_variable_bytes_of_line(std::string_view line) {
  bool variable = false;
  while (true) {
    const std::string_view word = next_word(line);
    if (word.empty() || word[0] != '.') return 0;
    variable |= word == ".global" || word == ".const";
    if (word == ".align")
      next_word(line);
    else if (const uint64_t bytes = bytes_of_ptx_type(word))
      return variable ? saturating_product(bytes, element_count(line)) : 0;
  }
}

}  // namespace

uint64_t variable_bytes(const std::string& ptx) {
  uint64_t all = 0;
  for (size_t at = 0; at < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', at), ptx.size());
    all = sum(all, device_variable_bytes_of_line(std::string_view(ptx).substr(at, end - at)));
    at = end + 1;
  }
  return all;
}

}  // namespace lab32::toolchain
