// The initial contents of the buffers of launches.inc, as formulas, so that a GPU and the simulator
// have equal inputs. The values are small enough for any sum; a third of the ints is not positive.
#pragma once

namespace inputs {

constexpr int kBytes = 16 << 20;  // size of each buffer
constexpr int n = 1 << 14;        // whole blocks
constexpr int odd = n - 77;       // the last warp is partly beyond the end

inline unsigned hash(unsigned i) { return (i * 2654435761u) >> 16; }
inline unsigned char byte_at(unsigned i) { return static_cast<unsigned char>(hash(i) & 255); }
inline short short_at(unsigned i) { return static_cast<short>(hash(i) % 100); }
inline int int_at(unsigned i) { return static_cast<int>(hash(i) % 96) - 32; }
inline float float_at(unsigned i) { return static_cast<float>(hash(i) % 64); }
inline double double_at(unsigned i) { return hash(i) % 64; }
inline unsigned long long long_at(unsigned i) { return hash(i); }
inline int zero_at(unsigned) { return 0; }

}  // namespace inputs
