// What a program in the sandbox can and cannot reach. If bubblewrap cannot run, these cases check
// nothing and say so.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/fixtures/isolations.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/sandbox.h"

using namespace lab32;
using namespace lab32::toolchain;
namespace fs = std::filesystem;

namespace {

ProcessLimits ten_seconds() {
  ProcessLimits limits;
  limits.wall_seconds = 10;
  return limits;
}

ProcessOutcome in_shell(const Sandbox& sandbox, const std::string& script) {
  return sandbox.run({"/bin/sh", "-c", script}, ten_seconds());
}

bool have_bubblewrap() {
  if (best_isolation().isolation == Isolation::bubblewrap) return true;
  MESSAGE("bubblewrap cannot run here: " << best_isolation().reason);
  return false;
}

}  // namespace

TEST_SUITE("compile: sandbox") {
  TEST_CASE(
      "toolchain: a sandbox has the submission, the includes and one place to write, in every "
      "kind") {
    for (Isolation kind : tests::isolations()) {
      tests::ScratchDirectory includes;
      includes.write("lab.cuh", "header");
      fs::path scratch;
      {
        Sandbox sandbox(installed_toolchain(), includes.path, kind);
        scratch = sandbox.output().parent_path();
        std::ofstream(sandbox.submission() / "a.cu") << "source";
        ProcessOutcome o =
            in_shell(sandbox, "cat " + sandbox.submission_path_in_sandbox() + "/a.cu " +
                                  sandbox.include_path_in_sandbox() + "/lab.cuh; echo made >" +
                                  sandbox.output_folder_in_sandbox() + "/result");
        CHECK(o.err == "");
        CHECK(o.out == "sourceheader");
        CHECK(read_file(sandbox.output() / "result") == "made\n");
        CHECK(fs::exists(scratch));
      }
      CHECK_FALSE(fs::exists(scratch));
    }
  }

  TEST_CASE(
      "toolchain: neither the checkout, the system's files, other processes nor the environment") {
    if (!have_bubblewrap()) return;
    tests::ScratchDirectory includes, secret;
    secret.write("secret", "42");
    setenv("LAB32_TEST_SECRET", "42", 1);
    Sandbox sandbox(installed_toolchain(), includes.path, Isolation::bubblewrap);
    for (const fs::path& path :
         {checkout_directory() / "solutions", checkout_directory() / "Makefile",
          secret.path / "secret", fs::path("/etc/passwd"), fs::path("/proc/self"),
          fs::path("/sys/class")}) {
      CAPTURE(path.string());
      CHECK(fs::exists(path));
      CHECK_FALSE(in_shell(sandbox, "test -e " + path.string()).ok());
    }
    CHECK(in_shell(sandbox, "env").out.find("LAB32_TEST_SECRET") == std::string::npos);
    unsetenv("LAB32_TEST_SECRET");
  }

  TEST_CASE("toolchain: Landlock opens only the sandbox's files, by any name") {
    if (confinement_support().landlock == 0) {
      MESSAGE("this kernel has no Landlock");
      return;
    }
    tests::ScratchDirectory includes, secret;
    secret.write("secret", "42");
    Sandbox sandbox(installed_toolchain(), includes.path, Isolation::landlock);
    for (const fs::path& path :
         {secret.path / "secret", checkout_directory() / "solutions/coalescing/coalescing.cu",
          fs::path("/etc/passwd"), fs::path("/proc/self/root/etc/passwd"),
          fs::path("/proc/self/environ"), fs::path("../../../../../../etc/passwd")}) {
      CAPTURE(path.string());
      CHECK(in_shell(sandbox, "cat " + path.string()).out == "");
    }
    for (const fs::path& path : {secret.path / "new", sandbox.submission() / "new",
                                 fs::path("/tmp/lab32-new"), fs::path("/usr/lab32-new")}) {
      CAPTURE(path.string());
      CHECK_FALSE(in_shell(sandbox, "echo spoilt >" + path.string()).ok());
      CHECK_FALSE(fs::remove(path));  // it does not exist
    }
    // A written file cannot be executed.
    CHECK_FALSE(in_shell(sandbox, "cp /usr/bin/true ./t && chmod +x t && ./t").ok());
    CHECK(in_shell(sandbox, "cp /usr/bin/true ./t").ok());
  }

  TEST_CASE("toolchain: seccomp forbids sockets without bubblewrap, too") {
    if (!confinement_support().seccomp) {
      MESSAGE("this kernel has no filters");
      return;
    }
    tests::ScratchDirectory includes;
    for (Isolation kind : tests::isolations()) {
      if (kind == Isolation::bubblewrap) continue;
      Sandbox sandbox(installed_toolchain(), includes.path, kind);
      const ProcessOutcome o =
          sandbox.run({"/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"}, ten_seconds());
      CHECK_FALSE(o.ok());
      CHECK_MESSAGE(o.err.find("Operation not permitted") != std::string::npos, o.err);
    }
  }

  TEST_CASE("toolchain: only the output directory can be written") {
    if (!have_bubblewrap()) return;
    tests::ScratchDirectory includes;
    includes.write("lab.cuh", "header");
    Sandbox sandbox(installed_toolchain(), includes.path, Isolation::bubblewrap);
    std::ofstream(sandbox.submission() / "a.cu") << "source";
    for (const char* path :
         {"/submission/a.cu", "/submission/new", "/include/lab.cuh", "/usr/new"}) {
      CAPTURE(path);
      CHECK_FALSE(in_shell(sandbox, std::string("echo spoilt >") + path).ok());
    }
    CHECK(read_file(sandbox.submission() / "a.cu") == "source");
    CHECK(read_file(includes.path / "lab.cuh") == "header");
    // /tmp exists and is new in each run.
    CHECK(in_shell(sandbox, "echo x >/tmp/left && cat /tmp/left").out == "x\n");
    CHECK_FALSE(in_shell(sandbox, "test -e /tmp/left").ok());
    CHECK_FALSE(fs::exists("/tmp/left"));
  }

  TEST_CASE("toolchain: the sandbox has no network, not even localhost") {
    if (!have_bubblewrap()) return;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(listen(listener, 4) == 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
    std::string connect = "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(ntohs(address.sin_port));
    tests::ScratchDirectory includes;
    // Outside of the sandbox this command connects.
    ProcessCommand outside;
    outside.argv = {"/bin/bash", "-c", connect};
    CHECK(run_process(outside).ok());
    Sandbox closed(installed_toolchain(), includes.path, Isolation::bubblewrap);
    ProcessOutcome o = closed.run({"/bin/bash", "-c", connect}, ten_seconds());
    CHECK_FALSE(o.ok());
    CHECK(o.err.find("connect") != std::string::npos);
    close(listener);
  }

  TEST_CASE("toolchain: the limits apply inside the sandbox") {
    if (!have_bubblewrap()) return;
    tests::ScratchDirectory includes;
    Sandbox sandbox(installed_toolchain(), includes.path, Isolation::bubblewrap);
    ProcessLimits limits = ten_seconds();
    limits.wall_seconds = 0.5;
    ProcessOutcome o = sandbox.run({"/bin/sh", "-c", "sleep 100 & sleep 100"}, limits);
    CHECK(o.end == ProcessOutcome::End::timed_out);
    CHECK(o.seconds < 5);
    limits = ten_seconds();
    limits.output_bytes = 10000;
    CHECK(sandbox.run({"/usr/bin/yes"}, limits).end == ProcessOutcome::End::output_exceeded);
    limits = ten_seconds();
    limits.memory_bytes = 256 << 20;
    o = sandbox.run({"/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=512M", "count=1"}, limits);
    CHECK_FALSE(o.ok());
    CHECK(o.err.find("exhausted") != std::string::npos);
  }
}
