// Small programs for the tests of the simulator: PTX text in, results, traps and issue counts out.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "device/device.h"
#include "observers/counters.h"
#include "sim/launch.h"

namespace lab32::tests {

// --- one kernel, straight on sim::run_grid -------------------------------------------------------

// What stands around the body that a test writes:
//   %in, %out      the two arrays (u64); %n their length argument (u32)
//   %t, %lane      index in the block, in the warp; %g index in the grid (u32)
//   %src, %dst     addresses of this thread's word of `in` and of `out`
//   %p0–15 %h0–31 (16 bits) %r0–63 %f0–31 %d0–63 (64 bits) %e0–15 (f64) %q0–3 (128 bits)
// The body falls off its end. A comment `//@name` names the instruction before it on its line.
struct Setup {
  sim::Extent grid{}, block{32, 1, 1};
  std::vector<uint32_t> in;  // what `in` holds; default: word i is i
  uint64_t in_bytes = 0;     // 0: all of `in`, which is at least a word a thread
  uint64_t out_words = 0;    // 0: one a thread
  uint32_t n = 0;            // 0: all threads
  uint32_t dynamic_shared = 0;
  uint64_t budget = 2'000'000;
  unsigned threads = 1;     // host threads
  bool hazards = false;     // look for races and the like
  bool keep_going = false;  // findings instead of traps
  bool trap_uninitialised = true;
  uint64_t resident_blocks = 1;
  std::string functions = "";  // PTX before the kernel
  bool out_written = false;    // `out` starts as zeros, not as poison that nothing has written
};

struct Outcome {
  std::optional<sim::Trap> trap, bad_access;
  std::string trapped_at;  // the name of the instruction that trapped
  std::vector<uint32_t> out;
  std::vector<bool> written;  // has word i of `out` been written?
  std::string output;         // of printf
  uint64_t longest_warp = 0;
  observe::Counters counters;
  std::vector<observe::Finding> findings;
  struct Count {
    uint64_t warps, lanes;
    bool operator==(const Count& o) const { return warps == o.warps && lanes == o.lanes; }
  };
  // How often the instruction of that name was issued.
  Count at(const std::string& name) const;

  std::shared_ptr<struct Parsed> parsed;
  std::vector<sim::IssueTally> tally;
};

inline std::ostream& operator<<(std::ostream& out, const Outcome::Count& c) {
  return out << c.warps << " warps, " << c.lanes << " lanes";
}

Outcome run(const std::string& body, const Setup& setup = {});
// The same, for a kernel that must not trap.
Outcome finish(const std::string& body, const Setup& setup = {});
// What a lane by lane model says `out` must hold: want[i] = f(i).
template <class F>
std::vector<uint32_t> each(size_t n, F f) {
  std::vector<uint32_t> want(n);
  for (size_t i = 0; i < n; ++i) want[i] = static_cast<uint32_t>(f(static_cast<uint32_t>(i)));
  return want;
}

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// --- whole modules, as a Device ------------------------------------------------------------------

struct Simulated {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Module> module;

  explicit Simulated(const std::string& ptx);

  template <class T>
  device::Buffer upload(const std::vector<T>& data, const std::string& name) {
    const device::Buffer buffer = device->allocate(data.size() * sizeof(T), name);
    device->upload(buffer, data.data(), buffer.bytes);
    return buffer;
  }
  template <class T>
  std::vector<T> download(device::Buffer buffer) {
    std::vector<T> data(buffer.bytes / sizeof(T));
    device->download(data.data(), buffer, buffer.bytes);
    return data;
  }
  device::Kernel& kernel(const std::string& name);
  device::Run launch(const std::string& name, const device::Shape& shape,
                     const std::vector<device::Arg>& args,
                     const device::LaunchOptions& options = {}) {
    return device->launch(kernel(name), shape, args, options);
  }
};

// ".version … .target …" and the text.
std::string with_header(const std::string& text);
// sim_kernels.cu, compiled once a test run. Its line of that marker (`//@name`), for positions.
Simulated& compiled_kernels();
int line_of_kernels(const std::string& marker);

}  // namespace lab32::tests
