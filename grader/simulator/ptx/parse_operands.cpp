// Parses operands of instructions in all their forms.
#include "simulator/ptx/lexer.h"
#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {

void FunctionParser::parse_operands(Instruction& in, std::string_view opcode) {
  const size_t opcode_offset = static_cast<size_t>(opcode.data() - module_.text.data());
  const std::vector<OperandSpec>& slots = in.op->operands;
  std::vector<OperandWithVariable> parsed;
  parsed.reserve(slots.size());
  const bool is_table_branch = in.op->traits.transfer == ControlTransfer::table_branch;
  if (!cursor_.peek().is(';')) {
    do {
      const size_t slot = parsed.size();
      if (slot < slots.size() && slots[slot].name == "label") {
        OperandWithVariable label;
        label.offset = cursor_.offset();
        label.operand.kind = Operand::Kind::label;
        const std::string_view name = cursor_.expect_name();
        const int index = static_cast<int>(function_.body.size());
        if (is_table_branch) {
          table_uses_.push_back({scopes_.scope_id(), name, label.offset, index});
        } else {
          label_uses_.push_back({scopes_.scope_id(), name, label.offset, index, -1, -1});
        }
        parsed.push_back(std::move(label));
      } else {
        parsed.push_back(parse_operand());
      }
    } while (cursor_.accept(','));
  }
  cursor_.expect(';');

  if (in.has(Modifier::cache_hint) &&
      in.op->pattern.find("L2::cache_hint") == std::string_view::npos) {
    const bool is_policy = parsed.size() > 1 && parsed.back().operand.kind == Operand::Kind::reg;
    if (!is_policy ||
        function_.registers[static_cast<size_t>(parsed.back().operand.reg)].bits != 64)
      throw PtxParseError{opcode_offset,
                          "`" + std::string(opcode) +
                              "` takes a cache policy as its last operand: a register "
                              "of 64 bits"};
    parsed.pop_back();  // the policy has no effect in the simulator
    in.mods.reset(static_cast<size_t>(Modifier::cache_hint));
  }

  // A row has at most one optional operand. If an operand is missing, it is that one.
  if (parsed.size() + 1 == slots.size()) {
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].optional) continue;
      parsed.insert(parsed.begin() + static_cast<long>(i), OperandWithVariable{});
      break;
    }
  }
  if (parsed.size() != slots.size()) {
    throw PtxParseError{opcode_offset, "`" + std::string(opcode) + "` takes " +
                                           std::to_string(slots.size()) + " operands, not " +
                                           std::to_string(parsed.size())};
  }
  check_operands(function_, in, opcode, parsed);
  in.operands.reserve(parsed.size());
  for (OperandWithVariable& p : parsed) in.operands.push_back(std::move(p.operand));
}

// Parses one operand. `inside`: it is an element of a vector or pair, which cannot contain another
// vector or pair.
OperandWithVariable FunctionParser::parse_operand(bool inside) {
  OperandWithVariable result;
  result.offset = cursor_.offset();
  Operand& op = result.operand;
  const Token& token = cursor_.peek();
  if (token.is('{') && !inside) {
    parse_vector_operand(result);
  } else if (token.is('[') && !inside) {
    parse_address_operand(result);
  } else if (token.is('!')) {
    cursor_.next();
    op.kind = Operand::Kind::reg;
    op.negated = true;
    op.reg = parse_register_operand();
  } else if (token.is('-')) {
    cursor_.next();
    parse_literal_operand(result, true);
  } else if (token.kind == Token::Kind::number) {
    parse_literal_operand(result, false);
  } else if (token.kind == Token::Kind::word) {
    parse_name_operand(result);
  } else {
    cursor_.fail_expected("an operand");
  }
  if (!inside && cursor_.accept('|')) {
    OperandWithVariable second = parse_operand(true);
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.elements.push_back(std::move(op));
    pair.elements.push_back(std::move(second.operand));
    result.operand = std::move(pair);
  }
  return result;
}

void FunctionParser::parse_vector_operand(OperandWithVariable& result) {
  cursor_.expect('{');
  result.operand.kind = Operand::Kind::vector;
  do {
    result.operand.elements.push_back(parse_operand(true).operand);
  } while (cursor_.accept(','));
  cursor_.expect('}');
}

