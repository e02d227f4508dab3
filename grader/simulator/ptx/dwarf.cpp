#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "simulator/ptx/debug_types.h"

namespace lab32::ptx {
namespace {

// ---- sections --------------------------------------------------------------------------------

std::string trim_spaces(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// A debug section of PTX: bytes, in which some places contain the address of a symbol. It is read
// from front to back; reading beyond its end throws std::runtime_error.
class DebugSection {
 public:
  // Reads the section `name` of a PTX text. The object is empty if the text has no such section.
  DebugSection(const std::string& ptx, const std::string& name);

  size_t at() const { return at_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  void seek(size_t offset);
  void skip(size_t count) { seek(at_ + count); }

  uint64_t read_number(unsigned count);  // a little-endian number of `count` bytes
  uint64_t read_uleb();                  // LEB128
  std::string read_text();               // a text that ends before the next 0 byte
  // The symbol whose address is stored here; "": a plain number is stored here.
  std::string relocation_symbol_at_position();

 private:
  void append_values(const std::string& directive, const std::string& values);

  std::string bytes_;
  std::map<size_t, std::string> symbols_;  // by offset
  size_t at_ = 0;
};

// PTX writes `.section .debug_info` and, in braces, one directive per line: `.b8 115,0`, `.b64
// tile`.
DebugSection::DebugSection(const std::string& ptx, const std::string& name) {
  std::istringstream lines(ptx);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line = trim_spaces(line);
    if (line.rfind(".section", 0) == 0) {
      inside = trim_spaces(trim_spaces(line.substr(8)).substr(0, name.size())) == name;
      const std::string rest =
          trim_spaces(trim_spaces(line.substr(8)).substr(inside ? name.size() : 0));
      inside = inside && (rest.empty() || rest == "{");
      continue;
    }
    if (!inside) continue;
    if (line == "}") break;
    const size_t blank = line.find_first_of(" \t");
    if (line.rfind(".b", 0) == 0 && blank != std::string::npos)
      append_values(line.substr(0, blank), line.substr(blank));
  }
}

void DebugSection::append_values(const std::string& directive, const std::string& values) {
  const int bits = std::atoi(directive.c_str() + 2);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return;
  std::istringstream each(values);
  for (std::string value; std::getline(each, value, ',');) {
    value = trim_spaces(value);
    if (value.empty()) continue;
    const bool is_number = std::isdigit(static_cast<unsigned char>(value[0])) || value[0] == '-';
    if (!is_number) symbols_[bytes_.size()] = value.substr(0, value.find('+'));
    const uint64_t number = is_number ? std::strtoull(value.c_str(), nullptr, 0) : 0;
    for (int shift = 0; shift < bits; shift += 8)
      bytes_ += static_cast<char>(number >> shift & 0xff);
  }
}

void DebugSection::seek(size_t offset) {
  if (offset > bytes_.size()) throw std::runtime_error("behind the end of a debug section");
  at_ = offset;
}

uint64_t DebugSection::read_number(unsigned count) {
  const size_t begin = at_;
  skip(count);
  uint64_t value = 0;
  for (unsigned i = 0; i < count && i < 8; ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes_[begin + i])} << (8 * i);
  return value;
}

uint64_t DebugSection::read_uleb() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint64_t byte = read_number(1);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

std::string DebugSection::read_text() {
  const size_t end = bytes_.find('\0', at_);
  if (end == std::string::npos) throw std::runtime_error("a text of a debug section has no end");
  std::string text = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return text;
}

std::string DebugSection::relocation_symbol_at_position() {
  const auto found = symbols_.find(at_);
  return found == symbols_.end() ? "" : found->second;
}

// ---- entries of DWARF, and the types that they describe --------------------------------------

// The tags and attributes of DWARF 2, figures 14 to 19, that nvcc writes.
enum DwarfTag : uint64_t {
  kArray = 0x01,
  kClass = 0x02,
  kEnumeration = 0x04,
  kMember = 0x0d,
  kPointer = 0x0f,
  kReference = 0x10,
  kStructure = 0x13,
  kTypedef = 0x16,
  kUnion = 0x17,
  kInheritance = 0x1c,
  kSubrange = 0x21,
  kBase = 0x24,
  kConst = 0x26,
  kVariable = 0x34,
  kVolatile = 0x35,
};
enum DwarfAttribute : uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kUpperBound = 0x2f,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kTypeOf = 0x49,
};

struct DwarfEntry {
  uint64_t tag = 0;
  std::string name, symbol;                    // symbol: the address of a variable
  std::optional<uint64_t> bytes, count, type;  // count: elements of an array
  uint64_t member_offset = 0;
  std::vector<uint64_t> children;  // offsets of entries
};

struct DwarfAbbreviation {
  uint64_t tag = 0;
  bool has_children = false;
  std::vector<std::pair<uint64_t, uint64_t>> attributes;  // (attribute, form)
};

std::map<uint64_t, DwarfAbbreviation> read_abbreviations(DebugSection& section) {
  std::map<uint64_t, DwarfAbbreviation> all;
  while (!section.at_end()) {
    const uint64_t code = section.read_uleb();
    if (code == 0) break;
    DwarfAbbreviation a;
    a.tag = section.read_uleb();
    a.has_children = section.read_number(1) != 0;
    for (;;) {
      const uint64_t attribute = section.read_uleb(), form = section.read_uleb();
      if (attribute == 0 && form == 0) break;
      a.attributes.emplace_back(attribute, form);
    }
    all[code] = std::move(a);
  }
  return all;
}

// The value of an attribute in any form: a number, a text, or a block, which may contain the
// address of a symbol.
struct DwarfAttributeValue {
  uint64_t number = 0;
  std::string text, symbol;
};

DwarfAttributeValue read_dwarf_block(DebugSection& section, uint64_t length) {
  DwarfAttributeValue value;
  const size_t end = section.at() + length;
  if (length > 0) {
    const uint64_t operation = section.read_number(1);
    if (operation == 0x03) value.symbol = section.relocation_symbol_at_position();    // DW_OP_addr
    if (operation == 0x23 && section.at() < end) value.number = section.read_uleb();  // plus_uconst
  }
  section.seek(end);
  return value;
}

DwarfAttributeValue read_attribute_value(DebugSection& section, uint64_t form,
                                         unsigned address_bytes) {
  DwarfAttributeValue value;
  switch (form) {
    case 0x01:  // addr
      section.skip(address_bytes);
      return value;
    case 0x03:  // block2
      return read_dwarf_block(section, section.read_number(2));
    case 0x04:  // block4
      return read_dwarf_block(section, section.read_number(4));
    case 0x09:  // block
      return read_dwarf_block(section, section.read_uleb());
    case 0x0a:  // block1
      return read_dwarf_block(section, section.read_number(1));
    case 0x05:  // data2
    case 0x12:  // ref2
      value.number = section.read_number(2);
      return value;
    case 0x06:  // data4
    case 0x0e:  // strp
    case 0x10:  // ref_addr
    case 0x13:  // ref4
      value.number = section.read_number(4);
      return value;
    case 0x07:  // data8
    case 0x14:  // ref8
      value.number = section.read_number(8);
      return value;
    case 0x08:  // string
      value.text = section.read_text();
      return value;
    case 0x0b:  // data1
    case 0x0c:  // flag
    case 0x11:  // ref1
      value.number = section.read_number(1);
      return value;
    case 0x0d:  // sdata
    case 0x0f:  // udata
    case 0x15:  // ref_udata
      value.number = section.read_uleb();
      return value;
    default:
      throw std::runtime_error("a form of DWARF that nvcc does not use");
  }
}

DwarfEntry read_dwarf_entry(DebugSection& info, const DwarfAbbreviation& abbreviation,
                            unsigned address_bytes) {
  DwarfEntry entry;
  entry.tag = abbreviation.tag;
  for (const auto& [attribute, form] : abbreviation.attributes) {
    DwarfAttributeValue value = read_attribute_value(info, form, address_bytes);
    switch (attribute) {
      case kLocation:
        entry.symbol = std::move(value.symbol);
        break;
      case kName:
        entry.name = std::move(value.text);
        break;
      case kByteSize:
        entry.bytes = value.number;
        break;
      case kUpperBound:
        entry.count = value.number + 1;
        break;
      case kCount:
        entry.count = value.number;
        break;
      case kMemberLocation:
        entry.member_offset = value.number;
        break;
      case kTypeOf:
        entry.type = value.number;
        break;
      default:
        break;
    }
  }
  return entry;
}

using Entries = std::map<uint64_t, DwarfEntry>;  // by offset from the start of their unit

// Reads the entries of the unit that begins at the section's position, and moves the position
// behind the unit.
Entries read_unit_entries(DebugSection& info, const std::string& ptx) {
  const size_t start = info.at();
  const uint64_t length = info.read_number(4);
  const size_t end = info.at() + length;
  if (info.read_number(2) > 3)
    throw std::runtime_error("a version of DWARF that nvcc does not write");
  DebugSection abbrev(ptx, ".debug_abbrev");
  abbrev.seek(info.read_number(4));
  const auto abbreviations = read_abbreviations(abbrev);
  const auto address_bytes = static_cast<unsigned>(info.read_number(1));

  Entries entries;
  std::vector<uint64_t> open;  // offsets of the entries whose children are being read
  while (info.at() < end) {
    const uint64_t offset = info.at() - start, code = info.read_uleb();
    if (code == 0) {
      if (open.empty()) break;
      open.pop_back();
      continue;
    }
    const DwarfAbbreviation& abbreviation = abbreviations.at(code);
    entries[offset] = read_dwarf_entry(info, abbreviation, address_bytes);
    if (!open.empty()) entries[open.back()].children.push_back(offset);
    if (abbreviation.has_children) open.push_back(offset);
  }
  info.seek(end);
  return entries;
}

class DebugTypeBuilder {
 public:
  explicit DebugTypeBuilder(const Entries& entries) : entries_(entries) {}

