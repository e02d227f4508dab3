// Parses the body of a function: scopes, declarations, labels, instructions.
#include <utility>

#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {

FunctionParser::FunctionParser(ModuleParser& module, Function& function)
    : parent_(module),
      module_(module.module_),
      cursor_(module.cursor_),
      function_(function),
      scopes_(function, module.names_) {}

void FunctionParser::parse(std::vector<ModuleParser::Refusal>& refusals) {
  size_t statement_begin = cursor_.place();
  int depth = scopes_.depth();
  try {
    while (scopes_.depth() > 0) {
      statement_begin = cursor_.place();
      depth = scopes_.depth();
      parse_statement();
    }
    resolve_label_uses();
    return;
  } catch (PtxParseError& diagnostic) {
    refusals.push_back({std::move(diagnostic), loc_});
  }
  // Skips the rest of the function by matching braces. If the function was read to its end, no
  // brace is open.
  if (scopes_.depth() > 0) {
    cursor_.set_place(statement_begin);
    while (depth > 0) {
      if (cursor_.at_end()) cursor_.fail("the text ends inside a function");
      const Token& token = cursor_.next();
      if (token.is('{')) ++depth;
      if (token.is('}')) --depth;
      if (token.is(".loc")) parent_.parse_loc_directive();
    }
  }
  function_.registers.clear();
  function_.locals.clear();
  function_.body.clear();
  function_.calls.clear();
  function_.branch_tables.clear();
}

void FunctionParser::parse_statement() {
  const Token& token = cursor_.peek();
  if (token.is('{')) {
    cursor_.next();
    return scopes_.open_scope();
  }
  if (token.is('}')) {
    cursor_.next();
    return scopes_.close_scope();
  }
  if (token.is(';')) {
    cursor_.next();
    return;
  }
  if (token.kind == Token::Kind::word && token.text[0] == '.') return parse_directive();
  if (token.kind == Token::Kind::word && cursor_.peek(1).is(':')) return parse_label();
  parse_instruction();
}

void FunctionParser::parse_directive() {
  const Token& token = cursor_.next();
  const std::string_view word = token.text;
  if (word == ".loc") {
    loc_ = parent_.parse_loc_directive();
  } else if (word == ".reg") {
    parse_register_declaration();
  } else if (word == ".pragma") {
    // .pragma gives hints to ptxas ("nounroll"), none of which changes the results of a program.
    if (cursor_.next().kind != Token::Kind::string) cursor_.fail_expected("a string");
    cursor_.expect(';');
  } else if (const Space space = space_of_directive(word); space != Space::generic) {
    for (Variable& variable : parse_variables(cursor_, space, false)) {
      scopes_.declare_variable(std::move(variable));
    }
    cursor_.expect(';');
  } else {
    throw PtxParseError{cursor_.offset_of(token),
                        "`" + std::string(word) + "` is not supported by the simulator"};
  }
}

