#include "simulator/observers/traffic/banks.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "simulator/observers/lanes.h"

namespace lab32::counters {
namespace {

// The distinct words that one phase accesses, by bank.
class BankWords {
 public:
  void add(uint32_t word) {
    const uint32_t bank = word % kBanks;
    uint32_t* words = word_[bank];
    const uint32_t n = count_[bank];
    for (uint32_t i = 0; i < n; ++i) {
      if (words[i] == word) return;
    }
    words[n] = word;
    count_[bank] = static_cast<uint8_t>(n + 1);
    fullest_ = std::max(fullest_, n + 1);
  }
  uint32_t fullest() const { return fullest_; }
  uint32_t words_in(uint32_t bank) const { return count_[bank]; }

 private:
  uint32_t fullest_ = 0;
  uint8_t count_[kBanks] = {};
  uint32_t word_[kBanks][kWarpSize];  // a merged phase has 64 words of 16-byte lanes, 2 per bank
};

BankWords bank_words_of_phase(const uint64_t* offset, uint32_t bytes, uint32_t mask) {
  BankWords banks;
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t at = offset[__builtin_ctz(mask)];
    const uint32_t first = static_cast<uint32_t>(at / kBankBytes);
    const uint32_t last = static_cast<uint32_t>((at + bytes - 1) / kBankBytes);
    for (uint32_t word = first; word <= last; ++word) banks.add(word);
  }
  return banks;
}

uint32_t phase_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask) {
  // If all lanes have the same address, its words lie in different banks: one wavefront.
  const uint64_t first = offset[__builtin_ctz(mask)];
  uint64_t others = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    others |= offset[__builtin_ctz(left)] ^ first;
  if (others == 0) return 1;
  return bank_words_of_phase(offset, bytes, mask).fullest();
}

uint32_t lanes_per_phase(uint32_t bytes) {
  return bytes <= kBankBytes ? kWarpSize : kBanks * kBankBytes / bytes;
}

uint32_t most_lanes_in_a_bank(const uint64_t* offset, uint32_t bytes, uint32_t mask) {
  uint8_t lanes[kBanks] = {};
  uint8_t most = 0;
  // 8-byte lanes occupy two banks, of which the first is counted
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t at = offset[__builtin_ctz(mask)] / std::max(bytes, kBankBytes);
    const uint32_t bank = at * std::max(bytes, kBankBytes) / kBankBytes % kBanks;
    most = std::max(most, ++lanes[bank]);
  }
  return most;
}

// The number of 128-byte rows that the active lanes' bytes fill.
uint32_t bank_rows_filled(uint32_t bytes, uint32_t mask) {
  const uint32_t row = kBanks * kBankBytes;
  return (lane_count(mask) * bytes + row - 1) / row;
}

uint32_t lane_range_mask(uint32_t first, uint32_t width) {
  return (width == kWarpSize ? kAllLanes : (uint32_t{1} << width) - 1) << first;
}

// True if, for every active lane l, lane l ^ distance is inactive or accesses the same address.
bool paired_lanes_agree(const uint64_t* offset, uint32_t mask, uint32_t distance) {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left)), other = lane ^ distance;
    if ((mask >> other & 1) != 0 && offset[lane] != offset[other]) return false;
  }
  return true;
}

// The number of lanes that form one phase of the access.
uint32_t lanes_per_merged_phase(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                                bool may_merge_phases) {
  const uint32_t width = lanes_per_phase(bytes);
  const bool merged = may_merge_phases && width < kWarpSize &&
                      (paired_lanes_agree(offset, mask, 1) || paired_lanes_agree(offset, mask, 2));
  return merged ? 2 * width : width;
}

Wavefronts wavefronts_by_phases(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                                uint32_t width) {
  Wavefronts w;
  for (uint32_t first = 0; first < kWarpSize; first += width) {
    const uint32_t lanes = mask & lane_range_mask(first, width);
    if (lanes == 0) continue;
    w.actual += phase_wavefronts(offset, bytes, lanes);
    ++w.ideal;
  }
  return w;
}

// For a full warp whose lane l accesses offset[0] + l * stride, where the stride is a multiple of
// `bytes` and not 0. With the stride in elements and `width` lanes per phase, gcd(stride, width)
// lanes of a phase share each bank that it uses, and no two lanes share a word.
Wavefronts affine_wavefronts(int64_t stride, uint32_t bytes) {
  const uint32_t width = lanes_per_phase(bytes), phases = kWarpSize / width;
  const uint32_t elements = static_cast<uint32_t>(std::llabs(stride)) / bytes;
  return {phases * std::gcd(elements % width, width), phases};
}

// Lanes within one row of the banks never conflict, in any order.
bool are_within_128_bytes(const uint64_t* offset, uint32_t mask) {
  uint64_t low = ~uint64_t{0}, high = 0;
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t word = offset[__builtin_ctz(mask)] / kBankBytes;
    low = std::min(low, word);
    high = std::max(high, word);
  }
  return high - low < kBanks;
}

// Lanes `elsewhere` access the memory of another block of the cluster. They take no wavefront here,
// but they count in the test whether phases merge (H100: data/measured/moves).
Wavefronts load_or_store_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                                    bool may_merge_phases, uint32_t elsewhere = 0) {
  if (mask == 0) return {};
  int64_t stride;
  if (mask == kAllLanes && bytes >= kBankBytes && is_affine(offset, &stride)) {
    if (stride != 0) return affine_wavefronts(stride, bytes);
    const uint32_t width = lanes_per_phase(bytes);
    const uint32_t phases = kWarpSize / (may_merge_phases && width < kWarpSize ? 2 * width : width);
    return {phases, phases};
  }
  if (bytes <= kBankBytes && are_within_128_bytes(offset, mask)) return {1, 1};
  Wavefronts w = wavefronts_by_phases(
      offset, bytes, mask,
      lanes_per_merged_phase(offset, bytes, mask | elsewhere, may_merge_phases));
  if (bytes >= 8) w.ideal = std::min(w.ideal, bank_rows_filled(bytes, mask));
  return w;
}

}  // namespace

