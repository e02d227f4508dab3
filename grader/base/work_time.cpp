#include "base/work_time.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>

namespace lab32 {
namespace {

constexpr double kMost = 16;
// A measurement is valid for this many seconds.
constexpr double kFresh = 0.2;
// Seconds that the two parts of the work take on a quiet machine, and the factor that is within the
// noise.
constexpr double kThinking = 0.0100, kMemory = 0.0020, kNoise = 1.3;
constexpr size_t kFreshBytes = 4 << 20, kTable = 1 << 16, kSteps = 1 << 20;

std::atomic<double> slowest{1};
std::atomic<double> pretended{0};

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Work like an interpreter's: loads whose address is known late, and jumps that cannot be
// predicted.
double run_interpreter_like_work() {
  static uint32_t table[kTable];
  const double begin = thread_seconds();
  uint32_t x = 12345;
  for (size_t i = 0; i < kSteps; ++i) {
    x = x * 1664525 + 1013904223;
    uint32_t& entry = table[x >> 16];
    if ((entry ^ x) & 0x40)
      entry += x;
    else
      entry ^= x >> 3;
    x ^= entry;
  }
  table[x >> 16] = x;
  return thread_seconds() - begin;
}

// Touches new pages: a virtual machine may have to request them from its host.
double touch_pages() {
  const double begin = thread_seconds();
  void* fresh =
      mmap(nullptr, kFreshBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return 0;
  for (size_t at = 0; at < kFreshBytes; at += 4096) static_cast<volatile char*>(fresh)[at] = 1;
  munmap(fresh, kFreshBytes);
  return thread_seconds() - begin;
}

}  // namespace

double slowness() { return pretended > 0 ? pretended : slowest; }

double measure_slowness() {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  static WorkTimer since;
  static bool looked = false;
  if (looked && since.wall_seconds() < kFresh) return slowness();
  looked = true;
  since = WorkTimer();
  const double found = std::min(
      kMost, (run_interpreter_like_work() + touch_pages()) / (kNoise * (kThinking + kMemory)));
  slowest = std::max<double>(slowest, found);
  return slowness();
}

AssumedSlowness::AssumedSlowness(double slowness) : before_(pretended) { pretended = slowness; }
AssumedSlowness::~AssumedSlowness() { pretended = before_; }

}  // namespace lab32
