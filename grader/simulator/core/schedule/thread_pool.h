// A pool of host threads for the rounds of launches. Starting threads for each round costs as much
// as a small launch. Callers use run_side_by_side(), which falls back to new threads if the pool is
// busy.
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

  // Never destroyed, because its threads may still wait when the process ends.
  static ThreadPool& process_wide() {
    static auto* const pool = new ThreadPool;
    return *pool;
  }

  // Runs job(0) to job(n - 1). False: another thread is using the pool, or this process is a fork
  // and has no pool threads.
  bool run(unsigned n, const Job& job) {
    const std::unique_lock<std::mutex> alone(busy_, std::try_to_lock);
    if (!alone.owns_lock() || getpid() != process_) return false;
    std::unique_lock<std::mutex> lock(mutex_);
    try {
      for (; threads_ + 1 < n; ++threads_) std::thread([this] { run_pool_thread(); }).detach();
    } catch (const std::system_error&) {
      // The system cannot start more threads, so the existing ones run all jobs.
    }
    job_ = &job;
    next_ = 0;
    wanted_ = unfinished_ = n;
    ++calls_;
    work_.notify_all();
    run_remaining_jobs(lock);
    lock.unlock();
    poll_briefly([this] { return unfinished_ == 0; });
    lock.lock();
    done_.wait(lock, [this] { return unfinished_ == 0; });
    wanted_ = 0;
    return true;
  }

 private:
  // Rounds of a launch follow each other closely, and waking a thread takes longer than the pause
  // between them. A waiting thread therefore polls for this time first, unless another thread has
  // work for its core.
  static constexpr auto kPollTime = std::chrono::microseconds(100);

  template <class Ready>
  static void poll_briefly(Ready ready) {
    using Clock = std::chrono::steady_clock;
    for (const Clock::time_point end = Clock::now() + kPollTime; !ready() && Clock::now() < end;)
      std::this_thread::yield();
  }

  void run_pool_thread() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const unsigned seen = calls_;
      lock.unlock();
      poll_briefly([&] { return calls_ != seen; });
      lock.lock();
      work_.wait(lock, [this] { return next_ < wanted_; });
      run_remaining_jobs(lock);
    }
  }

  void run_remaining_jobs(std::unique_lock<std::mutex>& lock) {
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
  // Also read without the mutex.
  std::atomic<unsigned> calls_{0}, unfinished_{0};
};

// Runs job(0) to job(n - 1) in parallel, one of them on this thread, and returns when all have
// ended. The jobs must not throw.
inline void run_side_by_side(unsigned n, const ThreadPool::Job& job) {
  if (n == 1) return job(0);
  if (ThreadPool::process_wide().run(n, job)) return;
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < n; ++i) helpers.emplace_back(job, i);
  job(0);
  for (std::thread& t : helpers) t.join();
}

}  // namespace lab32::sim
