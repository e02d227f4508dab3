#include "tests/opcode_harness.h"

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "base/error.h"
#include "tests/opcode_coverage.h"

namespace lab32::tests {
namespace {

using ptx::Operand;

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// At top level only: commas inside { } belong to a vector.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}') --depth;
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  return parts;
}

unsigned bytes_by_name(std::string_view name) {
  const std::string_view prefix = name.substr(0, name.find_first_of("0123456789"));
  const std::pair<std::string_view, unsigned> widths[] = {
      {"%p", 0}, {"%b", 1},  {"%rs", 2}, {"%h", 2},  {"%r", 4},
      {"%f", 4}, {"%hh", 4}, {"%rd", 8}, {"%fd", 8}, {"%rq", 16},
  };
  for (const auto& [known, bytes] : widths) {
    if (known == prefix) return bytes;
  }
  throw std::logic_error("no width for register " + std::string(name));
}

// Bytes of an immediate in this place.
unsigned immediate_bytes(const ptx::OperandSpec& spec, const ptx::Instruction& in) {
  if (spec.name == "T" || spec.name == "any") return ptx::bytes_of(in.type(0));
  if (spec.name == "U") return ptx::bytes_of(in.type(1));
  if (spec.name == "W") return 2 * ptx::bytes_of(in.type(0));
  return ptx::bytes_of(ptx::parse_type(spec.name));
}

}  // namespace

sim::ExecFn pick(const ptx::Instruction& in) {
  switch (in.op->id) {
#define OP(id, pattern, operands) \
  case ptx::OpId::id:             \
    return sim::pick_##id(in);
#include "ptx/opcodes.def"
#undef OP
    default:
      throw std::logic_error("no such row");
  }
}

void mark_covered(const ptx::Instruction& in) { covered(in.op->id); }

Operand Line::parse_operand(std::string_view text) {
  Operand operand;
  if (text.front() == '{') {
    operand.kind = Operand::Kind::vector;
    for (auto part : split(text.substr(1, text.size() - 2), ',')) {
      operand.elements.push_back(parse_operand(part));
    }
  } else if (split(text, '|').size() == 2) {
    operand.kind = Operand::Kind::pair;
    for (auto part : split(text, '|')) operand.elements.push_back(parse_operand(part));
  } else if (text == "_") {
    operand.kind = Operand::Kind::wildcard;
  } else if (text.front() == '%' || text.front() == '!') {
    operand.kind = Operand::Kind::reg;
    operand.negated = text.front() == '!';
    operand.name = std::string(text.substr(operand.negated ? 1 : 0));
  } else {
    operand.kind = Operand::Kind::integer;
    operand.value = static_cast<int64_t>(std::strtoll(std::string(text).c_str(), nullptr, 0));
  }
  return operand;
}

sim::Slot Line::slot_for(const Operand& operand, unsigned immediate_bytes) {
  sim::Slot slot;
  if (operand.kind == Operand::Kind::wildcard) return slot;
  slot.offset = static_cast<uint32_t>(regs_.size());
  if (operand.kind == Operand::Kind::integer) {
    slot.bytes = static_cast<uint8_t>(immediate_bytes);
    regs_.resize(regs_.size() + sim::kWarpSize * 16);
    for (int lane = 0; lane < sim::kWarpSize; ++lane) {
      std::memcpy(element(slot, lane), &operand.value, slot.bytes);
    }
    return slot;
  }
  for (const auto& [name, known] : registers_) {
    if (name == operand.name) {
      slot = known;
      slot.negated = operand.negated;
      return slot;
    }
  }
  const unsigned bytes = bytes_by_name(operand.name);
  slot.is_predicate = bytes == 0;
  slot.bytes = static_cast<uint8_t>(bytes == 0 ? 1 : bytes);
  regs_.resize(regs_.size() + sim::kWarpSize * 16);
  registers_.emplace_back(operand.name, slot);
  slot.negated = operand.negated;
  return slot;
}