  // Makes the type of the entry at `offset`. nullptr: the type is void or not supported.
  std::shared_ptr<const DebugType> make_type(const std::optional<uint64_t>& offset,
                                             unsigned depth = 0) {
    const auto found = offset ? entries_.find(*offset) : entries_.end();
    if (found == entries_.end() || depth > kDeepest) return nullptr;
    if (const auto known = made_.find(*offset); known != made_.end()) return known->second;
    made_[*offset] = nullptr;  // a type that contains itself has no size
    auto type = type_described_by_entry(found->second, depth + 1);
    made_[*offset] = type;
    return type;
  }

 private:
  static constexpr unsigned kDeepest = 32;

  std::shared_ptr<const DebugType> type_described_by_entry(const DwarfEntry& entry,
                                                           unsigned depth) {
    auto type = std::make_shared<DebugType>();
    type->bytes = entry.bytes.value_or(0);
    switch (entry.tag) {
      case kTypedef:
      case kConst:
      case kVolatile:
        return make_type(entry.type, depth);
      case kPointer:
      case kReference:
        if (type->bytes == 0) type->bytes = 8;
        return type;
      case kBase:
      case kEnumeration:
        return type;
      case kArray:
        return make_array_type(entry, depth);
      case kStructure:
      case kClass:
      case kUnion:
        for (const uint64_t child : entry.children) {
          const DwarfEntry& member = entries_.at(child);
          if (member.tag == kMember || member.tag == kInheritance)
            type->members.push_back(
                {member.name, member.member_offset, make_type(member.type, depth)});
        }
        return type;
      default:
        return nullptr;
    }
  }

