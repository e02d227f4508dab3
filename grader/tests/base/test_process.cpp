// Child processes end within their limits and leave nothing behind.
#include <dirent.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/process.h"

using namespace lab32;
using End = ProcessOutcome::End;

namespace {

ProcessCommand shell(const std::string& script) {
  ProcessCommand command;
  command.argv = {"/bin/sh", "-c", script};
  command.environment = {"PATH=/usr/bin:/bin", "GREETING=hello"};
  command.limits.wall_seconds = 20;
  return command;
}

int open_descriptors() {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  REQUIRE(directory);
  while (readdir(directory)) ++count;
  closedir(directory);
  return count;
}

bool is_alive(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  // An orphan that has ended may remain a zombie until init collects it.
  return stat >> number >> name >> state && state != "Z";
}

bool dies_soon(pid_t pid) {
  for (int i = 0; i < 300 && is_alive(pid); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !is_alive(pid);
}

}  // namespace

TEST_SUITE("process") {
  TEST_CASE(
      "base: a process gets its environment, its directory and an empty stdin, and returns streams "
      "and status") {
    ProcessCommand command = shell("cat; echo $GREETING $HOME; pwd; echo oops >&2; exit 7");
    command.directory = "/usr/lib";
    ProcessOutcome o = run_process(command);
    CHECK(o.end == End::exited);
    CHECK(o.status == 7);
    CHECK_FALSE(o.ok());
    CHECK(o.out == "hello\n/usr/lib\n");
    CHECK(o.err == "oops\n");
    CHECK(describe(o) == "exit status 7");
  }

  TEST_CASE("base: arguments are passed unchanged") {
    ProcessCommand command;
    command.argv = {"/usr/bin/printf", "%s|%s|", "$(id) 'x' \"", ""};
    CHECK(run_process(command).out == "$(id) 'x' \"||");
  }

  TEST_CASE("base: large outputs on both streams at once arrive complete") {
    ProcessOutcome o = run_process(shell(
        "head -c 3000000 /dev/zero | tr '\\0' a & head -c 3000000 /dev/zero | tr '\\0' b >&2; "
        "wait"));
    CHECK(o.ok());
    CHECK(o.out == std::string(3000000, 'a'));
    CHECK(o.err == std::string(3000000, 'b'));
  }

  TEST_CASE("base: a program that cannot be started is an error") {
    ProcessCommand command;
    command.argv = {"/no/such/program"};
    CHECK_THROWS_WITH_AS(run_process(command),
                         "/no/such/program cannot be started: No such file or directory", Error);
    command = shell("true");
    command.directory = "/no/such/directory";
    CHECK_THROWS_AS(run_process(command), Error);
  }

  TEST_CASE("base: a signal is distinguished from an exit status") {
    ProcessOutcome o = run_process(shell("kill -SEGV $$"));
    CHECK(o.end == End::signalled);
    CHECK(o.status == SIGSEGV);
    CHECK(describe(o) == "killed by signal 11 (Segmentation fault)");
  }

  TEST_CASE("base: the time limit kills the whole process group") {
    ProcessCommand command = shell("sleep 100 & echo $!; wait");
    command.limits.wall_seconds = 0.3;
    ProcessOutcome o = run_process(command);
    CHECK(o.end == End::timed_out);
    CHECK(o.seconds < 5);
    CHECK(describe(o) == "stopped at its time limit");
    REQUIRE_FALSE(o.out.empty());
    CHECK(dies_soon(std::stoi(o.out)));
  }

  TEST_CASE("base: a process that ignores signals and closes its streams is stopped, too") {
    ProcessCommand command = shell("trap '' TERM INT HUP; exec >&- 2>&-; sleep 100");
    command.limits.wall_seconds = 0.3;
    ProcessOutcome o = run_process(command);
    CHECK(o.end == End::timed_out);
    CHECK(o.seconds < 5);
  }

  TEST_CASE("base: processes that a child leaves in its group end with it") {
    ProcessOutcome o = run_process(shell("sleep 100 & echo $!"));
    CHECK(o.ok());
    CHECK(o.seconds < 5);
    REQUIRE_FALSE(o.out.empty());
    CHECK(dies_soon(std::stoi(o.out)));
  }

  TEST_CASE("base: output beyond the limit ends the process, and its beginning is kept") {
    for (const char* script : {"yes", "yes >&2"}) {
      ProcessCommand command = shell(script);
      command.limits.output_bytes = 100000;
      ProcessOutcome o = run_process(command);
      CHECK(o.end == End::output_exceeded);
      CHECK((o.out + o.err).size() == 100000);
      CHECK((o.out + o.err).substr(0, 4) == "y\ny\n");
      CHECK(o.seconds < 5);
    }
    ProcessCommand exactly = shell("head -c 100000 /dev/zero");
    exactly.limits.output_bytes = 100000;
    CHECK(run_process(exactly).ok());
  }

  TEST_CASE("base: processes are limited in CPU time, memory and file size") {
    ProcessCommand command = shell("while :; do :; done");
    command.limits.cpu_seconds = 1;
    ProcessOutcome o = run_process(command);
    CHECK(o.end == End::signalled);
    CHECK((o.status == SIGXCPU || o.status == SIGKILL));

    // dd allocates a buffer of 512 MiB.
    command = shell("exec dd if=/dev/zero of=/dev/null bs=512M count=1");
    CHECK(run_process(command).ok());
    command.limits.memory_bytes = 256ull << 20;
    o = run_process(command);
    CHECK_FALSE(o.ok());
    CHECK(o.err.find("exhausted") != std::string::npos);

    char file[] = "/tmp/lab32-test-XXXXXX";
    int fd = mkstemp(file);
    REQUIRE(fd >= 0);
    command = shell(std::string("exec head -c 1000000 /dev/zero >") + file);
    command.limits.file_bytes = 100000;
    o = run_process(command);
    CHECK(o.end == End::signalled);
    CHECK(o.status == SIGXFSZ);
    CHECK(lseek(fd, 0, SEEK_END) == 100000);
    close(fd);
    unlink(file);
  }

  TEST_CASE("base: no descriptor and no zombie remains, and no descriptor is inherited") {
    int before = open_descriptors();
    for (int i = 0; i < 20; ++i) run_process(shell("echo"));
    ProcessCommand failing;
    failing.argv = {"/no/such/program"};
    CHECK_THROWS(run_process(failing));
    CHECK(open_descriptors() == before);
    int status = 0;
    CHECK(waitpid(-1, &status, WNOHANG) == -1);
    CHECK(errno == ECHILD);
    // 0, 1, 2 and the directory that ls itself opens.
    ProcessCommand list;
    list.argv = {"/bin/ls", "/proc/self/fd"};
    CHECK(run_process(list).out == "0\n1\n2\n3\n");
  }

  TEST_CASE("base: simultaneous processes do not hold each other's streams open") {
    std::vector<std::thread> threads;
    std::vector<double> seconds(8);
    ProcessCommand slow = shell("sleep 2");
    std::thread waiting([&] { run_process(slow); });
    for (size_t i = 0; i < seconds.size(); ++i)
      threads.emplace_back([&, i] { seconds[i] = run_process(shell("echo")).seconds; });
    for (auto& thread : threads) thread.join();
    waiting.join();
    for (double s : seconds) CHECK(s < 1.9);
  }
}