Line::Line(const std::string& text) {
  std::string_view rest = trim(text);
  if (rest.back() == ';') rest.remove_suffix(1);
  const size_t space = rest.find(' ');
  const std::vector<std::string_view> words = split(rest.substr(0, space), '.');
  std::vector<ptx::Type> types;
  instruction_.op = ptx::match_opcode(words, &instruction_.mods, &types);
  if (instruction_.op == nullptr) throw Error(text + ": matches no row of opcodes.def");
  for (ptx::Type type : types) instruction_.types[instruction_.type_count++] = type;
  if (space != std::string_view::npos) {
    for (auto part : split(rest.substr(space + 1), ',')) {
      instruction_.operands.push_back(parse_operand(part));
    }
  }
  instruction_.operands.resize(instruction_.op->operands.size());  // as the parser: none stays none
  inst_.mem_base.bytes = 1;
  inst_.mem_base.is_predicate = true;
  inst_.mem_base.offset = 0;
  regs_.resize(sim::kWarpSize * 16);
  for (size_t i = 0; i < instruction_.operands.size(); ++i) {
    const Operand& operand = instruction_.operands[i];
    if (operand.kind == Operand::Kind::none) continue;
    const ptx::OperandSpec& spec = instruction_.op->operands.at(i);
    const bool group = !operand.elements.empty();
    const auto add = [&](const Operand& one) {
      const unsigned bytes = immediate_bytes(spec, instruction_);
      const sim::Slot slot = slot_for(one, group ? bytes / 2 : bytes);
      if (spec.is_dest) {
        inst_.dst[inst_.dst_count++] = slot;
      } else {
        inst_.src[inst_.src_count++] = slot;
      }
    };
    if (group) {
      for (const Operand& one : operand.elements) add(one);
    } else {
      add(operand);
    }
  }
  inst_.ptx = &instruction_;
  inst_.exec = pick(instruction_);
}

void check_refused(const std::string& text) {
  try {
    Line line(text);
  } catch (const Error& error) {
    const std::string opcode = text.substr(0, text.find(' '));
    CHECK_MESSAGE(std::string(error.what()).rfind(opcode, 0) == 0, error.what());
    return;
  }
  FAIL_CHECK(text, " was accepted");
}

// --- values --------------------------------------------------------------------------------------

namespace {

template <class T>
void add_random(std::vector<T>* values, int count) {
  std::mt19937_64 random(2024 + sizeof(T));
  for (int i = 0; i < count; ++i) {
    const uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    values->push_back(value);
  }
}

}  // namespace

