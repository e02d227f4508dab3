// Scratch directories disappear with their process, however it ends.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "base/child.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "tests/fixtures/scratch.h"

using namespace lab32;
namespace fs = std::filesystem;

namespace {

size_t scratch_directories(const fs::path& temporary) {
  const fs::path root = temporary / ("lab32-" + std::to_string(geteuid()));
  return static_cast<size_t>(std::distance(fs::directory_iterator(root), fs::directory_iterator()));
}

// Starts a process that makes a scratch directory and a child with a grandchild, reports that, and
// waits.
pid_t start_worker(const fs::path& said, bool watch) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);  // nohup ignores them
  std::optional<CleanSignalExit> clean_end;
  if (watch) clean_end.emplace(CleanSignalExit::Interrupt::too);
  const lab32::ScratchDirectory scratch;
  std::ofstream(scratch.path / "file") << "left";
  ProcessCommand command;
  command.argv = {"/bin/sh", "-c",
                  "sleep 100 & echo $$ $! >" + said.string() + ".new; mv " + said.string() +
                      ".new " + said.string() + "; wait"};
  command.environment = {"PATH=/usr/bin:/bin"};
  run_process(command);
  _exit(3);
}

bool within_seconds(const std::function<bool()>& holds) {
  for (int i = 0; i < 500; ++i) {
    if (holds()) return true;
    usleep(10'000);
  }
  return holds();
}

bool is_gone(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return !(stat >> number >> name >> state) || state == "Z";
}

}  // namespace

TEST_CASE(
    "base: a process that a signal ends leaves no scratch directory and no process, and ends by "
    "that signal") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(signal);
    tests::ScratchDirectory s;
    const ScopedEnvironmentVariable here(variables::kTemporaryDirectory, s.path.string());
    const pid_t worker = start_worker(s.path / "said", true);
    REQUIRE(within_seconds([&] { return fs::exists(s.path / "said"); }));
    kill(worker, signal);
    int status = 0;
    REQUIRE(waitpid(worker, &status, 0) == worker);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(scratch_directories(s.path) == 0);
    pid_t child = 0, grandchild = 0;
    std::ifstream(s.path / "said") >> child >> grandchild;
    CHECK(within_seconds([&] { return is_gone(child) && is_gone(grandchild); }));
  }
}

TEST_CASE("base: the children of a killed process end, and the next start removes its directory") {
  tests::ScratchDirectory s;
  const pid_t alive = [&] {
    const ScopedEnvironmentVariable here(variables::kTemporaryDirectory, s.path.string());
    return start_worker(s.path / "alive", false);
  }();
  REQUIRE(within_seconds([&] { return fs::exists(s.path / "alive"); }));
  const ScopedEnvironmentVariable here(variables::kTemporaryDirectory, s.path.string());
  const pid_t worker = start_worker(s.path / "said", false);
  REQUIRE(within_seconds([&] { return fs::exists(s.path / "said"); }));
  CHECK(scratch_directories(s.path) == 2);
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  pid_t child = 0, grandchild = 0;
  std::ifstream(s.path / "said") >> child >> grandchild;
  CHECK(within_seconds([&] { return is_gone(child) && is_gone(grandchild); }));
  {
    const lab32::ScratchDirectory next;
    // Its own directory, and that of the live process.
    CHECK(scratch_directories(s.path) == 2);
    CHECK(fs::exists(next.path));
  }
  kill(alive, SIGKILL);
  waitpid(alive, nullptr, 0);
}

TEST_CASE("base: the error for an unusable TMPDIR names it") {
  for (const char* directory : {"/nowhere", "/etc/passwd", "/proc"}) {
    const ScopedEnvironmentVariable here(variables::kTemporaryDirectory, directory);
    try {
      const lab32::ScratchDirectory scratch;
      FAIL("it was made");
    } catch (const MachineError& error) {
      CHECK(std::string(error.what())
                .find(std::string("no scratch directory in ") + directory + ": ") == 0);
    }
  }
}

TEST_CASE("base: a scratch root of another user is not touched") {
  tests::ScratchDirectory s, other;
  other.write("file", "theirs");
  fs::create_directory_symlink(other.path, s.path / ("lab32-" + std::to_string(geteuid())));
  const ScopedEnvironmentVariable here(variables::kTemporaryDirectory, s.path.string());
  const lab32::ScratchDirectory scratch;
  CHECK(scratch.path.parent_path() == s.path);
  CHECK(fs::exists(other.path / "file"));
}
