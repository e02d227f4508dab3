// The internal classes of the parser: ModuleParser reads a module, and a FunctionParser reads one
// function body. Callers use parse() (parser.h).
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
  // Fills in a module of which only the text is set. The text must not move while it is parsed,
  // since tokens and tables refer to it.
  explicit ModuleParser(Module& module);
  void parse();

 private:
  friend class FunctionParser;

  // A row of the opcode table and the modifiers and types that one opcode sets in it. A module
  // repeats few different opcodes many times, so each one is matched once.
  struct ParsedOpcode {
    const OpInfo* row = nullptr;
    Mods mods;
    std::array<DataType, 4> types{};
    uint8_t type_count = 0;
  };
  const ParsedOpcode& find_opcode(std::string_view text);

  struct Refusal {
    PtxParseError diagnostic;
    int loc;
  };

  void parse_directive();
  void parse_version();
  void parse_variable_directive(Space space, bool is_extern);
  void parse_function(bool is_entry);
  void parse_performance_directives(Function& function, std::vector<Refusal>& refusals);
  void check_relocations() const;
  void propagate_refusals();

  // line information
  void parse_file_directive();
  int parse_loc_directive();  // index in Module::locs
  void skip_section();

  const Function& find_function(std::string_view name, size_t offset) const;
  void set_module_symbol(const std::string& name, Scopes::ModuleSymbol meaning);

  Module& module_;
  TokenCursor cursor_;
  std::unordered_map<std::string_view, ParsedOpcode> opcodes_;
  std::deque<std::string> kept_names_;  // owns names to which names_ refers
  Scopes::ModuleNames names_;
  std::map<std::tuple<int, int, int>, int> latest_loc_;  // by file, line and column
  std::vector<std::vector<Refusal>> refusals_;  // for each function; only the first one is reported
};

// A parsed operand with the data that later checks need.
struct OperandWithVariable {
  Operand operand;
  size_t offset = 0;                   // its position in the text
  const Variable* variable = nullptr;  // the variable of a symbol, or of the symbol in an address
};

class FunctionParser {
 public:
  FunctionParser(ModuleParser& module, Function& function);

  // Parses the body of a function from behind its opening brace through the closing one. If the
  // body contains a construct that is refused, adds the diagnostic to `refusals` and leaves the
  // body empty.
  void parse(std::vector<ModuleParser::Refusal>& refusals);

 private:
  struct Prototype {
    std::vector<uint32_t> returns, args;  // bytes
  };
  struct LabelUse {
    int scope;
    std::string_view name;
    size_t offset;
    int instruction;   // the instruction with the label operand, or:
    int table, entry;  // an entry in branch_tables, if table >= 0
  };
  struct NamedUse {  // a use of a branch table or a prototype
    int scope;
    std::string_view name;
    size_t offset;
    int index;  // instruction or call
  };

  void parse_statement();
  void parse_directive();
  void parse_register_declaration();
  void parse_label();
  void parse_branch_targets();
  Prototype parse_call_prototype();
  Prototype parse_call_targets();
  void parse_instruction();
  void parse_call(Instruction& in);
  void check_parameter_sizes(const CallInfo& call, const Prototype& prototype, size_t offset) const;
  int find_label(int scope, std::string_view name, size_t offset, Scopes::LabelKind kind) const;
  void resolve_label_uses();

  // parse_operands.cpp
  void parse_operands(Instruction& in, std::string_view opcode);
  OperandWithVariable parse_operand(bool inside = false);
  void parse_vector_operand(OperandWithVariable& result);
  void parse_address_operand(OperandWithVariable& result);
  void parse_literal_operand(OperandWithVariable& result, bool minus);
  void parse_name_operand(OperandWithVariable& result);
  int64_t parse_addend();
  int parse_register_operand();
  // Sets Operand::name to the variable or function that the name means. Returns false if there is
  // none.
  bool resolve_symbol(std::string_view name, OperandWithVariable& result);

  ModuleParser& parent_;
  Module& module_;
  TokenCursor& cursor_;
  Function& function_;
  Scopes scopes_;
  int loc_ = -1;
  std::vector<LabelUse> label_uses_;
  std::vector<NamedUse> table_uses_, prototype_uses_;
  std::vector<Prototype> prototypes_;
};

// Checks that the operands of an instruction match its row of opcodes.def (check_operands.cpp).
// Throws PtxParseError at the first operand that does not. `operands` has an entry for each slot of
// the row, Kind::none if an optional one is missing.
void check_operands(const Function& function, const Instruction& in, std::string_view opcode,
                    const std::vector<OperandWithVariable>& operands);

// ---------------------------------------------------------------------------------------------
// Declarations (declarations.cpp): variables with their types, sizes and initialisers, and
// parameter lists. Each function reads from the cursor and throws PtxParseError on a syntax error.

// Parses what follows `.global`, `.shared`, …: `.align 8 .b8 name[4][2] = {…}, other`, up to the
// character that ends the declaration, which is left for the caller.
std::vector<Variable> parse_variables(TokenCursor& cursor, Space space, bool is_extern);

// Parses `(.param .b64 a, .param .align 8 .b8 b[16])`. Names may be `_` (in prototypes).
std::vector<Variable> parse_parameters(TokenCursor& cursor);

// The space of a directive such as ".global"; Space::generic if it declares no variables.
Space space_of_directive(std::string_view word);

}  // namespace lab32::ptx
