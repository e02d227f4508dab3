#include "simulator/ptx/scopes.h"

#include <charconv>

namespace lab32::ptx {
namespace {

std::string reusable_register_key(size_t depth, std::string_view name, uint16_t bits) {
  return std::to_string(depth) + " r" + std::to_string(bits) + " " + std::string(name);
}

std::string reusable_parameter_key(size_t depth, std::string_view name, const Variable& variable) {
  return std::to_string(depth) + " p" + std::to_string(variable.align) + " " +
         std::to_string(variable.size) + " " + std::string(name);
}

}  // namespace

Scopes::Scopes(Function& function, const ModuleNames& outside)
    : function_(function), outside_(outside) {
  open_scope();
  for (size_t i = 0; i < function.params.size(); ++i) {
    scopes_[0].names[function.params[i].name] = {ScopeEntry::Kind::param, static_cast<int>(i)};
    taken_.insert(function.params[i].name);
  }
  for (size_t i = 0; i < function.returns.size(); ++i) {
    scopes_[0].names[function.returns[i].name] = {ScopeEntry::Kind::result, static_cast<int>(i)};
    taken_.insert(function.returns[i].name);
  }
}

void Scopes::open_scope() {
  const int id = static_cast<int>(parent_of_scope_.size());
  parent_of_scope_.push_back(scopes_.empty() ? -1 : scopes_.back().id);
  labels_of_scope_.emplace_back();
  scopes_.push_back(Scope{id, {}, {}});
}

void Scopes::close_scope() {
  for (const auto& [name, entry] : scopes_.back().names) {
    if (entry.kind == ScopeEntry::Kind::register_) {
      const Register& reg = function_.registers[static_cast<size_t>(entry.index)];
      idle_[reusable_register_key(scopes_.size(), name, reg.bits)].push_back(entry.index);
    } else if (entry.kind == ScopeEntry::Kind::local) {
      const Variable& variable = function_.locals[static_cast<size_t>(entry.index)];
      if (variable.space == Space::param) {
        idle_[reusable_parameter_key(scopes_.size(), name, variable)].push_back(entry.index);
      }
    }
  }
  scopes_.pop_back();
}

std::string Scopes::unique_name(std::string_view name) {
  std::string unique(name);
  for (int n = 1; outside_.count(unique) != 0 || !taken_.insert(unique).second; ++n) {
    unique = std::string(name) + "$" + std::to_string(n);
  }
  return unique;
}

void Scopes::declare_register(std::string_view name, uint16_t bits) {
  scopes_.back().names[name] = {ScopeEntry::Kind::pending_register, bits};
}

void Scopes::declare_register_range(std::string_view prefix, uint64_t count, uint16_t bits) {
  scopes_.back().ranges[prefix] = {count, bits};
}

void Scopes::declare_variable(Variable variable) {
  const std::string_view name = variable_names_.emplace_back(variable.name);
  const auto add = [&](int index) {
    scopes_.back().names[name] = {ScopeEntry::Kind::local, index};
  };
  if (variable.space == Space::param) {
    const auto idle = idle_.find(reusable_parameter_key(scopes_.size(), name, variable));
    if (idle != idle_.end() && !idle->second.empty()) {
      add(idle->second.back());
      idle->second.pop_back();
      return;
    }
  }
  variable.name = unique_name(name);
  function_.locals.push_back(std::move(variable));
  add(static_cast<int>(function_.locals.size()) - 1);
}

int Scopes::make_register(size_t scope, std::string_view name, uint16_t bits) {
  int index = 0;
  const auto idle =
      scope > 0 ? idle_.find(reusable_register_key(scope + 1, name, bits)) : idle_.end();
  if (idle != idle_.end() && !idle->second.empty()) {
    index = idle->second.back();
    idle->second.pop_back();
  } else {
    index = static_cast<int>(function_.registers.size());
    function_.registers.push_back({unique_name(name), bits});
  }
  scopes_[scope].names[name] = {ScopeEntry::Kind::register_, index};
  return index;
}

Scopes::ScopeEntry* Scopes::find_entry(std::string_view name) {
  // The name "%r12" may be number 12 of the range "%r". "%r012" cannot be.
  size_t split = name.size();
  while (split > 0 && name[split - 1] >= '0' && name[split - 1] <= '9') --split;
  const std::string_view prefix = name.substr(0, split), number = name.substr(split);
  const bool numbered = !number.empty() && (number.size() == 1 || number[0] != '0');

  for (size_t place = scopes_.size(); place-- > 0;) {
    Scope& scope = scopes_[place];
    const auto entry = scope.names.find(name);
    if (entry != scope.names.end()) {
      if (entry->second.kind == ScopeEntry::Kind::pending_register) {
        make_register(place, name, static_cast<uint16_t>(entry->second.index));
      }
      return &entry->second;
    }
    if (!numbered || scope.ranges.empty()) continue;
    const auto range = scope.ranges.find(prefix);
    if (range == scope.ranges.end()) continue;
    uint64_t value = 0;
    const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
    if (result.ec != std::errc() || value >= range->second.count) continue;
    make_register(place, name, range->second.bits);
    return &scope.names[name];
  }
  return nullptr;
}

int Scopes::find_register(std::string_view name) {
  const ScopeEntry* entry = find_entry(name);
  return entry != nullptr && entry->kind == ScopeEntry::Kind::register_ ? entry->index : -1;
}

const Variable* Scopes::find_variable(std::string_view name) {
  const ScopeEntry* entry = find_entry(name);
  if (entry == nullptr) return nullptr;
  const auto index = static_cast<size_t>(entry->index);
  switch (entry->kind) {
    case ScopeEntry::Kind::local:
      return &function_.locals[index];
    case ScopeEntry::Kind::param:
      return &function_.params[index];
    case ScopeEntry::Kind::result:
      return &function_.returns[index];
    case ScopeEntry::Kind::register_:
    case ScopeEntry::Kind::pending_register:
      return nullptr;
  }
  return nullptr;
}

bool Scopes::define_label(std::string_view name, LabelKind kind, int value) {
  auto& labels = labels_of_scope_[static_cast<size_t>(scope_id())];
  return labels.emplace(name, ScopeLabel{kind, value}).second;
}

int Scopes::find_label(int scope_id, std::string_view name, LabelKind kind) const {
  for (int id = scope_id; id != -1; id = parent_of_scope_[static_cast<size_t>(id)]) {
    const auto& labels = labels_of_scope_[static_cast<size_t>(id)];
    const auto label = labels.find(name);
    if (label != labels.end()) return label->second.kind == kind ? label->second.value : -1;
  }
  return -1;
}

}  // namespace lab32::ptx
