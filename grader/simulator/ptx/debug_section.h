// A debug section of PTX: bytes, in which some places hold the address of a symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace lab32::ptx {

// Read from the front. Throws std::runtime_error at what lies behind the end.
class DebugSection {
 public:
  // Empty where the text has no such section.
  DebugSection(const std::string& ptx, const std::string& name);

  size_t at() const { return at_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  void go_to(size_t offset);
  void skip(size_t count) { go_to(at_ + count); }

  uint64_t number(unsigned count);  // of so many bytes, the lowest first
  uint64_t uleb();                  // LEB128
  std::string text();               // to the next 0
  std::string symbol();             // whose address lies here; empty: a number does

 private:
  void append(const std::string& directive, const std::string& values);

  std::string bytes_;
  std::map<size_t, std::string> symbols_;  // by place
  size_t at_ = 0;
};

}  // namespace lab32::ptx
