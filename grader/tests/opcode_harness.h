// One PTX instruction, executed by its row's function on registers that a test fills: no module, no
// warp, no memory.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/program.h"

namespace lab32::tests {

// The row's function, as the decoder finds it.
sim::ExecFn pick(const ptx::Instruction& in);

// "add.sat.s32 %r3, %r1, %r2;". A register's name tells its width as nvcc's names do: %p predicate,
// %b 8, %rs %h 16, %r %f %hh 32, %rd %fd 64, %rq 128 bits. Throws lab32::Error where the loader
// would.
class Line {
 public:
  explicit Line(const std::string& text);
  Line(const Line&) = delete;

  void run(uint32_t mask) {
    const sim::Exec x{regs_.data(), mask, nullptr};
    inst_.exec(x, inst_);
  }

  sim::Inst& inst() { return inst_; }
  const ptx::Instruction& instruction() const { return instruction_; }
  const sim::Slot& carry() const { return inst_.mem_base; }

  // One lane of a slot. A register wider than the value keeps `filler` in its other bytes.
  template <class T>
  void set(const sim::Slot& slot, int lane, T value, uint8_t filler = 0xa5) {
    std::byte* at = element(slot, lane);
    std::memset(at, filler, slot.bytes);
    std::memcpy(at, &value, sizeof value);
  }
  void set(const sim::Slot& slot, int lane, bool value) { set_bit(slot, lane, value); }
  template <class T>
  T get(const sim::Slot& slot, int lane) {
    if constexpr (std::is_same_v<T, bool>) {
      return (word(slot) >> lane & 1) != 0;
    } else {
      T value;
      std::memcpy(&value, element(slot, lane), sizeof value);
      return value;
    }
  }
  uint32_t word(const sim::Slot& predicate) const {
    uint32_t bits;
    std::memcpy(&bits, regs_.data() + predicate.offset, sizeof bits);
    return bits;
  }
  void set_word(const sim::Slot& predicate, uint32_t bits) {
    std::memcpy(regs_.data() + predicate.offset, &bits, sizeof bits);
  }

 private:
  sim::Slot slot_for(const ptx::Operand& operand, unsigned immediate_bytes);
  ptx::Operand parse_operand(std::string_view text);
  std::byte* element(const sim::Slot& slot, int lane) {
    return regs_.data() + slot.offset + static_cast<size_t>(lane) * slot.bytes;
  }
  void set_bit(const sim::Slot& slot, int lane, bool value) {
    set_word(slot, (word(slot) & ~(1u << lane)) | (value ? 1u << lane : 0u));
  }

  ptx::Instruction instruction_;
  sim::Inst inst_;
  std::vector<std::pair<std::string, sim::Slot>> registers_;
  std::vector<std::byte> regs_;
};

// --- operands to try -----------------------------------------------------------------------------

// Edge values of a type and, behind them, `random` random bit patterns; the same in every run.
template <class T>
std::vector<T> interesting(int random);

template <>
std::vector<bool> interesting<bool>(int random);
extern template std::vector<uint8_t> interesting<uint8_t>(int);
extern template std::vector<uint16_t> interesting<uint16_t>(int);
extern template std::vector<uint32_t> interesting<uint32_t>(int);
extern template std::vector<uint64_t> interesting<uint64_t>(int);
extern template std::vector<int8_t> interesting<int8_t>(int);
extern template std::vector<int16_t> interesting<int16_t>(int);
extern template std::vector<int32_t> interesting<int32_t>(int);
extern template std::vector<int64_t> interesting<int64_t>(int);
extern template std::vector<float> interesting<float>(int);
extern template std::vector<double> interesting<double>(int);

// 16-bit patterns of which many are edge values of f16 or bf16.
struct HalfBits {
  uint16_t bits;
};
struct HalfPairBits {
  HalfBits lo, hi;
};
template <>
std::vector<HalfBits> interesting<HalfBits>(int random);
template <>
std::vector<HalfPairBits> interesting<HalfPairBits>(int random);

// --- the check of a row --------------------------------------------------------------------------

template <class T>
std::string show(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    char text[64];
    std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * sizeof value),
                  static_cast<unsigned long long>(bits));
    std::string shown = text;
    if constexpr (std::is_arithmetic_v<T>) shown += " (" + std::to_string(value) + ")";
    return shown;
  }
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

