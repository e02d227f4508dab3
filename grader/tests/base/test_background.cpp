#include <doctest/doctest.h>

#include <atomic>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/work.h"

namespace lab32::tests {

TEST_CASE("base: work in the background is done when it has been waited for, by whomever") {
  std::atomic<int> runs = 0;
  std::thread::id where;
  Background work([&] {
    where = std::this_thread::get_id();
    ++runs;
  });
  REQUIRE(work.valid());
  Background moved = std::move(work);
  CHECK_FALSE(work.valid());
  moved.wait();
  moved.get();
  CHECK(runs == 1);
  CHECK(where != std::this_thread::get_id());
  // No work, no wait.
  CHECK_FALSE(Background().valid());
}

TEST_CASE("base: work in the background is waited for by who forgets it") {
  std::atomic<bool> go = false, done = false;
  {
    const Background work([&] {
      while (!go) std::this_thread::yield();
      done = true;
    });
    go = true;
  }
  CHECK(done);
}

TEST_CASE("base: work for when it is waited for is done then, or never") {
  int runs = 0;
  std::thread::id where;
  {
    const Background never([&] { ++runs; }, Background::When::when_waited_for);
  }
  CHECK(runs == 0);
  Background work(
      [&] {
        where = std::this_thread::get_id();
        ++runs;
      },
      Background::When::when_waited_for);
  CHECK(runs == 0);
  work.wait();
  work.get();
  CHECK(runs == 1);
  CHECK(where == std::this_thread::get_id());
}

TEST_CASE("base: what work in the background throws, get() throws, each time; wait() does not") {
  for (const auto when : {Background::When::now, Background::When::when_waited_for}) {
    Background work([] { throw std::runtime_error("thrown in the background"); }, when);
    CHECK_NOTHROW(work.wait());
    for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH(work.get(), "thrown in the background");
  }
}

}  // namespace lab32::tests
