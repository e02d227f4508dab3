// The parser's inner structure: one object for the module, one for each function body.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator/ptx/lexer.h"
#include "simulator/ptx/module.h"
#include "simulator/ptx/scopes.h"

namespace lab32::ptx {

class ModuleParser {
 public:
  // Fills a module of which only the text is there. That text must stay where it is meanwhile:
  // tokens and tables refer to it.
  explicit ModuleParser(Module& module);
  void parse();

 private:
  friend class FunctionParser;

  // A row of the opcode table and what the words of one opcode set in it. Modules use few different
  // opcodes many times over, so each is matched once.
  struct Opcode {
    const OpInfo* row = nullptr;
    Mods mods;
    std::array<Type, 4> types{};
    uint8_t type_count = 0;
  };
  const Opcode& opcode(std::string_view text);

  struct Refusal {
    Diagnostic diagnostic;
    int loc;
  };

  void directive();
  void version();
  void variables(Space space, bool is_extern);
  void function(bool is_entry);
  void performance_directives(Function& function, std::vector<Refusal>& refusals);
  void check_relocations() const;
  void propagate_refusals();

  // lines
  void file_directive();
  int loc_directive();  // index in Module::locs
  void skip_section();

  const Function& find_function(std::string_view name, size_t offset) const;
  void add_name(const std::string& name, Scopes::ModuleName meaning);

  Module& module_;
  Cursor cursor_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
  std::deque<std::string> kept_names_;  // what names_ refers to
  Scopes::ModuleNames names_;
  std::map<std::tuple<int, int, int>, int> latest_loc_;  // by file, line and column
  std::vector<std::vector<Refusal>> refusals_;           // of each function; the first one counts
};

// An operand with what later checks want to know of it.
struct ParsedOperand {
  Operand operand;
  size_t offset = 0;                   // where it stands in the text
  const Variable* variable = nullptr;  // of a symbol, or of the symbol in an address
};

class FunctionParser {
 public:
  FunctionParser(ModuleParser& module, Function& function);

  // From behind the opening brace through the closing one. When the body holds something that is
  // refused, the diagnostic is left in `refusals` and the body is empty.
  void parse(std::vector<ModuleParser::Refusal>& refusals);

 private:
  struct Prototype {
    std::vector<uint32_t> returns, args;  // bytes
  };
  struct LabelUse {
    int scope;
    std::string_view name;
    size_t offset;
    int instruction;   // whose label operand is meant, or:
    int table, entry;  // a place in branch_tables, if table >= 0
  };
  struct NamedUse {  // of a branch table or a prototype
    int scope;
    std::string_view name;
    size_t offset;
    int index;  // instruction or call
  };

  void statement();
  void directive();
  void register_declaration();
  void label();
  void branch_targets();
  Prototype call_prototype();
  Prototype call_targets();
  void instruction();
  void call(Instruction& in);
  void check_sizes(const CallInfo& call, const Prototype& prototype, size_t offset) const;
  int find_label(int scope, std::string_view name, size_t offset, Scopes::LabelKind kind) const;
  void resolve_labels();

  // parse_operands.cpp
  void operands(Instruction& in, std::string_view opcode);
  ParsedOperand operand(bool inside = false);
  void vector_operand(ParsedOperand& result);
  void address_operand(ParsedOperand& result);
  void literal_operand(ParsedOperand& result, bool minus);
  void name_operand(ParsedOperand& result);
  int64_t addend();
  int register_operand();
  // Fills Operand::name; false when the name is no variable or function.
  bool symbol(std::string_view name, ParsedOperand& result);

  ModuleParser& parent_;
  Module& module_;
  Cursor& cursor_;
  Function& function_;
  Scopes scopes_;
  int loc_ = -1;
  std::vector<LabelUse> label_uses_;
  std::vector<NamedUse> table_uses_, prototype_uses_;
  std::vector<Prototype> prototypes_;
};

// Checks that the operands of an instruction are what its row of opcodes.def asks for
// (check_operands.cpp). Throws Diagnostic at the first operand that does not fit. `operands`
// already has an entry for each slot of the row, Kind::none where an optional one was left out.
void check_operands(const Function& function, const Instruction& in, std::string_view opcode,
                    const std::vector<ParsedOperand>& operands);

}  // namespace lab32::ptx