void mark_covered(const ptx::Instruction& in);

// Runs the line on many combinations of S... and demands that the first destination be ref(S...),
// or that accept(got, want) hold, in every active lane of full, partial and single-lane masks, that
// inactive lanes keep their value, and that a destination may be one of the sources.
template <class D, class... S, class Ref, class Accept>
void check_line(const std::string& text, Ref ref, Accept accept) {
  constexpr size_t arity = sizeof...(S);
  constexpr int batches = arity == 1 ? 16 : arity == 2 ? 96 : 128;
  Line line(text);
  mark_covered(line.instruction());
  std::mt19937 random(12345);
  const std::tuple<std::vector<S>...> values{interesting<S>(arity == 1 ? 300 : 30)...};
  size_t counter = 0;
  const sim::Slot original_dst = line.inst().dst[0];

  for (int batch = 0; batch < batches; ++batch) {
    std::array<std::tuple<S...>, sim::kWarpSize> operands;
    const auto draw = [&](auto& v) {
      // One operand: each value in turn; several: random pairs, the edges more often.
      const size_t n = v.size();
      const size_t at = arity == 1 ? counter % n : random() % n;
      return static_cast<typename std::decay_t<decltype(v)>::value_type>(v[at]);
    };
    for (auto& lane_operands : operands) {
      lane_operands = std::apply([&](auto&... v) { return std::tuple<S...>{draw(v)...}; }, values);
      ++counter;
    }
    const uint32_t partial = random() | 1u << batch % 32, single = 1u << batch % 32;
    for (const uint32_t mask : {sim::kFullMask, partial & ~(1u << (batch + 7) % 32), single}) {
      if (mask == 0) continue;
      for (const bool aliased : {false, true}) {
        sim::Slot& dst = line.inst().dst[0];
        dst = original_dst;
        if (aliased) {
          if (line.inst().src[0].bytes != dst.bytes || dst.is_predicate) continue;
          dst = line.inst().src[0];
        }
        for (int lane = 0; lane < sim::kWarpSize; ++lane) {
          if (!aliased) {
            if constexpr (std::is_same_v<D, bool>) {
              line.set(dst, lane, lane % 3 == 0);
            } else {
              line.set(dst, lane, D{}, 0x5a);
            }
          }
          size_t i = 0;
          std::apply([&](auto... v) { (line.set(line.inst().src[i++], lane, v), ...); },
                     operands[static_cast<size_t>(lane)]);
        }
        std::array<D, sim::kWarpSize> before;
        for (int lane = 0; lane < sim::kWarpSize; ++lane) {
          before[static_cast<size_t>(lane)] = line.template get<D>(dst, lane);
        }
        line.run(mask);
        for (int lane = 0; lane < sim::kWarpSize; ++lane) {
          const auto& s = operands[static_cast<size_t>(lane)];
          const D got = line.template get<D>(dst, lane);
          const bool active = (mask >> lane & 1) != 0;
          const D want =
              active ? static_cast<D>(std::apply(ref, s)) : before[static_cast<size_t>(lane)];
          if (active ? accept(got, want) : same_bits(got, want)) continue;
          std::string shown;
          std::apply([&](auto... v) { ((shown += " " + show(v)), ...); }, s);
          FAIL_CHECK(text, active ? "" : " touched an inactive lane", aliased ? " (aliased)" : "",
                     " of", shown, ": got ", show(got), ", want ", show(want));
          return;
        }
      }
    }
  }
  CHECK(counter > 0);
}

template <class D, class... S, class Ref>
void check_line(const std::string& text, Ref ref) {
  check_line<D, S...>(text, ref, [](D got, D want) { return same_bits(got, want); });
}

// The line is refused with a message that names the opcode.
void check_refused(const std::string& text);

}  // namespace lab32::tests
