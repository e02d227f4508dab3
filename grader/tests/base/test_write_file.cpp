// write_file(): a file is written completely or not at all, and only a regular file is replaced.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/child.h"
#include "base/error.h"
#include "base/files.h"
#include "tests/fixtures/devices.h"
#include "tests/fixtures/scratch.h"

using namespace lab32;
namespace fs = std::filesystem;

namespace {

size_t entries(const fs::path& directory) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

}  // namespace

TEST_CASE(
    "base: a regular file is replaced as a whole, and a link leads to the file that is replaced") {
  tests::ScratchDirectory s;
  const fs::path file = s.write("dir/result", "old and longer");
  fs::create_symlink("dir/result", s.path / "link");
  fs::create_symlink("link", s.path / "chain");
  fs::create_symlink("dir/absent", s.path / "dangling");
  const std::string odd = (s.path / "a \"b\"\n$(c)").string();
  for (const auto& [path, place] : {std::pair{file.string(), file},
                                    {(s.path / "chain").string(), file},
                                    {(s.path / "dangling").string(), s.path / "dir/absent"},
                                    {odd, fs::path(odd)}}) {
    check_writable(path, "-o");
    write_file(path, "new", "-o");
    CHECK(read_file(place) == "new");
    std::ofstream(place) << "old and longer";
  }
  CHECK(fs::is_symlink(s.path / "chain"));
  CHECK(fs::is_symlink(s.path / "dangling"));
  CHECK(entries(s.path / "dir") == 2);
  CHECK((fs::status(file).permissions() & fs::perms::others_exec) == fs::perms::none);
}

TEST_CASE("base: devices and pipes are written to and not replaced") {
  tests::ScratchDirectory s;
  const fs::path pipe = s.path / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const FileDescriptor reader(open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  check_writable(pipe.string(), "-o");
  write_file(pipe.string(), "through the pipe", "-o");
  std::string received(100, ' ');
  received.resize(static_cast<size_t>(
      std::max<ssize_t>(0, read(reader.get(), received.data(), received.size()))));
  CHECK(received == "through the pipe");
  CHECK(fs::is_fifo(pipe));
  const std::optional<std::string> null = tests::device_like(s, "null", 3),
                                   full = tests::device_like(s, "full", 7);
  if (!null || !full) return;
  write_file(*null, "text", "-o");
  CHECK(fs::is_character_file(*null));
  CHECK_THROWS_WITH_AS(
      write_file(*full, "text", "-o"),
      (*full + ": cannot be written: No space left on device; name another file with -o").c_str(),
      MachineError);
  CHECK(fs::is_character_file(*full));
}

TEST_CASE("base: check_writable() finds an unwritable file before the work is done") {
  tests::ScratchDirectory s;
  s.write("file", "");
  fs::create_symlink("loop", s.path / "loop");
  for (const fs::path& path : {s.path, s.path / "none/result", s.path / "file/result",
                               s.path / "loop", fs::path("/proc/result"), fs::path("")}) {
    CAPTURE(path.string());
    CHECK_THROWS_AS(check_writable(path.string(), "-o"), MachineError);
    CHECK_THROWS_AS(write_file(path.string(), "text", "-o"), MachineError);
  }
  CHECK(entries(s.path) == 2);
}
