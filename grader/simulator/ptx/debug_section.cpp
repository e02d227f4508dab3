#include "simulator/ptx/debug_section.h"

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace lab32::ptx {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

// `.section .debug_info` and, in braces, a directive per line: `.b8 115,0`, `.b64 tile`.
DebugSection::DebugSection(const std::string& ptx, const std::string& name) {
  std::istringstream lines(ptx);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.rfind(".section", 0) == 0) {
      inside = trimmed(trimmed(line.substr(8)).substr(0, name.size())) == name;
      const std::string rest = trimmed(trimmed(line.substr(8)).substr(inside ? name.size() : 0));
      inside = inside && (rest.empty() || rest == "{");
      continue;
    }
    if (!inside) continue;
    if (line == "}") break;
    const size_t blank = line.find_first_of(" \t");
    if (line.rfind(".b", 0) == 0 && blank != std::string::npos)
      append(line.substr(0, blank), line.substr(blank));
  }
}

void DebugSection::append(const std::string& directive, const std::string& values) {
  const int bits = std::atoi(directive.c_str() + 2);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return;
  std::istringstream each(values);
  for (std::string value; std::getline(each, value, ',');) {
    value = trimmed(value);
    if (value.empty()) continue;
    const bool is_number = std::isdigit(static_cast<unsigned char>(value[0])) || value[0] == '-';
    if (!is_number) symbols_[bytes_.size()] = value.substr(0, value.find('+'));
    const uint64_t number = is_number ? std::strtoull(value.c_str(), nullptr, 0) : 0;
    for (int shift = 0; shift < bits; shift += 8)
      bytes_ += static_cast<char>(number >> shift & 0xff);
  }
}

void DebugSection::go_to(size_t offset) {
  if (offset > bytes_.size()) throw std::runtime_error("behind the end of a debug section");
  at_ = offset;
}

uint64_t DebugSection::number(unsigned count) {
  const size_t begin = at_;
  skip(count);
  uint64_t value = 0;
  for (unsigned i = 0; i < count && i < 8; ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes_[begin + i])} << (8 * i);
  return value;
}

uint64_t DebugSection::uleb() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint64_t byte = number(1);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

std::string DebugSection::text() {
  const size_t end = bytes_.find('\0', at_);
  if (end == std::string::npos) throw std::runtime_error("a text of a debug section has no end");
  std::string text = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return text;
}

std::string DebugSection::symbol() {
  const auto found = symbols_.find(at_);
  return found == symbols_.end() ? "" : found->second;
}

}  // namespace lab32::ptx
