// What the elements of variables are called in the source: from the types that nvcc -G describes in
// its PTX (DWARF 2, the subset that it writes). Messages say `points[1].mass` by them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lab32::ptx {

// Made of entries (DIEs) when a variable is read, so that nothing is shared that could be circular.
struct DebugType {
  struct Member {
    std::string name;
    uint64_t offset = 0;
    std::shared_ptr<const DebugType> type;
  };
  uint64_t bytes = 0;
  std::shared_ptr<const DebugType> element;  // of an array
  std::vector<Member> members;               // of a structure
};

// The type of each variable (a symbol of the PTX); none where the text has no debug sections, or
// where they are not understood (dwarf.cpp).
std::map<std::string, std::shared_ptr<const DebugType>> types_of_variables(const std::string& ptx);

class DebugTypes {
 public:
  DebugTypes() = default;
  // Of PTX text. Sections that are absent or not understood leave it empty.
  explicit DebugTypes(const std::string& ptx);

  bool empty() const { return variables_.empty(); }

  // "[1].mass", "[3][32]": the part of the variable (a symbol of the PTX) that an access of `bytes`
  // at `offset` begins in, as far down as it holds the access. The outermost index may lie outside
  // of the array. Empty: not known, or the whole variable.
  std::string place(const std::string& symbol, int64_t offset, uint32_t bytes) const;

  // The same place of the last element of an array that has `size` bytes: `place` is past it.
  std::string last_place(const std::string& symbol, int64_t offset, uint32_t bytes,
                         uint64_t size) const;

 private:
  const DebugType* array(const std::string& symbol) const;  // nullptr: it is none

  std::map<std::string, std::shared_ptr<const DebugType>> variables_;
};

}  // namespace lab32::ptx
