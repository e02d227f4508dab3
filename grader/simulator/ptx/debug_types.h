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

// A type, made from DWARF entries when a variable is read. It contains no cycles, because a pointer
// here has no target.
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

// The types of variables by their symbols in the PTX. Empty if the text has no debug sections, or
// if they are not understood (dwarf.cpp).
std::map<std::string, std::shared_ptr<const DebugType>> types_of_variables(const std::string& ptx);

class DebugTypes {
 public:
  DebugTypes() = default;
  // Reads the debug sections of a PTX text. The object stays empty if they are missing or not
  // understood.
  explicit DebugTypes(const std::string& ptx);

  bool empty() const { return variables_.empty(); }

  // The name of the element in which an access of `bytes` bytes at `offset` begins, relative to the
  // variable: "[1].mass", "[3][32]". The element is as small as possible, but contains the whole
  // access. The outermost index may be outside of the array. "": the element is unknown, or is the
  // whole variable.
  std::string element_path(const std::string& symbol, int64_t offset, uint32_t bytes) const;

  // For an access beyond an array of `size` bytes: the name of the last valid place, which is the
  // same member of the array's last element.
  std::string last_valid_element_path(const std::string& symbol, int64_t offset, uint32_t bytes,
                                      uint64_t size) const;

 private:
  const DebugType* array_type_of(const std::string& symbol) const;  // nullptr: no array

  std::map<std::string, std::shared_ptr<const DebugType>> variables_;
};

}  // namespace lab32::ptx
