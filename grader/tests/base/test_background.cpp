#include <doctest/doctest.h>

#include <atomic>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/work.h"

namespace lab32::tests {

TEST_CASE("base: background work is done when any thread has waited for it") {
  std::atomic<int> runs = 0;
  std::thread::id where;
  BackgroundWork work([&] {
    where = std::this_thread::get_id();
    ++runs;
  });
  REQUIRE(work.valid());
  BackgroundWork moved = std::move(work);
  CHECK_FALSE(work.valid());
  moved.wait();
  moved.wait_and_rethrow();
  CHECK(runs == 1);
  CHECK(where != std::this_thread::get_id());
  // Without work there is nothing to wait for.
  CHECK_FALSE(BackgroundWork().valid());
}

TEST_CASE("base: the destructor waits for background work") {
  std::atomic<bool> go = false, done = false;
  {
    const BackgroundWork work([&] {
      while (!go) std::this_thread::yield();
      done = true;
    });
    go = true;
  }
  CHECK(done);
}

TEST_CASE("base: deferred background work runs when it is waited for, or never") {
  int runs = 0;
  std::thread::id where;
  {
    const BackgroundWork never([&] { ++runs; }, BackgroundWork::When::when_waited_for);
  }
  CHECK(runs == 0);
  BackgroundWork work(
      [&] {
        where = std::this_thread::get_id();
        ++runs;
      },
      BackgroundWork::When::when_waited_for);
  CHECK(runs == 0);
  work.wait();
  work.wait_and_rethrow();
  CHECK(runs == 1);
  CHECK(where == std::this_thread::get_id());
}

TEST_CASE(
    "base: wait_and_rethrow() rethrows an exception of background work each time, and wait() does "
    "not") {
  for (const auto when : {BackgroundWork::When::now, BackgroundWork::When::when_waited_for}) {
    BackgroundWork work([] { throw std::runtime_error("thrown in the background"); }, when);
    CHECK_NOTHROW(work.wait());
    for (int i = 0; i < 2; ++i)
      CHECK_THROWS_WITH(work.wait_and_rethrow(), "thrown in the background");
  }
}

}  // namespace lab32::tests
