// The source names of elements of variables, from the types that nvcc -G describes in its PTX
// (DWARF 2, the subset that nvcc writes). Messages say `points[1].mass` with them. Text that is not
// understood gives no names and is never an error.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lab32::ptx {

// A type, built from DWARF entries when a variable is read. Types are not shared in cycles: a
// pointer has no target here.
struct DebugType {
  struct Member {
    std::string name;
    uint64_t offset = 0;
    std::shared_ptr<const DebugType> type;
  };
  uint64_t bytes = 0;
  std::shared_ptr<const DebugType> element;  // the element type of an array
  std::vector<Member> members;               // the members of a structure
};

// Symbol in the PTX -> the type of the variable. Empty if the text has no debug sections, or if
// they are not understood (dwarf.cpp).
std::map<std::string, std::shared_ptr<const DebugType>> types_of_variables(const std::string& ptx);

class DebugTypes {
 public:
  DebugTypes() = default;
  // Reads PTX text. Sections that are missing or not understood leave it empty.
  explicit DebugTypes(const std::string& ptx);

  bool empty() const { return variables_.empty(); }

  // "[1].mass", "[3][32]": the element of the variable (a symbol of the PTX) in which an access of
  // `bytes` at `offset` begins, as deep as the element contains the whole access. The outermost
  // index may be outside of the array. "": unknown, or the whole variable.
  std::string place(const std::string& symbol, int64_t offset, uint32_t bytes) const;

  // For an access beyond an array of `size` bytes: the name of the corresponding part of the last
  // element.
  std::string last_place(const std::string& symbol, int64_t offset, uint32_t bytes,
                         uint64_t size) const;

 private:
  const DebugType* array(const std::string& symbol) const;  // nullptr: no array

  std::map<std::string, std::shared_ptr<const DebugType>> variables_;
};

}  // namespace lab32::ptx
