// Host threads that wait for the next launch: to start them for each round of each launch costs as
// much as a small launch does.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lab32::sim {

class ThreadPool {
 public:
  using Job = std::function<void(unsigned)>;

  // Never ends: its threads may still wait when the process does.
  static ThreadPool& of_process() {
    static auto* const pool = new ThreadPool;
    return *pool;
  }

  // False: it is at work for another thread, or this process is a fork, which has no threads.
  bool run(unsigned n, const Job& job) {
    const std::unique_lock<std::mutex> alone(busy_, std::try_to_lock);
    if (!alone.owns_lock() || getpid() != process_) return false;
    std::unique_lock<std::mutex> lock(mutex_);
    try {
      for (; threads_ + 1 < n; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      // Those that there are do it all.
    }
    job_ = &job;
    next_ = 0;
    wanted_ = unfinished_ = n;
    ++calls_;
    work_.notify_all();
    take_jobs(lock);
    lock.unlock();
    poll_briefly([this] { return unfinished_ == 0; });
    lock.lock();
    done_.wait(lock, [this] { return unfinished_ == 0; });
    wanted_ = 0;
    return true;
  }

 private:
  // Rounds of a launch follow each other closely, and waking a thread takes longer than the time
  // between two rounds. So a thread that waits polls for this long first, as long as no other
  // thread has work for its core.
  static constexpr auto kPollTime = std::chrono::microseconds(100);

  template <class Ready>
  static void poll_briefly(Ready ready) {
    using Clock = std::chrono::steady_clock;
    for (const Clock::time_point end = Clock::now() + kPollTime; !ready() && Clock::now() < end;)
      std::this_thread::yield();
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const unsigned seen = calls_;
      lock.unlock();
      poll_briefly([&] { return calls_ != seen; });
      lock.lock();
      work_.wait(lock, [this] { return next_ < wanted_; });
      take_jobs(lock);
    }
  }

  void take_jobs(std::unique_lock<std::mutex>& lock) {
    while (next_ < wanted_) {
      const unsigned mine = next_++;
      const Job& job = *job_;
      lock.unlock();
      job(mine);
      lock.lock();
      if (--unfinished_ == 0) done_.notify_one();
    }
  }

  const pid_t process_ = getpid();
  std::mutex busy_, mutex_;
  std::condition_variable work_, done_;
  const Job* job_ = nullptr;
  unsigned threads_ = 0, next_ = 0, wanted_ = 0;
  // These are looked at without the mutex, too.
  std::atomic<unsigned> calls_{0}, unfinished_{0};
};

// job(0) to job(n - 1), side by side, one of them here; returns when all have. They must not throw.
inline void run_side_by_side(unsigned n, const ThreadPool::Job& job) {
  if (n == 1) return job(0);
  if (ThreadPool::of_process().run(n, job)) return;
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < n; ++i) helpers.emplace_back(job, i);
  job(0);
  for (std::thread& t : helpers) t.join();
}

}  // namespace lab32::sim
