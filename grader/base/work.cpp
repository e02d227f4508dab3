#include "base/work.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/child.h"
#include "base/error.h"

namespace lab32 {

// ---- on another thread -----------------------------------------------------------------------

struct BackgroundWork::State {
  std::function<void()> work;  // empty once it is done
  std::exception_ptr error;
  std::thread thread;

  void run_work() {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    work = nullptr;
  }
  void finish_work() {
    if (thread.joinable())
      thread.join();
    else if (work)
      run_work();
  }
  ~State() {
    if (thread.joinable()) thread.join();
  }
};

BackgroundWork::BackgroundWork(std::function<void()> work, When when) : state_(new State) {
  state_->work = std::move(work);
  if (when == When::now)
    state_->thread = std::thread([state = state_.get()] { state->run_work(); });
}
BackgroundWork::BackgroundWork() = default;
BackgroundWork::~BackgroundWork() = default;
BackgroundWork::BackgroundWork(BackgroundWork&&) noexcept = default;
BackgroundWork& BackgroundWork::operator=(BackgroundWork&&) noexcept = default;

void BackgroundWork::wait() { state_->finish_work(); }

void BackgroundWork::wait_and_rethrow() {
  wait();
  if (state_->error) std::rethrow_exception(state_->error);
}

// ---- in a child process ----------------------------------------------------------------------

namespace {

using Clock = std::chrono::steady_clock;

// The child writes this header, then `size` bytes. An answer that was cut off is treated as no
// answer.
struct ChildAnswerHeader {
  uint64_t failed = 0;  // the bytes are the message of an exception
  uint64_t size = 0;
};

void write_all_or_exit(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);  // the parent has closed its end
    at += n;
    size -= static_cast<size_t>(n);
  }
}

[[noreturn]] void run_child(const std::function<std::vector<std::byte>()>& work, int fd) {
  try {
    const std::vector<std::byte> answer = work();
    const ChildAnswerHeader head{0, answer.size()};
    write_all_or_exit(fd, &head, sizeof head);
    write_all_or_exit(fd, answer.data(), answer.size());
  } catch (const std::exception& e) {
    const ChildAnswerHeader head{1, std::strlen(e.what())};
    write_all_or_exit(fd, &head, sizeof head);
    write_all_or_exit(fd, e.what(), head.size);
  }
  // _exit() and not exit(): the buffers and static objects are copies, and only the parent may
  // flush and destroy them.
  _exit(0);
}

}  // namespace

ForkResult run_forked(const std::function<std::vector<std::byte>()>& work, double seconds) {
  PipeDescriptors pipe;
  std::fflush(nullptr);
  const auto start = Clock::now();
  ChildProcess child("a child process", ChildProcess::Group::ours, [&] {
    pipe.read.close();
    run_child(work, pipe.write.get());
  });
  pipe.write.close();

  ForkResult forked;
  std::vector<std::byte> received;
  std::vector<std::byte> buffer(1 << 20);
  while (true) {
    const double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0) {
      forked.end = ForkResult::End::timed_out;
      break;
    }
    pollfd wait{pipe.read.get(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    const ssize_t n = read(pipe.read.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    received.insert(received.end(), buffer.begin(), buffer.begin() + n);
  }
  // The answer is complete, or the time is over. The exit of a driver can take seconds.
  child.kill();
  const int status = child.wait_for_raw_status();
  if (forked.end == ForkResult::End::timed_out) return forked;
  ChildAnswerHeader head;
  if (received.size() >= sizeof head) std::memcpy(&head, received.data(), sizeof head);
  const bool whole = received.size() >= sizeof head && received.size() - sizeof head == head.size;
  if (whole && !head.failed) {
    received.erase(received.begin(), received.begin() + sizeof head);
    forked.answer = std::move(received);
    return forked;
  }
  forked.end = ForkResult::End::died;
  if (whole)
    forked.how.assign(reinterpret_cast<const char*>(received.data()) + sizeof head, head.size);
  else if (WIFSIGNALED(status))
    forked.how = signal_death_text(WTERMSIG(status));
  else
    forked.how = "ended without an answer";
  return forked;
}

// ---- memory that processes share -------------------------------------------------------------

ForkSharedMemory::ForkSharedMemory(size_t most) : size_(most) {
  void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw MachineError(std::string("no memory that processes share: ") + std::strerror(errno));
  data_ = static_cast<std::byte*>(at);
}

ForkSharedMemory::~ForkSharedMemory() { munmap(data_, size_); }

// ---- time limits ----

namespace {

constexpr double kMost = 16;
// A measurement is valid for this many seconds.
constexpr double kFresh = 0.2;
// The seconds that the two parts of the work take on a quiet machine, and the factor by which they
// may vary without meaning anything.
constexpr double kThinking = 0.0100, kMemory = 0.0020, kNoise = 1.3;
constexpr size_t kFreshBytes = 4 << 20, kTable = 1 << 16, kSteps = 1 << 20;

std::atomic<double> slowest{1};
std::atomic<double> pretended{0};

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Work like an interpreter's: loads whose address is known late, and jumps that cannot be
// predicted.
double time_interpreter_like_work() {
  static uint32_t table[kTable];
  const double begin = thread_cpu_seconds();
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
  return thread_cpu_seconds() - begin;
}

// Touches new pages, for which a virtual machine may have to ask its host.
double time_page_touches() {
  const double begin = thread_cpu_seconds();
  void* fresh =
      mmap(nullptr, kFreshBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return 0;
  for (size_t at = 0; at < kFreshBytes; at += 4096) static_cast<volatile char*>(fresh)[at] = 1;
  munmap(fresh, kFreshBytes);
  return thread_cpu_seconds() - begin;
}

}  // namespace

double slowness() { return pretended > 0 ? pretended : slowest; }

double measure_machine_slowness() {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  static WorkTimer since;
  static bool looked = false;
  if (looked && since.wall_seconds() < kFresh) return slowness();
  looked = true;
  since = WorkTimer();
  const double found = std::min(kMost, (time_interpreter_like_work() + time_page_touches()) /
                                           (kNoise * (kThinking + kMemory)));
  slowest = std::max<double>(slowest, found);
  return slowness();
}

ScopedFakeMachineSlowness::ScopedFakeMachineSlowness(double slowness) : before_(pretended) {
  pretended = slowness;
}
ScopedFakeMachineSlowness::~ScopedFakeMachineSlowness() { pretended = before_; }

}  // namespace lab32
