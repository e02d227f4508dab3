// Lanes as bit masks: the first lane of each word, and the lanes that share a bank. Banks are as
// wide as an access, a recursive template unrolls the phases, and a lambda decides on merging.
__device__ __forceinline__ unsigned first_with_word(const unsigned* address, unsigned unit,
                                                    unsigned lanes) {
  unsigned first = lanes;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    int lane = __ffs(rest) - 1;
    for (unsigned later = rest & (rest - 1); later != 0; later &= later - 1) {
      int other = __ffs(later) - 1;
      if (address[other] / unit == address[lane] / unit) first &= ~(1u << other);
    }
  }
  return first;
}

__device__ int fullest_bank(const unsigned* address, unsigned unit, unsigned lanes) {
  unsigned first = first_with_word(address, unit, lanes);
  int most = 0;
  for (unsigned rest = first; rest != 0; rest &= rest - 1) {
    unsigned bank = address[__ffs(rest) - 1] / unit % (128 / unit);
    int words = 0;
    for (unsigned others = first; others != 0; others &= others - 1)
      words += address[__ffs(others) - 1] / unit % (128 / unit) == bank;
    most = words > most ? words : most;
  }
  return most;
}

template <int kLanes, int kFirst = 0>
__device__ int in_turns(const unsigned* address, unsigned unit, unsigned active) {
  if constexpr (kFirst == 32) {
    return 0;
  } else {
    constexpr unsigned kPhase = unsigned(((1ull << kLanes) - 1) << kFirst);
    return fullest_bank(address, unit, active & kPhase) +
           in_turns<kLanes, kFirst + kLanes>(address, unit, active);
  }
}

__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) {
  if (bytes == 16) return in_turns<8>(address, 16, active);
  if (bytes == 8) return in_turns<16>(address, 8, active);
  return in_turns<32>(address, 4, active);
}

__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) {
  const auto agree = [=](int distance) {
    bool all = true;
    for (int lane = 0; lane < 32; ++lane) {
      unsigned both = 1u << lane | 1u << (lane ^ distance);
      all &= (active & both) != both || address[lane] == address[lane ^ distance];
    }
    return all;
  };
  if (bytes < 8 || !(agree(1) || agree(2))) return wavefronts(address, bytes, active);
  return bytes == 8 ? in_turns<32>(address, 8, active) : in_turns<16>(address, 16, active);
}
