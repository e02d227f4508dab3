#include "simulator/ptx/module.h"
#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {
namespace {

using Kind = Operand::Kind;

class OperandChecker {
 public:
  OperandChecker(const Function& function, const Instruction& in, std::string_view opcode)
      : function_(function), in_(in), opcode_(opcode) {}

  void check_operand(const OperandSpec& slot, const OperandWithVariable& parsed) {
    slot_ = &slot;
    offset_ = parsed.offset;
    const Operand& op = parsed.operand;
    if (op.kind == Kind::none) return;
    const std::string_view name = slot.name;
    if (name == "mem" || name == "addr") return check_address(parsed);
    if (name == "box") return check_tensor_box_address(op);
    if (name == "texel") return check_texel_address(op);
    if (name == "texels") return check_texel_results(op);
    if (name == "floats") return check_float_vector(op);
    if (name == "vec") return check_vector(op);
    if (name == "frag") return check_fragment(op);
    if (name == "any") return check_mov_operand(parsed);
    if (name == "pred") return check_predicate(op, false);
    if (name == "pq") return check_predicate_or_pair(op);
    if (name == "label" || name == "func") return;
    if (name == "Tp" || name == "u32p") {
      return check_value_with_optional_predicate(op, name == "Tp" ? in_.type(0) : DataType::u32);
    }
    if (name == "W") return check_value(op, DataType::none, 2 * bits_of(in_.type(0)));
    const DataType type = name == "T"   ? in_.type(0)
                          : name == "U" ? in_.type(1)
                          : name == "V" ? in_.type(2)
                                        : type_from_word_or_none(name);
    if (op.kind == Kind::wildcard && slot.may_be_dropped) return;
    check_value(op, type, bits_of(type));
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw PtxParseError{offset_, "`" + std::string(opcode_) + "` wants " + expected + " here"};
  }
  [[noreturn]] void fail_only_mov(const std::string& reads) const {
    throw PtxParseError{offset_, "`" + std::string(opcode_) + "` cannot read " + reads +
                                     ": `mov` it to a register first"};
  }

  unsigned register_bits(const Operand& op) const {
    return function_.registers[static_cast<size_t>(op.reg)].bits;
  }

  // Checks the width of a register that holds a value. "The operands of ld, st and cvt may be wider
  // than the type" (PTX ISA, operand size exceeding instruction-type size); all other operands must
  // have exactly the type's width.
  void check_register_width(const Operand& op, unsigned wanted_bits) const {
    if (op.negated) fail("a register without `!`");
    const unsigned have = register_bits(op);
    if (have == wanted_bits || (in_.op->traits.allows_wider_registers && have > wanted_bits))
      return;
    fail("a register of " + std::to_string(wanted_bits) + " bits");
  }

  // Checks that the operand is a value of the type, or of `wanted_bits` bits if the type is
  // DataType::none.
  void check_value(const Operand& op, DataType type, unsigned wanted_bits) const {
    if (type == DataType::pred) return check_predicate(op, false);
    if (op.kind == Kind::reg) return check_register_width(op, wanted_bits);
    if (slot_->is_dest) fail("a register");
    switch (op.kind) {
      case Kind::integer:
        // ptxas accepts an integer for f16 and bf16 (as bits), but not for f32 and f64.
        if (is_float(type) && wanted_bits >= 32 && !is_packed_half(type)) {
          fail("a floating-point number");
        }
        return;
      case Kind::real:
        if (is_integer(type)) fail("an integer");
        return;
      case Kind::special:
        if (op.special == SpecialReg::warpsize || in_.op->id == OpId::cvt) return;
        fail_only_mov("a special register");
      case Kind::symbol:
        fail_only_mov("an address");
      default:
        fail("a value");
    }
  }

  static bool is_packed_half(DataType type) {
    return type == DataType::f16x2 || type == DataType::bf16x2;
  }
  static bool is_integer(DataType type) { return type >= DataType::u8 && type <= DataType::s64; }

  void check_predicate(const Operand& op, bool may_be_wildcard) const {
    if (may_be_wildcard && op.kind == Kind::wildcard) return;
    if (op.kind == Kind::integer && !slot_->is_dest) return;
    if (op.kind != Kind::reg || register_bits(op) != 1) fail("a predicate");
    if (op.negated && slot_->is_dest) fail("a predicate without `!`");
  }

  void check_predicate_or_pair(const Operand& op) const {
    if (op.kind != Kind::pair) return check_predicate(op, true);
    for (const Operand& element : op.elements) check_predicate(element, true);
  }

  void check_value_with_optional_predicate(const Operand& op, DataType type) const {
    if (op.kind != Kind::pair) return check_value_or_wildcard(op, type);
    check_value_or_wildcard(op.elements[0], type);
    check_predicate(op.elements[1], true);
  }

  void check_value_or_wildcard(const Operand& op, DataType type) const {
    if (op.kind != Kind::wildcard) check_value(op, type, bits_of(type));
  }

  void check_vector(const Operand& op) const {
    DataType type = in_.type(0);
    size_t count = in_.has(Modifier::v4) ? 4 : in_.has(Modifier::v2) ? 2 : 1;
    if (in_.op->traits.matrix) {
      type = DataType::b32;  // two b16 elements of a matrix row in each register
      count = in_.has(Modifier::x4) ? 4 : in_.has(Modifier::x2) ? 2 : 1;
    }
    if (op.kind != Kind::vector) {
      if (count != 1) fail("a vector of " + std::to_string(count));
      return check_value(op, type, bits_of(type));
    }
    if (op.elements.size() != count) fail("a vector of " + std::to_string(count));
    for (const Operand& element : op.elements) {
      if (element.kind == Kind::wildcard && slot_->is_dest) continue;
      check_value(element, type, bits_of(type));
    }
  }

