#include "simulator/ptx/debug_types.h"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "simulator/ptx/debug_section.h"

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

namespace {

// DWARF 2, figures 14 to 19: what nvcc writes of it.
enum Tag : uint64_t {
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
enum Attribute : uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kUpperBound = 0x2f,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kTypeOf = 0x49,
};

struct Entry {
  uint64_t tag = 0;
  std::string name, symbol;                    // symbol: where a variable lies
  std::optional<uint64_t> bytes, count, type;  // count: of an array's elements
  uint64_t member_offset = 0;
  std::vector<uint64_t> children;  // offsets of entries
};

struct Abbreviation {
  uint64_t tag = 0;
  bool has_children = false;
  std::vector<std::pair<uint64_t, uint64_t>> attributes;  // and their forms
};

std::map<uint64_t, Abbreviation> abbreviations_of(DebugSection& section) {
  std::map<uint64_t, Abbreviation> all;
  while (!section.at_end()) {
    const uint64_t code = section.uleb();
    if (code == 0) break;
    Abbreviation a;
    a.tag = section.uleb();
    a.has_children = section.number(1) != 0;
    for (;;) {
      const uint64_t attribute = section.uleb(), form = section.uleb();
      if (attribute == 0 && form == 0) break;
      a.attributes.emplace_back(attribute, form);
    }
    all[code] = std::move(a);
  }
  return all;
}

// A value of any form: a number, a text, or a block, which may hold a symbol's address.
struct Value {
  uint64_t number = 0;
  std::string text, symbol;
};

Value block(DebugSection& section, uint64_t length) {
  Value value;
  const size_t end = section.at() + length;
  if (length > 0) {
    const uint64_t operation = section.number(1);
    if (operation == 0x03) value.symbol = section.symbol();                      // DW_OP_addr
    if (operation == 0x23 && section.at() < end) value.number = section.uleb();  // plus_uconst
  }
  section.go_to(end);
  return value;
}

Value read(DebugSection& section, uint64_t form, unsigned address_bytes) {
  Value value;
  switch (form) {
    case 0x01:  // addr
      section.skip(address_bytes);
      return value;
    case 0x03:  // block2
      return block(section, section.number(2));
    case 0x04:  // block4
      return block(section, section.number(4));
    case 0x09:  // block
      return block(section, section.uleb());
    case 0x0a:  // block1
      return block(section, section.number(1));
    case 0x05:  // data2
    case 0x12:  // ref2
      value.number = section.number(2);
      return value;
    case 0x06:  // data4
    case 0x0e:  // strp
    case 0x10:  // ref_addr
    case 0x13:  // ref4
      value.number = section.number(4);
      return value;
    case 0x07:  // data8
    case 0x14:  // ref8
      value.number = section.number(8);
      return value;
    case 0x08:  // string
      value.text = section.text();
      return value;
    case 0x0b:  // data1
    case 0x0c:  // flag
    case 0x11:  // ref1
      value.number = section.number(1);
      return value;
    case 0x0d:  // sdata
    case 0x0f:  // udata
    case 0x15:  // ref_udata
      value.number = section.uleb();
      return value;
    default:
      throw std::runtime_error("a form of DWARF that nvcc does not use");
  }
}

Entry entry_of(DebugSection& info, const Abbreviation& abbreviation, unsigned address_bytes) {
  Entry entry;
  entry.tag = abbreviation.tag;
  for (const auto& [attribute, form] : abbreviation.attributes) {
    Value value = read(info, form, address_bytes);
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

using Entries = std::map<uint64_t, Entry>;  // by offset, from their unit's start

// Of the unit that begins here; the section stands behind it then.
Entries entries_of_unit(DebugSection& info, const std::string& ptx) {
  const size_t start = info.at();
  const uint64_t length = info.number(4);
  const size_t end = info.at() + length;
  if (info.number(2) > 3) throw std::runtime_error("a version of DWARF that nvcc does not write");
  DebugSection abbrev(ptx, ".debug_abbrev");
  abbrev.go_to(info.number(4));
  const auto abbreviations = abbreviations_of(abbrev);
  const auto address_bytes = static_cast<unsigned>(info.number(1));

  Entries entries;
  std::vector<uint64_t> open;  // entries whose children come now
  while (info.at() < end) {
    const uint64_t offset = info.at() - start, code = info.uleb();
    if (code == 0) {
      if (open.empty()) break;
      open.pop_back();
      continue;
    }
    const Abbreviation& abbreviation = abbreviations.at(code);
    entries[offset] = entry_of(info, abbreviation, address_bytes);
    if (!open.empty()) entries[open.back()].children.push_back(offset);
    if (abbreviation.has_children) open.push_back(offset);
  }
  info.go_to(end);
  return entries;
}

class TypeMaker {
 public:
  explicit TypeMaker(const Entries& entries) : entries_(entries) {}

  // nullptr: void, or what this does not know.
  std::shared_ptr<const DebugType> make(const std::optional<uint64_t>& offset, unsigned depth = 0) {
    const auto found = offset ? entries_.find(*offset) : entries_.end();
    if (found == entries_.end() || depth > kDeepest) return nullptr;
    if (const auto known = made_.find(*offset); known != made_.end()) return known->second;
    made_[*offset] = nullptr;  // a type that holds itself has no size
    auto type = of(found->second, depth + 1);
    made_[*offset] = type;
    return type;
  }

 private:
  static constexpr unsigned kDeepest = 32;

  std::shared_ptr<const DebugType> of(const Entry& entry, unsigned depth) {
    auto type = std::make_shared<DebugType>();
    type->bytes = entry.bytes.value_or(0);
    switch (entry.tag) {
      case kTypedef:
      case kConst:
      case kVolatile:
        return make(entry.type, depth);
      case kPointer:
      case kReference:
        if (type->bytes == 0) type->bytes = 8;
        return type;
      case kBase:
      case kEnumeration:
        return type;
      case kArray:
        return array(entry, depth);
      case kStructure:
      case kClass:
      case kUnion:
        for (const uint64_t child : entry.children) {
          const Entry& member = entries_.at(child);
          if (member.tag == kMember || member.tag == kInheritance)
            type->members.push_back({member.name, member.member_offset, make(member.type, depth)});
        }
        return type;
      default:
        return nullptr;
    }
  }

  // `float tile[32][33]` is one entry with two ranges.
  std::shared_ptr<const DebugType> array(const Entry& entry, unsigned depth) {
    auto type = make(entry.type, depth);
    for (auto child = entry.children.rbegin(); child != entry.children.rend(); ++child) {
      const Entry& range = entries_.at(*child);
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

constexpr uint64_t kLargest = uint64_t{1} << 40;  // bytes of a type: more than any memory has

// The member that holds all of the access; nullptr: none.
const DebugType::Member* member_at(const DebugType& type, uint64_t offset, uint32_t bytes) {
  for (const DebugType::Member& m : type.members)
    if (m.type && offset >= m.offset && offset + bytes <= m.offset + m.type->bytes) return &m;
  return nullptr;
}

}  // namespace

DebugTypes::DebugTypes(const std::string& ptx) {
  try {
    DebugSection info(ptx, ".debug_info");
    while (!info.at_end()) {
      const Entries entries = entries_of_unit(info, ptx);
      TypeMaker types(entries);
      for (const auto& [offset, entry] : entries)
        if (entry.tag == kVariable && !entry.symbol.empty())
          if (auto type = types.make(entry.type)) variables_[entry.symbol] = std::move(type);
    }
  } catch (const std::exception&) {  // names of elements are no reason to fail
    variables_.clear();
  }
}

const DebugType* DebugTypes::array(const std::string& symbol) const {
  const auto found = variables_.find(symbol);
  if (found == variables_.end() || !found->second->element) return nullptr;
  const uint64_t step = found->second->element->bytes;
  return step > 0 && step <= kLargest ? found->second.get() : nullptr;
}

std::string DebugTypes::place(const std::string& symbol, int64_t offset, uint32_t bytes) const {
  const auto found = variables_.find(symbol);
  if (found == variables_.end() || bytes == 0) return "";
  const DebugType* type = found->second.get();
  std::string words;
  if (array(symbol) != nullptr) {
    const auto step = static_cast<int64_t>(type->element->bytes);
    const int64_t index = offset >= 0 ? offset / step : -((-offset + step - 1) / step);
    if (type->bytes <= bytes && index == 0) return "";
    words = "[" + std::to_string(index) + "]";
    offset -= index * step;
    type = type->element.get();
  }
  if (offset < 0) return "";
  auto rest = static_cast<uint64_t>(offset);
  for (;;) {
    if (type->element && type->element->bytes >= bytes) {
      words += "[" + std::to_string(rest / type->element->bytes) + "]";
      rest %= type->element->bytes;
      type = type->element.get();
      continue;
    }
    const DebugType::Member* member = member_at(*type, rest, bytes);
    if (!member) break;
    if (!member->name.empty()) words += "." + member->name;
    rest -= member->offset;
    type = member->type.get();
  }
  return words;
}

std::string DebugTypes::last_place(const std::string& symbol, int64_t offset, uint32_t bytes,
                                   uint64_t size) const {
  const DebugType* type = array(symbol);
  if (type == nullptr || offset < 0) return "";
  const uint64_t step = type->element->bytes, count = size / step;
  if (count == 0 || size > kLargest) return "";
  return place(symbol,
               static_cast<int64_t>((count - 1) * step + static_cast<uint64_t>(offset) % step),
               bytes);
}

}  // namespace lab32::ptx
