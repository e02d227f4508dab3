#include "base/work.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "base/child.h"
#include "base/error.h"

namespace lab32 {

// ---- on another thread -----------------------------------------------------------------------

struct Background::State {
  std::function<void()> work;  // empty once it is done
  std::exception_ptr error;
  std::thread thread;

  void run() {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    work = nullptr;
  }
  void finish() {
    if (thread.joinable())
      thread.join();
    else if (work)
      run();
  }
  ~State() {
    if (thread.joinable()) thread.join();
  }
};

Background::Background(std::function<void()> work, When when) : state_(new State) {
  state_->work = std::move(work);
  if (when == When::now) state_->thread = std::thread([state = state_.get()] { state->run(); });
}
Background::Background() = default;
Background::~Background() = default;
Background::Background(Background&&) noexcept = default;
Background& Background::operator=(Background&&) noexcept = default;

void Background::wait() { state_->finish(); }

void Background::get() {
  wait();
  if (state_->error) std::rethrow_exception(state_->error);
}

// ---- in a child process ----------------------------------------------------------------------

namespace {

using Clock = std::chrono::steady_clock;

// The child writes this header, then `size` bytes. An answer that was cut off counts as none.
struct AnswerHeader {
  uint64_t failed = 0;  // the bytes are an exception's words
  uint64_t size = 0;
};

void write_all(int fd, const void* data, size_t size) {
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
    const AnswerHeader head{0, answer.size()};
    write_all(fd, &head, sizeof head);
    write_all(fd, answer.data(), answer.size());
  } catch (const std::exception& e) {
    const AnswerHeader head{1, std::strlen(e.what())};
    write_all(fd, &head, sizeof head);
    write_all(fd, e.what(), head.size);
  }
  // Not exit(): the buffers and static objects are copies, and only the parent may flush and
  // destroy them.
  _exit(0);
}

}  // namespace

ForkResult run_forked(const std::function<std::vector<std::byte>()>& work, double seconds) {
  Pipe pipe;
  std::fflush(nullptr);
  const auto start = Clock::now();
  Child child("a child process", Child::Group::ours, [&] {
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
  const int status = child.wait();
  if (forked.end == ForkResult::End::timed_out) return forked;
  AnswerHeader head;
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
    forked.how = killed_by(WTERMSIG(status));
  else
    forked.how = "ended without an answer";
  return forked;
}

// ---- memory that processes share -------------------------------------------------------------

SharedRegion::SharedRegion(size_t most) : size_(most) {
  void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw MachineError(std::string("no memory that processes share: ") + std::strerror(errno));
  data_ = static_cast<std::byte*>(at);
}

SharedRegion::~SharedRegion() { munmap(data_, size_); }

}  // namespace lab32