  // Checks only that the operand is a fragment; the decoder checks the number of its registers.
  void check_fragment(const Operand& op) const {
    const bool wide = in_.type(0) == DataType::f64;
    if (op.kind != Kind::vector) fail("a vector");
    for (const Operand& element : op.elements) {
      if (element.kind != Kind::reg) fail("registers");
      check_register_width(element, wide ? 64 : 32);
    }
  }

  // Checks an operand of mov: a value, an address, or a vector that is packed into or unpacked from
  // one register.
  void check_mov_operand(const OperandWithVariable& parsed) const {
    const Operand& op = parsed.operand;
    const DataType type = in_.type(0);
    if (op.kind == Kind::special && op.special == SpecialReg::is_explicit_cluster) {
      if (type != DataType::pred) fail("no predicate");
      return;
    }
    if (type == DataType::pred) return check_predicate(op, false);
    if (op.kind == Kind::vector) {
      const auto count = static_cast<unsigned>(op.elements.size());
      const unsigned each = bits_of(type) / count;
      if ((count != 2 && count != 4) || each < 8) fail("a vector of 2 or 4");
      for (const Operand& element : op.elements) {
        if (element.kind == Kind::wildcard && slot_->is_dest) continue;
        check_value(element, DataType::none, each);
      }
      return;
    }
    if (slot_->is_dest) return check_value(op, type, bits_of(type));
    if (op.kind == Kind::special) return;
    if (op.kind == Kind::symbol) {
      if (bits_of(type) < 32) fail("a type of 32 or 64 bits for an address");
      return;
    }
    check_value(op, type, bits_of(type));
  }

  // Checks the coordinates of a texel. Layers are integers; coordinates have the second type of the
  // instruction, or are integers for surfaces.
  void check_texel_address(const Operand& op) const {
    if (op.kind == Kind::address && op.reg < 0)
      throw PtxParseError{offset_,
                          "`" + std::string(opcode_) +
                              "` through a reference is not supported: texture and surface "
                              "references left CUDA with version 12, objects took their place"};
    if (op.kind != Kind::address || op.elements.empty() || register_bits(op) != 64)
      fail("`[object, {coordinates}]`");
    const bool layered =
        in_.has(Modifier::a1d) || in_.has(Modifier::a2d) || in_.has(Modifier::acube);
    const bool one = in_.has(Modifier::d1), two = in_.has(Modifier::d2) || in_.has(Modifier::a1d);
    if (op.elements.size() != (one ? 1u : two ? 2u : 4u)) fail("as many coordinates as it has");
    const DataType along = in_.type_count > 1 ? in_.type(1) : DataType::s32;
    for (size_t i = 0; i < op.elements.size(); ++i)
      check_value(op.elements[i], layered && i == 0 ? DataType::u32 : along, 32);
  }

  void check_tensor_box_address(const Operand& op) const {
    if (op.kind != Kind::address || op.elements.empty()) fail("`[tensor map, {coordinates}]`");
    if (op.reg >= 0 && register_bits(op) != 64) fail("an address of 64 bits");
    size_t dimensions = 1;
    for (const Modifier mod : {Modifier::d2, Modifier::d3, Modifier::d4, Modifier::d5}) {
      if (in_.has(mod))
        dimensions = 2 + static_cast<size_t>(mod == Modifier::d3) +
                     2 * static_cast<size_t>(mod == Modifier::d4) +
                     3 * static_cast<size_t>(mod == Modifier::d5);
    }
    if (op.elements.size() != dimensions) fail("as many coordinates as the tensor has dimensions");
    for (const Operand& element : op.elements) check_value(element, DataType::s32, 32);
  }

  void check_texel_results(const Operand& op) const {
    if (op.kind != Kind::pair) return check_vector(op);
    check_vector(op.elements[0]);
    check_predicate(op.elements[1], true);
  }

  void check_float_vector(const Operand& op) const {
    if (op.kind != Kind::vector) fail("a vector");
    for (const Operand& element : op.elements) check_value(element, DataType::f32, 32);
  }

  void check_address(const OperandWithVariable& parsed) const {
    const Operand& op = parsed.operand;
    if (op.kind != Kind::address || !op.elements.empty()) fail("an address in `[ ]`");
    // Addresses in shared memory are often kept in 32 bits (__cvta_generic_to_shared).
    if (op.reg >= 0 && register_bits(op) != 64 && register_bits(op) != 32)
      fail("an address of 32 or 64 bits");
    if (op.name.empty()) return;
    if (parsed.variable == nullptr) fail("the name of a variable");
    if (slot_->name == "addr") return;
    size_t use = 0;
    for (const OperandSpec* spec = in_.op->operands.data(); spec != slot_; ++spec) {
      if (spec->name == "mem") ++use;
    }
    const Space expected = memory_space(in_, use);
    if (expected != Space::generic && expected != parsed.variable->space) {
      fail("a variable of that state space");
    }
  }

  const Function& function_;
  const Instruction& in_;
  std::string_view opcode_;
  const OperandSpec* slot_ = nullptr;
  size_t offset_ = 0;
};

}  // namespace

void check_operands(const Function& function, const Instruction& in, std::string_view opcode,
                    const std::vector<OperandWithVariable>& operands) {
  OperandChecker checker(function, in, opcode);
  for (size_t i = 0; i < operands.size(); ++i)
    checker.check_operand(in.op->operands[i], operands[i]);
}

}  // namespace lab32::ptx
