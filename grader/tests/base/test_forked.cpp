// run_forked(): the answer of the child, its exceptions, its death and its time limit.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "base/error.h"
#include "base/work.h"

using namespace lab32;

namespace {

std::vector<std::byte> bytes(size_t count) {
  std::vector<std::byte> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(i * 7);
  return result;
}

}  // namespace

TEST_SUITE("base forked") {
  TEST_CASE("base: an answer of any length arrives complete") {
    for (size_t count : {size_t{0}, size_t{1}, size_t{65'536}, size_t{30'000'001}}) {
      const ForkResult forked = run_forked([&] { return bytes(count); }, 60);
      CHECK(forked.end == ForkResult::End::done);
      CHECK(forked.answer == bytes(count));
    }
  }

  TEST_CASE("base: changes to memory in the child do not reach the parent") {
    int here = 1;
    run_forked(
        [&] {
          here = 2;
          return bytes(1);
        },
        60);
    CHECK(here == 1);
  }

  TEST_CASE("base: the message of an exception in the child arrives") {
    const ForkResult forked =
        run_forked([]() -> std::vector<std::byte> { throw Error("no such card"); }, 60);
    CHECK(forked.end == ForkResult::End::died);
    CHECK(forked.how == "no such card");
  }

  TEST_CASE("base: a child that dies is distinguished from one that answers") {
    const ForkResult killed = run_forked(
        []() -> std::vector<std::byte> {
          raise(SIGKILL);
          return {};
        },
        60);
    CHECK(killed.end == ForkResult::End::died);
    CHECK(killed.how == "killed by signal 9 (Killed)");
    const ForkResult left = run_forked([]() -> std::vector<std::byte> { _exit(0); }, 60);
    CHECK(left.end == ForkResult::End::died);
    CHECK(left.how == "ended without an answer");
  }

  TEST_CASE("base: a child that hangs is killed") {
    const auto start = std::chrono::steady_clock::now();
    const ForkResult forked = run_forked(
        []() -> std::vector<std::byte> {
          while (true) pause();
        },
        0.2);
    CHECK(forked.end == ForkResult::End::timed_out);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  }
}