// .reg .b32 %r<9>, %x;
void FunctionParser::parse_register_declaration() {
  const std::string_view word = cursor_.peek().text;
  const DataType type =
      word.empty() || word[0] != '.' ? DataType::none : type_from_word_or_none(word.substr(1));
  if (type == DataType::none) cursor_.fail_expected("a type that registers can have");
  cursor_.next();
  const auto bits = static_cast<uint16_t>(bits_of(type));
  do {
    const std::string_view name = cursor_.expect_name();
    if (cursor_.accept('<')) {
      scopes_.declare_register_range(name, cursor_.expect_integer(), bits);
      cursor_.expect('>');
    } else {
      scopes_.declare_register(name, bits);
    }
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

void FunctionParser::parse_label() {
  const size_t offset = cursor_.offset();
  const std::string_view name = cursor_.expect_name();
  cursor_.expect(':');
  auto kind = Scopes::LabelKind::code;
  auto value = function_.body.size();
  if (cursor_.accept(".branchtargets")) {
    kind = Scopes::LabelKind::table;
    value = function_.branch_tables.size();
    parse_branch_targets();
  } else if (cursor_.peek().is(".callprototype") || cursor_.peek().is(".calltargets")) {
    kind = Scopes::LabelKind::prototype;
    value = prototypes_.size();
    prototypes_.push_back(cursor_.next().is(".callprototype") ? parse_call_prototype()
                                                              : parse_call_targets());
  }
  if (!scopes_.define_label(name, kind, static_cast<int>(value))) {
    throw PtxParseError{offset, "the label `" + std::string(name) + "` is defined twice"};
  }
}

// table: .branchtargets $L1, $L2;
void FunctionParser::parse_branch_targets() {
  const int table = static_cast<int>(function_.branch_tables.size());
  int entry = 0;
  do {
    const size_t offset = cursor_.offset();
    label_uses_.push_back({scopes_.scope_id(), cursor_.expect_name(), offset, -1, table, entry});
    ++entry;
  } while (cursor_.accept(','));
  cursor_.expect(';');
  function_.branch_tables.emplace_back(static_cast<size_t>(entry));
}

namespace {
std::vector<uint32_t> sizes_of(const std::vector<Variable>& variables) {
  std::vector<uint32_t> sizes;
  for (const Variable& variable : variables) sizes.push_back(static_cast<uint32_t>(variable.size));
  return sizes;
}
}  // namespace

// Parses `prototype: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`.
FunctionParser::Prototype FunctionParser::parse_call_prototype() {
  Prototype prototype;
  if (cursor_.peek().is('(')) prototype.returns = sizes_of(parse_parameters(cursor_));
  cursor_.expect_name();
  if (cursor_.peek().is('(')) prototype.args = sizes_of(parse_parameters(cursor_));
  cursor_.accept(".noreturn");
  cursor_.expect(';');
  return prototype;
}

// Parses `targets: .calltargets f, g;`. All targets have the same signature, so the first one is
// used.
FunctionParser::Prototype FunctionParser::parse_call_targets() {
  Prototype prototype;
  bool first = true;
  do {
    const size_t offset = cursor_.offset();
    const std::string_view name = cursor_.expect_name();
    const Function& target = parent_.find_function(name, offset);
    if (first) prototype = {sizes_of(target.returns), sizes_of(target.params)};
    first = false;
  } while (cursor_.accept(','));
  cursor_.expect(';');
  return prototype;
}

void FunctionParser::parse_instruction() {
  Instruction in;
  in.loc = loc_;
  if (cursor_.accept('@')) {
    in.guard_negated = cursor_.accept('!');
    const size_t offset = cursor_.offset();
    in.guard = parse_register_operand();
    if (function_.registers[static_cast<size_t>(in.guard)].bits != 1) {
      throw PtxParseError{offset, "a guard must be a predicate"};
    }
  }
  const Token& token = cursor_.peek();
  if (token.kind != Token::Kind::word) cursor_.fail_expected("an instruction");
  in.ptx_line = token.line;
  const ModuleParser::ParsedOpcode& opcode = parent_.find_opcode(token.text);
  if (opcode.row == nullptr) {
    cursor_.fail("`" + std::string(token.text) + "` is not supported by the simulator");
  }
  cursor_.next();
  in.op = opcode.row;
  in.mods = opcode.mods;
  in.types = opcode.types;
  in.type_count = opcode.type_count;
  if (opcode.row->traits.transfer == ControlTransfer::call) {
    parse_call(in);
  } else {
    parse_operands(in, token.text);
  }
  function_.body.push_back(std::move(in));
}

// Parses `call.uni (ret), target, (args), prototype;`. Everything but the target may be missing.
void FunctionParser::parse_call(Instruction& in) {
  CallInfo call;
  // Collects the sizes of the caller's arguments. A direct call is checked at once, an indirect one
  // when its prototype is known, which may come later.
  const auto list = [&](std::vector<Operand>& operands, std::vector<uint32_t>& sizes) {
    cursor_.expect('(');
    if (cursor_.accept(')')) return;
    do {
      OperandWithVariable item = parse_operand();
      if (item.operand.kind != Operand::Kind::symbol || item.variable == nullptr ||
          item.variable->space != Space::param || item.operand.value != 0) {
        throw PtxParseError{item.offset, "a call takes .param variables only"};
      }
      operands.push_back(std::move(item.operand));
      sizes.push_back(static_cast<uint32_t>(item.variable->size));
    } while (cursor_.accept(','));
    cursor_.expect(')');
  };
  if (cursor_.peek().is('(')) {
    list(call.returns, call.proto_returns);
    cursor_.expect(',');
  }
  const size_t target_offset = cursor_.offset();
  call.target = parse_operand().operand;
  bool more = cursor_.accept(',');
  if (more && cursor_.peek().is('(')) {
    list(call.args, call.proto_args);
    more = cursor_.accept(',');
  }
  in.call = static_cast<int>(function_.calls.size());
  const size_t prototype_offset = cursor_.offset();
  const std::string_view prototype = more ? cursor_.expect_name() : std::string_view{};
  cursor_.expect(';');

  if (call.target.kind == Operand::Kind::symbol) {
    if (call.target.value != 0) throw PtxParseError{target_offset, "a function has no parts"};
    const Function& function = parent_.find_function(call.target.name, target_offset);
    check_parameter_sizes(call, {sizes_of(function.returns), sizes_of(function.params)},
                          target_offset);
    call.proto_returns.clear();
    call.proto_args.clear();
  } else if (call.target.kind != Operand::Kind::reg || call.target.negated ||
             function_.registers[static_cast<size_t>(call.target.reg)].bits != 64) {
    throw PtxParseError{target_offset, "a call needs a function or a 64-bit register here"};
  } else if (prototype.empty()) {
    throw PtxParseError{target_offset, "a call through a register needs a prototype"};
  } else {
    call.prototype = "prototype_" + std::to_string(in.call);
    prototype_uses_.push_back({scopes_.scope_id(), prototype, prototype_offset, in.call});
  }
  function_.calls.push_back(std::move(call));
}

void FunctionParser::check_parameter_sizes(const CallInfo& call, const Prototype& prototype,
                                           size_t offset) const {
  if (call.proto_returns != prototype.returns || call.proto_args != prototype.args) {
    throw PtxParseError{offset, "this call's parameters are not those of the function"};
  }
}

int FunctionParser::find_label(int scope, std::string_view name, size_t offset,
                               Scopes::LabelKind kind) const {
  const int value = scopes_.find_label(scope, name, kind);
  if (value >= 0) return value;
  constexpr std::string_view kKinds[] = {"label", "branch table", "prototype"};
  throw PtxParseError{offset, "the " + std::string(kKinds[static_cast<size_t>(kind)]) + " `" +
                                  std::string(name) + "` is not defined"};
}

void FunctionParser::resolve_label_uses() {
  for (const LabelUse& use : label_uses_) {
    const int target = find_label(use.scope, use.name, use.offset, Scopes::LabelKind::code);
    if (use.table >= 0) {
      function_.branch_tables[static_cast<size_t>(use.table)][static_cast<size_t>(use.entry)] =
          target;
    } else {
      function_.body[static_cast<size_t>(use.instruction)].operands[0].value = target;
    }
  }
  for (const NamedUse& use : table_uses_) {
    function_.body[static_cast<size_t>(use.index)].branch_table =
        find_label(use.scope, use.name, use.offset, Scopes::LabelKind::table);
  }
  for (const NamedUse& use : prototype_uses_) {
    const int index = find_label(use.scope, use.name, use.offset, Scopes::LabelKind::prototype);
    check_parameter_sizes(function_.calls[static_cast<size_t>(use.index)],
                          prototypes_[static_cast<size_t>(index)], use.offset);
  }
}

}  // namespace lab32::ptx