template <class T>
std::vector<T> interesting(int random) {
  std::vector<T> values;
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    for (unsigned v :
         {0u,   1u,   2u,      3u,      5u,      7u,        8u,        15u,       16u,  17u,
          24u,  31u,  32u,     33u,     63u,     64u,       65u,       100u,      127u, 128u,
          255u, 256u, 0x7fffu, 0x8000u, 0xffffu, 0x7fffffu, 0xffffffu, 0x1000001u}) {
      values.push_back(static_cast<T>(v));
      values.push_back(static_cast<T>(U(0) - static_cast<U>(v)));
    }
    for (T v : {Limits::min(), Limits::max()}) {
      values.push_back(v);
      values.push_back(static_cast<T>(static_cast<U>(v) - 1));
      values.push_back(static_cast<T>(static_cast<U>(v) + 1));
      values.push_back(static_cast<T>(static_cast<U>(v) / 2));
    }
  } else {
    const T ulp = Limits::epsilon();
    for (T v : {T(0),
                T(1),
                T(1) + ulp,
                T(1) - ulp / 2,
                T(2),
                T(3),
                T(0.5),
                T(1.5),
                T(2.5),
                T(0.1),
                T(10),
                T(127.5),
                T(128),
                T(254.5),
                T(255.5),
                T(32767.5),
                T(32768),
                T(65504),
                T(65519.996),
                T(65520),
                T(65535.5),
                T(65536),
                T(16777215),
                T(16777216),
                T(16777218),
                T(2147483520),
                T(2147483647.5),
                T(2147483648),
                T(4294967040),
                T(4294967295.5),
                T(4294967296),
                T(9223371487098961920.0),
                T(9223372036854775808.0),
                T(18446742974197923840.0),
                T(18446744073709551616.0),
                T(6.1035156e-5),
                T(5.96e-8),
                T(2.98e-8),
                T(1.1754944e-38),
                T(1.1754942e-38),
                T(1.4e-45),
                T(3.4028235e38),
                Limits::min(),
                Limits::min() - Limits::denorm_min(),
                Limits::min() * 2,
                Limits::denorm_min(),
                3 * Limits::denorm_min(),
                Limits::max(),
                Limits::max() / 2,
                Limits::max() * (1 - ulp),
                Limits::infinity(),
                Limits::quiet_NaN()}) {
      values.push_back(v);
      values.push_back(-v);
    }
    // NaN with payloads, signalling ones too; doubles about to round up to the least normal float.
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const std::vector<uint64_t> patterns =
        sizeof(T) == 4
            ? std::vector<uint64_t>{0x7f800001, 0xffa00000, 0x7fc12345, 0xffffffff, 0x7fffffff}
            : std::vector<uint64_t>{0x7ff0000000000001, 0xfff4000000000000, 0x7ff8123456789abc,
                                    0xffffffffffffffff, 0x380fffffffffffff, 0x380ffffff0000000,
                                    0x380fffffe0000000, 0x380fffffefffffff, 0xb80ffffff8000000};
    for (uint64_t pattern : patterns) {
      const auto bits = static_cast<Bits>(pattern);
      T value;
      std::memcpy(&value, &bits, sizeof value);
      values.push_back(value);
    }
    // Random bits are mostly huge or tiny numbers; these meet each other.
    std::mt19937_64 generator(7);
    for (int i = 0; i < random; ++i) {
      const double unit = static_cast<double>(generator() >> 11) * 0x1p-53;
      values.push_back(
          static_cast<T>((unit - 0.5) * std::ldexp(1.0, static_cast<int>(i % 40) - 8)));
    }
  }
  add_random(&values, random);
  return values;
}

template <>
std::vector<bool> interesting<bool>(int) {
  return {false, true};
}

template <>
std::vector<HalfBits> interesting<HalfBits>(int random) {
  std::vector<HalfBits> values;
  for (unsigned v :
       {0x0000u, 0x0001u, 0x0002u, 0x0003u, 0x007fu, 0x0080u, 0x0081u, 0x03ffu, 0x0400u, 0x0401u,
        0x3555u, 0x3800u, 0x3bffu, 0x3c00u, 0x3c01u, 0x3f00u, 0x3f7fu, 0x3f80u, 0x3f81u, 0x4000u,
        0x4200u, 0x4248u, 0x6bffu, 0x77ffu, 0x7800u, 0x7bfeu, 0x7bffu, 0x7c00u, 0x7c01u, 0x7e00u,
        0x7f00u, 0x7f7eu, 0x7f7fu, 0x7f80u, 0x7f81u, 0x7fc0u, 0x7fffu, 0x5bffu, 0x2e66u, 0x1400u}) {
    values.push_back({static_cast<uint16_t>(v)});
    values.push_back({static_cast<uint16_t>(v | 0x8000)});
  }
  add_random(&values, random);
  return values;
}

template <>
std::vector<HalfPairBits> interesting<HalfPairBits>(int random) {
  const std::vector<HalfBits> halves = interesting<HalfBits>(random);
  std::vector<HalfPairBits> values;
  for (size_t i = 0; i < halves.size(); ++i) {
    values.push_back({halves[i], halves[(i * 7 + 3) % halves.size()]});
  }
  return values;
}

template std::vector<uint8_t> interesting<uint8_t>(int);
template std::vector<uint16_t> interesting<uint16_t>(int);
template std::vector<uint32_t> interesting<uint32_t>(int);
template std::vector<uint64_t> interesting<uint64_t>(int);
template std::vector<int8_t> interesting<int8_t>(int);
template std::vector<int16_t> interesting<int16_t>(int);
template std::vector<int32_t> interesting<int32_t>(int);
template std::vector<int64_t> interesting<int64_t>(int);
template std::vector<float> interesting<float>(int);
template std::vector<double> interesting<double>(int);

}  // namespace lab32::tests
