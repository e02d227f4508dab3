// What names mean inside one function. PTX scopes nest, and names of an inner scope hide those of
// an outer one; a Function is flat. So every register and variable gets a name of its own here.
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
  // A name at module scope. The flattened names of a function must not hide one.
  struct ModuleName {
    bool is_function;
    size_t index;  // in Module::functions or Module::variables
  };
  using ModuleNames = std::unordered_map<std::string_view, ModuleName>;

  Scopes(Function& function, const ModuleNames& outside);

  void open();
  void close();
  int depth() const { return static_cast<int>(scopes_.size()); }

  // `.reg .b32 name;`, or `.reg .b32 name<count>;` for name0 … name(count-1). Registers come into
  // being when first used: nvcc declares ranges with gaps, and headers declare some unused ones.
  void declare_register(std::string_view name, uint16_t bits);
  void declare_register_range(std::string_view prefix, uint64_t count, uint16_t bits);
  // A .local, .shared, … variable, which may get another name.
  void declare_variable(Variable variable);

  // -1 when the name is no register; the innermost meaning of a name counts.
  int find_register(std::string_view name);
  // A variable or parameter of this function; nullptr when there is none. Invalidated by
  // declare_variable.
  const Variable* find_variable(std::string_view name);

  // Labels belong to scopes too: inline assembly repeats them. `define_label` is false for a second
  // definition in the same scope. A use may come before its definition, so it notes its scope and
  // is looked up at the end of the function.
  enum class LabelKind : unsigned char { code, table, prototype };
  bool define_label(std::string_view name, LabelKind kind, int value);
  int scope_id() const { return scopes_.back().id; }
  int find_label(int scope_id, std::string_view name, LabelKind kind) const;  // -1: none

 private:
  struct Entry {
    enum class Kind : unsigned char { register_, pending_register, local, param, result } kind;
    int index;  // pending_register: bits
  };
  struct Range {
    uint64_t count;
    uint16_t bits;
  };
  struct Label {
    LabelKind kind;
    int value;
  };
  struct Scope {
    int id;
    std::unordered_map<std::string_view, Entry> names;
    std::unordered_map<std::string_view, Range> ranges;
  };

  Entry* find(std::string_view name);
  int make_register(size_t scope, std::string_view name, uint16_t bits);
  std::string unique_name(std::string_view name);

  Function& function_;
  const ModuleNames& outside_;
  std::vector<Scope> scopes_;
  std::vector<int> parent_of_scope_;
  std::vector<std::unordered_map<std::string_view, Label>> labels_of_scope_;
  std::deque<std::string> variable_names_;  // what Scope::names refers to for variables
  std::unordered_set<std::string> taken_;
  // Registers and .param variables of scopes that ended. A later scope's twin at the same depth
  // takes their place: each call's parameters are declared in a block of their own, and there can
  // be thousands. (At a lesser depth it could be an enclosing scope's, which still lives.)
  std::unordered_map<std::string, std::vector<int>> idle_;
};

}  // namespace lab32::ptx