// Parses an address: [%rd1+8]  [name]  [name+-4]  [1024]  [%rd1, {%f1, %f2}]
void FunctionParser::parse_address_operand(OperandWithVariable& result) {
  cursor_.expect('[');
  Operand& op = result.operand;
  op.kind = Operand::Kind::address;
  if (cursor_.peek().kind == Token::Kind::word) {
    const std::string_view name = cursor_.peek().text;
    op.reg = scopes_.find_register(name);
    if (op.reg < 0 && !resolve_symbol(name, result)) {
      cursor_.fail("`" + std::string(name) + "` is not declared");
    }
    cursor_.next();
    op.value = parse_addend();
  } else {
    const bool minus = cursor_.accept('-');
    const uint64_t value = cursor_.expect_integer();
    op.value =
        static_cast<int64_t>((minus ? 0 - value : value) + static_cast<uint64_t>(parse_addend()));
  }
  if (cursor_.accept(',')) {
    OperandWithVariable coordinates;
    parse_vector_operand(coordinates);
    op.elements = std::move(coordinates.operand.elements);
  }
  if (!cursor_.accept(']')) cursor_.fail_expected("`]`");
}

// Sums any number of +4, +-4 and -4, since inline assembly concatenates offsets. The sum wraps as
// in hardware.
int64_t FunctionParser::parse_addend() {
  uint64_t sum = 0;
  while (cursor_.peek().is('+') || cursor_.peek().is('-')) {
    bool minus = cursor_.next().is('-');
    if (cursor_.accept('-')) minus = !minus;
    const uint64_t value = cursor_.expect_integer();
    sum += minus ? 0 - value : value;
  }
  return static_cast<int64_t>(sum);
}

void FunctionParser::parse_literal_operand(OperandWithVariable& result, bool minus) {
  Operand& op = result.operand;
  const std::string_view text = cursor_.peek().text;
  if (cursor_.peek().kind != Token::Kind::number) cursor_.fail_expected("a number");
  if (const auto value = parse_integer_literal(text)) {
    op.kind = Operand::Kind::integer;
    op.value = static_cast<int64_t>(minus ? 0 - *value : *value);
  } else if (const auto real = parse_real(text)) {
    op.kind = Operand::Kind::real;
    op.is_double = real->is_double;
    const uint64_t sign = uint64_t{1} << (real->is_double ? 63 : 31);
    op.value = static_cast<int64_t>(minus ? real->bits ^ sign : real->bits);
  } else {
    cursor_.fail("`" + std::string(text) + "` is not a number");
  }
  cursor_.next();
}

int FunctionParser::parse_register_operand() {
  const std::string_view name = cursor_.expect_name();
  const int reg = scopes_.find_register(name);
  if (reg < 0) {
    throw PtxParseError{static_cast<size_t>(name.data() - module_.text.data()),
                        "`" + std::string(name) + "` is not a register"};
  }
  return reg;
}

bool FunctionParser::resolve_symbol(std::string_view name, OperandWithVariable& result) {
  if (const Variable* variable = scopes_.find_variable(name)) {
    result.variable = variable;
    result.operand.name = variable->name;
    return true;
  }
  const auto global = parent_.names_.find(name);
  if (global == parent_.names_.end()) return false;
  if (!global->second.is_function) result.variable = &module_.variables[global->second.index];
  result.operand.name = name;
  return true;
}

void FunctionParser::parse_name_operand(OperandWithVariable& result) {
  Operand& op = result.operand;
  const std::string_view name = cursor_.peek().text;
  if (name == "_") {
    op.kind = Operand::Kind::wildcard;
    cursor_.next();
    return;
  }
  op.reg = scopes_.find_register(name);
  if (op.reg >= 0) {
    op.kind = Operand::Kind::reg;
    cursor_.next();
    return;
  }
  if (resolve_symbol(name, result)) {
    op.kind = Operand::Kind::symbol;
    cursor_.next();
    op.value = parse_addend();
    return;
  }
  if (parse_special_register(name, &op.special)) {
    op.kind = Operand::Kind::special;
    cursor_.next();
    return;
  }
  cursor_.fail(name[0] == '%' && scopes_.depth() > 0
                   ? "the register `" + std::string(name) + "` is not supported by the simulator"
                   : "`" + std::string(name) + "` is not declared");
}

}  // namespace lab32::ptx
