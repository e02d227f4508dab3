#include "base/forked.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace lab32 {
namespace {

using Clock = std::chrono::steady_clock;

// The child writes this, then `size` bytes: an answer that was cut off is none.
struct Head {
  uint64_t failed = 0;  // the bytes are an exception's words
  uint64_t size = 0;
};

void write_all(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);  // nobody listens any more
    at += n;
    size -= static_cast<size_t>(n);
  }
}

[[noreturn]] void be_the_child(const std::function<std::vector<std::byte>()>& work, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const std::vector<std::byte> answer = work();
    const Head head{0, answer.size()};
    write_all(fd, &head, sizeof head);
    write_all(fd, answer.data(), answer.size());
  } catch (const std::exception& e) {
    const Head head{1, std::strlen(e.what())};
    write_all(fd, &head, sizeof head);
    write_all(fd, e.what(), head.size);
  }
  // Not exit(): the parent's buffers and static objects were copied, and are the parent's to end.
  _exit(0);
}

}  // namespace

Forked run_forked(const std::function<std::vector<std::byte>()>& work, double seconds) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    throw Error(std::string("no pipe to a child process: ") + std::strerror(errno));
  std::fflush(nullptr);
  const auto start = Clock::now();
  const pid_t pid = fork();
  if (pid < 0) {
    close(fds[0]);
    close(fds[1]);
    throw Error(std::string("no child process: ") + std::strerror(errno));
  }
  if (pid == 0) {
    close(fds[0]);
    be_the_child(work, fds[1]);
  }
  close(fds[1]);

  Forked forked;
  std::vector<std::byte> told;
  std::vector<std::byte> buffer(1 << 20);
  while (true) {
    const double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0) {
      forked.end = Forked::End::timed_out;
      break;
    }
    pollfd wait{fds[0], POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    const ssize_t n = read(fds[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    told.insert(told.end(), buffer.begin(), buffer.begin() + n);
  }
  close(fds[0]);
  kill(pid, SIGKILL);  // it has said all, or is out of time; a driver's exit can take seconds
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (forked.end == Forked::End::timed_out) return forked;
  Head head;
  if (told.size() >= sizeof head) std::memcpy(&head, told.data(), sizeof head);
  const bool whole = told.size() >= sizeof head && told.size() - sizeof head == head.size;
  if (whole && !head.failed) {
    told.erase(told.begin(), told.begin() + sizeof head);
    forked.answer = std::move(told);
    return forked;
  }
  forked.end = Forked::End::died;
  if (whole)
    forked.how.assign(reinterpret_cast<const char*>(told.data()) + sizeof head, head.size);
  else if (WIFSIGNALED(status))
    forked.how = std::string("killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
                 strsignal(WTERMSIG(status)) + ")";
  else
    forked.how = "ended without an answer";
  return forked;
}

}  // namespace lab32
