#include "device/element_names.h"

#include <algorithm>

#include "device/kernel_name.h"

namespace lab32::device {
namespace {

std::string element_name(const std::string& symbol, const std::string& part) {
  return part.empty() ? "" : variable_name(symbol) + part;
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
  f.place = element_name(f.object, types().place(f.object, static_cast<int64_t>(f.offset), bytes));
  f.object = variable_name(f.object);
}

void ElementNames::name(sim::MemoryAccess& access, const std::vector<sim::SharedVariable>& shared) {
  if (access.space == sim::AccessSpace::local) return;
  std::string symbol = access.object;
  if (access.space == sim::AccessSpace::shared) {
    const bool outside =
        access.offset < 0 || static_cast<uint64_t>(access.offset) + access.bytes > access.size;
    for (const sim::SharedVariable& v : shared) {
      const int64_t offset = access.offset - int64_t{v.offset};
      const bool holds = offset >= 0 && offset + access.bytes <= int64_t{v.bytes};
      if (outside ? shared.size() > 1 : !holds) continue;
      symbol = v.name;
      access.object = variable_name(v.name);
      access.offset = offset;
      access.size = v.bytes;
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
