// Resolves names inside one function. PTX scopes nest, and an inner name hides an outer one, but a
// Function is flat: every register and variable therefore gets a unique name here. The parser opens
// and closes scopes as it reads braces.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

class Scopes {
 public:
  // The object that a name at module scope denotes. The names that Scopes gives to a function's
  // variables must differ from these names.
  struct ModuleSymbol {
    bool is_function;
    size_t index;  // in Module::functions or Module::variables
  };
  using ModuleNames = std::unordered_map<std::string_view, ModuleSymbol>;

  Scopes(Function& function, const ModuleNames& outside);

  void open_scope();
  void close_scope();
  int depth() const { return static_cast<int>(scopes_.size()); }

  // Declares the register of `.reg .b32 name;`, or those of `.reg .b32 name<count>;`, which are
  // name0 … name(count-1). A register is created at its first use, because nvcc declares ranges
  // with gaps, and headers declare registers that are not used.
  void declare_register(std::string_view name, uint16_t bits);
  void declare_register_range(std::string_view prefix, uint64_t count, uint16_t bits);
  // Declares a variable (.local, .shared, …). It may get another name.
  void declare_variable(Variable variable);

  // The register that the name means in the innermost scope that declares it; -1: it means no
  // register.
  int find_register(std::string_view name);
  // The variable or parameter of this function that the name means; nullptr: there is none.
  // declare_variable() invalidates the result.
  const Variable* find_variable(std::string_view name);

  // Labels belong to scopes, too, since inline assembly repeats them. define_label() returns false
  // for a second definition in one scope. A use may come before its definition, so the parser
  // records the scope of the use and looks the label up at the end of the function.
  enum class LabelKind : unsigned char { code, table, prototype };
  bool define_label(std::string_view name, LabelKind kind, int value);
  int scope_id() const { return scopes_.back().id; }
  int find_label(int scope_id, std::string_view name, LabelKind kind) const;  // -1: none

 private:
  struct ScopeEntry {
    enum class Kind : unsigned char { register_, pending_register, local, param, result } kind;
    int index;  // pending_register: bits
  };
  struct RegisterCountAndBits {
    uint64_t count;
    uint16_t bits;
  };
  struct ScopeLabel {
    LabelKind kind;
    int value;
  };
  struct Scope {
    int id;
    std::unordered_map<std::string_view, ScopeEntry> names;
    std::unordered_map<std::string_view, RegisterCountAndBits> ranges;
  };

  ScopeEntry* find_entry(std::string_view name);
  int make_register(size_t scope, std::string_view name, uint16_t bits);
  std::string unique_name(std::string_view name);

  Function& function_;
  const ModuleNames& outside_;
  std::vector<Scope> scopes_;
  std::vector<int> parent_of_scope_;
  std::vector<std::unordered_map<std::string_view, ScopeLabel>> labels_of_scope_;
  std::deque<std::string> variable_names_;  // owns the variable names to which Scope::names refers
  std::unordered_set<std::string> taken_;
  // Registers and .param variables of closed scopes. A later scope at the same depth reuses them:
  // each call declares its parameters in a scope of its own, and there can be thousands. (At a
  // smaller depth the scope that owns them could still be open.) The key holds depth, size and
  // name.
  std::unordered_map<std::string, std::vector<int>> idle_;
};

}  // namespace lab32::ptx