Wavefronts load_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                           uint32_t elsewhere) {
  return load_or_store_wavefronts(offset, bytes, mask, true, elsewhere);
}

Wavefronts store_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask) {
  return load_or_store_wavefronts(offset, bytes, mask, false);
}

Wavefronts atomic_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                             sim::SharedAtomicForm form) {
  if (mask == 0) return {};
  if (form == sim::SharedAtomicForm::increment) return {phase_wavefronts(offset, bytes, mask), 1};
  const uint32_t operands = form == sim::SharedAtomicForm::plain ? 1 : 2;
  const uint32_t width = lanes_per_phase(bytes);
  Wavefronts w;
  for (uint32_t first = 0; first < kWarpSize; first += width) {
    const uint32_t lanes = mask & lane_range_mask(first, width);
    if (lanes == 0) continue;
    w.actual +=
        operands *
        (form == sim::SharedAtomicForm::spin_swap ? 1 : most_lanes_in_a_bank(offset, bytes, lanes));
    ++w.ideal;
  }
  w.ideal = operands * std::min(w.ideal, bank_rows_filled(bytes, mask));
  return w;
}

Wavefronts matrix_wavefronts(const uint64_t* offset, uint32_t mask) {
  return wavefronts_by_phases(offset, 16, mask, 8);
}

Wavefronts async_copy_wavefronts(const uint64_t* from, const uint64_t* to, uint32_t bytes,
                                 uint32_t mask, bool bypass_l1) {
  Wavefronts w = atomic_wavefronts(to, bytes, mask, sim::SharedAtomicForm::plain);
  if (!bypass_l1) return w;
  constexpr uint64_t kRow = kBanks * kBankBytes, kSector = 32;
  // If several lanes write to one address, only the first lane's bytes count.
  uint32_t writing = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
    bool first = true;
    for (uint32_t before = writing; before != 0 && first; before &= before - 1)
      first = to[__builtin_ctz(before)] != to[lane];
    if (first) writing |= 1u << lane;
  }
  HashSetOfUpTo64Keys wavefronts;
  for (uint32_t left = writing; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
    // Set if another lane copies the other half of this sector, from the same source sector.
    bool whole = false;
    for (uint32_t other = writing; other != 0 && !whole; other &= other - 1) {
      const uint32_t l = static_cast<uint32_t>(__builtin_ctz(other));
      whole = l != lane && to[l] / kSector == to[lane] / kSector &&
              from[l] / kSector == from[lane] / kSector &&
              (from[l] ^ to[l]) % kSector == (from[lane] ^ to[lane]) % kSector;
    }
    const uint64_t part = whole ? 2 : to[lane] % kSector / 16;
    const uint64_t exchange = (from[lane] ^ to[lane]) % kRow / 16;
    wavefronts.add((from[lane] / kRow << 16 | to[lane] / kRow) << 5 | exchange << 2 | part);
    w.estimated |= !whole;
  }
  w.actual = wavefronts.size();
  w.ideal = bank_rows_filled(bytes, writing);
  return w;
}

std::array<uint32_t, kBanks> bank_conflict_degrees(const uint64_t* offset, uint32_t bytes,
                                                   uint32_t mask, sim::AccessKind kind,
                                                   bool matrix) {
  std::array<uint32_t, kBanks> degrees{};
  const bool atomic = kind == sim::AccessKind::red || kind == sim::AccessKind::atom;
  const uint32_t width =
      matrix ? 8 : lanes_per_merged_phase(offset, bytes, mask, kind == sim::AccessKind::load);
  for (uint32_t first = 0; first < kWarpSize; first += width) {
    const uint32_t lanes = mask & lane_range_mask(first, width);
    std::array<uint32_t, kBanks> here{};
    if (atomic) {  // lanes never share a word
      for (uint32_t left = lanes; left != 0; left &= left - 1)
        ++here[offset[__builtin_ctz(left)] / kBankBytes % kBanks];
    } else {
      const BankWords words = bank_words_of_phase(offset, matrix ? 16 : bytes, lanes);
      for (uint32_t bank = 0; bank < kBanks; ++bank) here[bank] = words.words_in(bank);
    }
    for (uint32_t bank = 0; bank < kBanks; ++bank)
      degrees[bank] = std::max(degrees[bank], here[bank]);
  }
  return degrees;
}

Wavefronts shared_wavefronts(const sim::IssuedWarpAccess& access) {
  if (access.matrix) return matrix_wavefronts(access.address, access.mask);
  switch (access.kind) {
    case sim::AccessKind::load:
      return load_wavefronts(access.address, access.bytes, access.mask, access.remote_lanes);
    case sim::AccessKind::store:
      if (access.peer != nullptr)
        return async_copy_wavefronts(access.peer, access.address, access.bytes, access.mask,
                                     access.bypass_l1);
      return store_wavefronts(access.address, access.bytes, access.mask);
    case sim::AccessKind::red:
    case sim::AccessKind::atom:
      break;
  }
  return atomic_wavefronts(access.address, access.bytes, access.mask, access.form);
}

}  // namespace lab32::counters
