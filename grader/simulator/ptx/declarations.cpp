#include <cstring>
#include <optional>

#include "base/memory.h"
#include "simulator/ptx/lexer.h"
#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {
namespace {

// No device has so much memory. The limit prevents overflow for malformed declarations.
constexpr uint64_t kLargestVariable = uint64_t{1} << 40;
// An initialiser is stored completely, so its size is limited.
constexpr uint64_t kLargestInitialiser = uint64_t{1} << 26;
// Braces may be nested only so deeply.
constexpr size_t kMostDimensions = 16;

struct PtxScalarOrVectorType {
  DataType type = DataType::none;
  uint32_t vector = 1;
  uint32_t bytes() const { return bytes_of(type) * vector; }
};

// Reads the initialiser of an array into the byte image of a variable.
class InitialiserParser {
 public:
  InitialiserParser(TokenCursor& cursor, Variable& variable, PtxScalarOrVectorType element,
                    const std::vector<uint64_t>& dims)
      : cursor_(cursor), variable_(variable), element_(element), dims_(dims) {}

  void parse_initialiser() {
    if (dims_.empty() && element_.vector == 1) {
      parse_scalar(0);
    } else {
      parse_braces(0, 0, element_.bytes() * element_count());
    }
    if (masked_bytes_ != 0) cursor_.fail("this address is given in part only");
  }

 private:
  uint64_t element_count() const {
    uint64_t count = 1;
    for (uint64_t dim : dims_) count *= dim;
    return count;
  }

  // Reads the items of one brace level. Level l has dims_[l] items; the items of the innermost
  // level are scalars. As in C, any level may contain scalars directly: nvcc writes arrays of
  // arrays without inner braces.
  void parse_braces(size_t level, uint64_t begin, uint64_t bytes) {
    cursor_.expect('{');
    const uint64_t scalar_bytes = bytes_of(element_.type);
    uint64_t at = begin;
    while (!cursor_.accept('}')) {
      if (cursor_.peek().is('{')) {
        if (level >= dims_.size() || dims_[level] == 0) cursor_.fail("too many braces");
        const uint64_t inner = bytes / dims_[level];
        if (inner == 0) cursor_.fail("more initialisers than elements");
        at = begin + align_up(at - begin, inner);
        if (at + inner > begin + bytes) cursor_.fail("more initialisers than elements");
        parse_braces(level + 1, at, inner);
        at += inner;
      } else {
        if (at + scalar_bytes > begin + bytes) cursor_.fail("more initialisers than elements");
        parse_scalar(at);
        at += scalar_bytes;
      }
      if (!cursor_.peek().is('}')) cursor_.expect(',');
    }
  }

  void put_bits(uint64_t at, uint64_t bits, uint64_t bytes) {
    if (at + bytes > kLargestInitialiser) cursor_.fail("this initialiser is too long");
    if (variable_.init.size() < at + bytes) variable_.init.resize(at + bytes);
    std::memcpy(variable_.init.data() + at, &bits, bytes);
  }

  void parse_scalar(uint64_t at) {
    const uint64_t bytes = bytes_of(element_.type);
    if (bytes > 8) cursor_.fail("initialisers of this type are not supported");
    if (cursor_.peek().kind == Token::Kind::word) {
      if (bytes != 8) cursor_.fail("an address needs an element of 8 bytes");
      variable_.relocations.push_back(parse_address(at));
      return put_bits(at, 0, bytes);
    }
    const bool minus = cursor_.accept('-');
    const Token& token = cursor_.peek();
    if (token.kind != Token::Kind::number) cursor_.fail_expected("an initialiser");
    if (const auto value = parse_integer_literal(token.text)) {
      cursor_.next();
      if (cursor_.peek().is('(')) return parse_masked_address(at, *value);
      return is_float(element_.type) ? put_real(at, static_cast<double>(*value), minus)
                                     : put_bits(at, minus ? 0 - *value : *value, bytes);
    }
    const auto literal = parse_real(token.text);
    if (!literal) cursor_.fail_expected("an initialiser");
    cursor_.next();
    if (!literal->is_double) {
      const auto bits32 = static_cast<uint32_t>(literal->bits);
      float value;
      std::memcpy(&value, &bits32, sizeof value);
      // Stores the bit pattern without converting it, because a conversion would make a signalling
      // NaN quiet.
      if (bytes == 4) return put_bits(at, bits32 ^ (minus ? 0x80000000u : 0), 4);
      return put_real(at, static_cast<double>(value), minus);
    }
    if (bytes == 8) return put_bits(at, literal->bits ^ (minus ? uint64_t{1} << 63 : 0), 8);
    double value;
    std::memcpy(&value, &literal->bits, sizeof value);
    put_real(at, value, minus);
  }