  // An array such as `float tile[32][33]` is one entry with two ranges.
  std::shared_ptr<const DebugType> make_array_type(const DwarfEntry& entry, unsigned depth) {
    auto type = make_type(entry.type, depth);
    for (auto child = entry.children.rbegin(); child != entry.children.rend(); ++child) {
      const DwarfEntry& range = entries_.at(*child);
      if (range.tag != kSubrange || !type) continue;
      auto around = std::make_shared<DebugType>();
      around->element = type;
      around->bytes = type->bytes * range.count.value_or(1);
      type = around;
    }
    return type;
  }

  const Entries& entries_;
  std::map<uint64_t, std::shared_ptr<const DebugType>> made_;
};

}  // namespace

std::map<std::string, std::shared_ptr<const DebugType>> types_of_variables(const std::string& ptx) {
  std::map<std::string, std::shared_ptr<const DebugType>> variables;
  try {
    DebugSection info(ptx, ".debug_info");
    while (!info.at_end()) {
      const Entries entries = read_unit_entries(info, ptx);
      DebugTypeBuilder types(entries);
      for (const auto& [offset, entry] : entries)
        if (entry.tag == kVariable && !entry.symbol.empty())
          if (auto type = types.make_type(entry.type)) variables[entry.symbol] = std::move(type);
    }
  } catch (const std::exception&) {  // without names of elements the messages are still correct
    return {};
  }
  return variables;
}

}  // namespace lab32::ptx
