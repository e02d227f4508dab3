#include "simulator/core/warp/reach.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/memory.h"

namespace lab32::sim {
namespace {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

class Finder {
 public:
  explicit Finder(const ptx::Module& module) : module_(module) {}

  void add(const ptx::Function* g) {
    if (!g || g->is_declaration) return;
    if (std::find(functions.begin(), functions.end(), g) == functions.end()) functions.push_back(g);
  }
  void add(const std::string& name) {
    const ptx::Function* g = module_.find_function(name);
    if (g && !g->is_entry) add(g);
  }
  // Adds what the functions from that one on name, and what those name in turn.
  void follow(size_t first) {
    for (size_t i = first; i < functions.size(); ++i) {
      const ptx::Function& f = *functions[i];
      for (const ptx::CallInfo& call : f.calls)
        if (call.target.kind == Kind::symbol) add(call.target.name);
      for (const ptx::Instruction& in : f.body)
        for (const Operand& op : in.operands)
          if (op.kind == Kind::symbol) add(op.name);
    }
  }

  std::vector<const ptx::Function*> functions;

 private:
  const ptx::Module& module_;
};

bool calls_through_pointers(const ptx::Function& f) {
  return std::any_of(f.calls.begin(), f.calls.end(),
                     [](const auto& c) { return c.target.kind != Kind::symbol; });
}

void note_names(const Operand& op, std::set<std::string>* names) {
  if (!op.name.empty()) names->insert(op.name);
  for (const Operand& e : op.elements) note_names(e, names);
}

}  // namespace

Reach find_functions(const ptx::Module& module, const ptx::Function& kernel) {
  Finder found(module);
  found.add(&kernel);
  found.follow(0);
  Reach reach;
  reach.by_name = found.functions.size();
  bool pointers = false;
  for (const ptx::Function* f : found.functions) {
    if (!f->refusal.empty()) throw Error(f->refusal);
    pointers |= calls_through_pointers(*f);
  }
  if (pointers) {
    // Tables of function pointers (virtual functions) may hold any function of the module.
    for (const ptx::Variable& v : module.variables)
      for (const auto& relocation : v.relocations) found.add(relocation.symbol);
    found.follow(reach.by_name);
  }
  reach.functions = std::move(found.functions);
  return reach;
}

SharedLayout lay_out_shared(const ptx::Module& module,
                            const std::vector<const ptx::Function*>& functions) {
  std::set<std::string> used;
  for (const auto* f : functions)
    for (const auto& in : f->body)
      for (const Operand& op : in.operands) note_names(op, &used);

  SharedLayout layout;
  uint32_t at = 0;
  std::vector<const ptx::Variable*> dynamic;
  auto place = [&](const ptx::Variable& v) {
    if (v.space != ptx::Space::shared) return;
    if (v.is_unsized) {
      dynamic.push_back(&v);
      return;
    }
    at = align_up(at, std::max(1u, v.align));
    layout.offset[v.name] = at;
    layout.variables.push_back({v.name, at, static_cast<uint32_t>(v.size)});
    at += static_cast<uint32_t>(v.size);
  };
  for (const ptx::Variable& v : module.variables)
    if (used.count(v.name)) place(v);
  for (const auto* f : functions)
    for (const ptx::Variable& v : f->locals) place(v);
  layout.static_bytes = at;
  // Dynamic shared memory follows, and all its names mean the same place.
  for (const ptx::Variable* v : dynamic) at = align_up(at, std::max(16u, v->align));
  layout.dynamic_offset = at;
  for (const ptx::Variable* v : dynamic)
    if (layout.offset.emplace(v->name, at).second) layout.variables.push_back({v->name, at, 0});
  return layout;
}

}  // namespace lab32::sim