  void put_real(uint64_t at, double value, bool minus) {
    if (minus) value = -value;
    uint64_t bits = 0;
    if (bytes_of(element_.type) == 8) {
      std::memcpy(&bits, &value, 8);
    } else if (bytes_of(element_.type) == 4) {
      const float narrow = static_cast<float>(value);
      std::memcpy(&bits, &narrow, 4);
    } else {
      cursor_.fail("a floating-point initialiser of this type is not supported");
    }
    put_bits(at, bits, bytes_of(element_.type));
  }

  // sym, sym+4, generic(sym), generic(sym)+4
  Variable::Relocation parse_address(uint64_t at) {
    Variable::Relocation relocation{at, {}, 0, false};
    if (cursor_.peek().is("generic") && cursor_.peek(1).is('(')) {
      cursor_.next();
      cursor_.next();
      relocation.generic = true;
      relocation.symbol = cursor_.expect_name();
      cursor_.expect(')');
    } else {
      relocation.symbol = cursor_.expect_name();
    }
    while (cursor_.peek().is('+') || cursor_.peek().is('-')) {
      const bool minus = cursor_.next().is('-') != cursor_.accept('-');
      const uint64_t value = cursor_.expect_integer();
      relocation.addend = static_cast<int64_t>(static_cast<uint64_t>(relocation.addend) +
                                               (minus ? 0 - value : value));
    }
    return relocation;
  }

  // Reads an address that is written byte by byte, as nvcc does for one that is not aligned:
  // 0xFF(generic(sym)+8), 0xFF00(generic(sym)+8), …. The eight masks must follow each other in
  // order.
  void parse_masked_address(uint64_t at, uint64_t mask) {
    if (bytes_of(element_.type) != 1) cursor_.fail("part of an address needs an element of a byte");
    if (mask != uint64_t{0xFF} << (8 * masked_bytes_)) {
      cursor_.fail("the bytes of an address must follow each other");
    }
    cursor_.expect('(');
    const Variable::Relocation relocation = parse_address(at);
    cursor_.expect(')');
    if (masked_bytes_ == 0) {
      variable_.relocations.push_back(relocation);
    } else {
      const Variable::Relocation& first = variable_.relocations.back();
      if (first.symbol != relocation.symbol || first.addend != relocation.addend ||
          first.generic != relocation.generic ||
          first.offset + static_cast<uint64_t>(masked_bytes_) != at) {
        cursor_.fail("the bytes of an address must follow each other");
      }
    }
    masked_bytes_ = (masked_bytes_ + 1) % 8;
    put_bits(at, 0, 1);
  }

