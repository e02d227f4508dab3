#include "device/element_names.h"

#include <algorithm>
#include <string_view>

#include "device/kernel_name.h"

namespace lab32::device {
namespace {

std::string element_name(const std::string& symbol, const std::string& part) {
  return part.empty() ? "" : variable_name(symbol) + part;
}

// nvcc splits a small array in shared memory into variables of one element each. The array's symbol
// and the number of the element; 0 for any other symbol.
struct Piece {
  std::string array;
  int64_t element = 0;
};
Piece piece_of(const std::string& symbol) {
  static constexpr std::string_view kMark = "_$_";
  const size_t mark = symbol.find(kMark);
  if (mark == std::string::npos) return {symbol, 0};
  const std::string number = symbol.substr(mark + kMark.size());
  const bool one_level =
      !number.empty() && number.size() < 9 &&
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return {symbol.substr(0, mark), one_level ? std::stoll(number) : 0};
}

}  // namespace

const ptx::DebugTypes& ElementNames::types() {
  if (!types_) types_ = debug_ptx_ ? ptx::DebugTypes(debug_ptx_()) : ptx::DebugTypes();
  return *types_;
}

void ElementNames::name(counters::Finding& f) {
  if (f.object.empty()) return;
  if (f.global && module_.find_variable(f.object) == nullptr) return;  // the host allocated it
  const bool race = f.kind == counters::Finding::Kind::race;
  const uint32_t bytes = race ? std::min(f.party.bytes, f.other.bytes) : f.party.bytes;
  const Piece piece = piece_of(f.object);
  const int64_t offset = static_cast<int64_t>(f.offset) + piece.element * bytes;
  f.place = element_name(piece.array, types().place(piece.array, offset, bytes));
  f.object = variable_name(piece.array);
}

void ElementNames::name(sim::MemoryAccess& access, const std::vector<sim::SharedVariable>& shared) {
  if (access.space == sim::AccessSpace::local) return;
  std::string symbol = access.object;
  if (access.space == sim::AccessSpace::shared && symbol.empty()) {
    const bool outside =
        access.offset < 0 || static_cast<uint64_t>(access.offset) + access.bytes > access.size;
    for (const sim::SharedVariable& v : shared) {
      const int64_t offset = access.offset - int64_t{v.offset};
      const bool holds = offset >= 0 && offset + access.bytes <= int64_t{v.bytes};
      if (outside ? shared.size() > 1 : !holds) continue;
      const Piece piece = piece_of(v.name);
      symbol = piece.array;
      access.object = variable_name(symbol);
      access.offset = offset + piece.element * int64_t{v.bytes};
      access.size = v.bytes * static_cast<uint64_t>(piece.element + 1);
      break;
    }
  }
  const bool shared_memory = access.space == sim::AccessSpace::shared;
  if (symbol.empty() || (!shared_memory && module_.find_variable(symbol) == nullptr)) return;
  access.object = variable_name(symbol);
  access.place = element_name(symbol, types().place(symbol, access.offset, access.bytes));
  access.last_place =
      element_name(symbol, types().last_place(symbol, access.offset, access.bytes, access.size));
}

}  // namespace lab32::device