  TokenCursor& cursor_;
  Variable& variable_;
  PtxScalarOrVectorType element_;
  const std::vector<uint64_t>& dims_;
  int masked_bytes_ = 0;  // number of bytes of the address read so far
};

uint32_t parse_alignment_value(TokenCursor& cursor) {
  const size_t offset = cursor.offset();
  const uint64_t align = cursor.expect_integer();
  if (align == 0 || align > 4096 || (align & (align - 1)) != 0) {
    throw PtxParseError{offset, "an alignment must be a power of two, at most 4096"};
  }
  return static_cast<uint32_t>(align);
}

// Reads the words before a name: .align 8 .attribute(.managed) .ptr .global .v4 .f32
PtxScalarOrVectorType parse_type_words(TokenCursor& cursor, Variable& variable, uint32_t* align) {
  PtxScalarOrVectorType element;
  while (cursor.peek().kind == Token::Kind::word && cursor.peek().text[0] == '.') {
    const std::string_view word = cursor.peek().text.substr(1);
    if (word == "align") {
      cursor.next();
      *align = parse_alignment_value(cursor);
      continue;
    }
    if (word == "attribute") {
      cursor.next();
      cursor.expect('(');
      if (!cursor.accept(".managed")) cursor.fail_expected("`.managed`");
      cursor.expect(')');
      variable.is_managed = true;
      continue;
    }
    if (word == "ptr") {
      // This word describes the target of a pointer parameter, and not the parameter itself.
      cursor.next();
      if (space_of_directive(cursor.peek().text) != Space::generic) cursor.next();
      if (cursor.accept(".align")) parse_alignment_value(cursor);
      continue;
    }
    if (word == "v2" || word == "v4") {
      element.vector = word == "v2" ? 2 : 4;
    } else {
      const DataType type = type_from_word_or_none(word);
      if (word == "texref" || word == "samplerref" || word == "surfref")
        cursor.fail("texture and surface references left CUDA with version 12: use objects");
      if (type == DataType::none || bits_of(type) < 8) {
        cursor.fail("variables of type `." + std::string(word) + "` are not supported");
      }
      element.type = type;
    }
    cursor.next();
  }
  if (element.type == DataType::none) cursor.fail_expected("a type");
  return element;
}

// name[4][2] = {…}
void parse_declarator(TokenCursor& cursor, Variable& variable, PtxScalarOrVectorType element) {
  variable.name = cursor.expect_name();
  std::vector<uint64_t> dims;
  uint64_t size = element.bytes();
  while (cursor.accept('[')) {
    if (dims.size() == kMostDimensions) cursor.fail("too many dimensions");
    if (cursor.accept(']')) {
      if (!dims.empty()) cursor.fail("only the first dimension may be left open");
      variable.is_unsized = true;
      dims.push_back(0);
      continue;
    }
    const uint64_t dim = cursor.expect_integer();
    if (dim > kLargestVariable || size * dim > kLargestVariable) {
      cursor.fail("this variable is too large");
    }
    size *= dim;
    dims.push_back(dim);
    cursor.expect(']');
  }
  if (element.vector > 1) dims.push_back(element.vector);
  variable.size = variable.is_unsized ? 0 : size;
  if (cursor.accept('=')) {
    if (variable.is_unsized) cursor.fail("an open array with an initialiser is not supported");
    PtxScalarOrVectorType scalar = element;
    scalar.vector = 1;
    InitialiserParser(cursor, variable, scalar, dims).parse_initialiser();
  }
}

}  // namespace

Space space_of_directive(std::string_view word) {
  if (word == ".global") return Space::global;
  if (word == ".const") return Space::constant;
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  return Space::generic;
}

std::vector<Variable> parse_variables(TokenCursor& cursor, Space space, bool is_extern) {
  Variable common;
  common.space = space;
  common.is_extern = is_extern;
  common.align = 0;
  uint32_t align = 0;
  const PtxScalarOrVectorType element = parse_type_words(cursor, common, &align);
  common.align = align != 0 ? align : element.bytes();
  std::vector<Variable> variables;
  do {
    Variable variable = common;
    variable.line = cursor.peek().line;
    parse_declarator(cursor, variable, element);
    variables.push_back(std::move(variable));
  } while (cursor.accept(','));
  return variables;
}

std::vector<Variable> parse_parameters(TokenCursor& cursor) {
  std::vector<Variable> params;
  cursor.expect('(');
  if (cursor.accept(')')) return params;
  do {
    if (cursor.peek().is(".reg")) cursor.fail("parameters in registers are not supported");
    if (!cursor.accept(".param")) cursor.fail_expected("`.param`");
    Variable param;
    param.space = Space::param;
    param.line = cursor.peek().line;
    uint32_t align = 0;
    const PtxScalarOrVectorType element = parse_type_words(cursor, param, &align);
    param.align = align != 0 ? align : element.bytes();
    parse_declarator(cursor, param, element);
    params.push_back(std::move(param));
  } while (cursor.accept(','));
  cursor.expect(')');
  return params;
}

}  // namespace lab32::ptx
