// build/lab32 on a machine that fails, and with files that are no programs. Students lose no points
// for the machine's faults, and an error in one lab does not affect the others.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "base/files.h"
#include "base/process.h"
#include "tests/fixtures/devices.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

// Runs a shell's command line in which $LAB32 is the program. `settings` are added to its
// environment.
ProcessOutcome in_shell(const std::string& line, const std::vector<std::string>& settings = {}) {
  ProcessCommand command;
  command.argv = {"/bin/sh", "-c", line};
  command.environment = environment();
  command.environment.push_back("LAB32=" + (lab32_root() / "build/lab32").string());
  command.environment.insert(command.environment.end(), settings.begin(), settings.end());
  command.directory = lab32_root();
  command.limits.wall_seconds = 120;
  return run_process(command);
}

// A text that has never been compiled, so the compilers must run instead of the cache.
std::string fresh_text(const ScratchDirectory& s) {
  return "// " + s.path.string() + "\nint a = ;\n";
}

bool has_words(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("grading: a file that is no program costs the points of its own lab only" * kSlow) {
  const ScratchDirectory s;
  const std::vector<std::function<void(const fs::path&)>> no_programs = {
      [](const fs::path& file) { fs::create_directories(file); },
      [](const fs::path& file) { std::ofstream(file) << std::string("\0\1\2", 3); },
      [](const fs::path& file) { std::ofstream(file) << ""; },
      [](const fs::path& file) { std::ofstream(file) << std::string(2 << 20, '\n'); },
      [](const fs::path& file) { fs::create_symlink("/etc/passwd", file); }};
  // The first lab's file is broken, and the last lab has its skeleton.
  const std::vector<std::string>& labs = each_lab();
  for (size_t i = 1; i < labs.size(); ++i) {
    const fs::path file = s.path / labs[i] / (labs[i] + ".cu");
    fs::create_directories(file.parent_path());
    if (i + 1 == labs.size())
      fs::copy_file(lab32_root() / "labs" / labs[i] / file.filename(), file);
    else
      no_programs[i % no_programs.size()](file);
  }
  const ProcessOutcome outcome =
      in_shell("$LAB32 grade --device sim --format json --seed 5 --dir '" + s.path.string() + "'");
  CHECK(outcome.status == 1);
  const auto result = nlohmann::json::parse(outcome.out);
  CHECK(result["complete"] == true);
  REQUIRE(result["labs"].size() == labs.size());
  for (const auto& lab : result["labs"]) {
    CAPTURE(lab["lab"]);
    CHECK(lab["max_score"] == 100);
    if (lab["lab"] == labs.front()) {
      CHECK(has_words(lab["message"], "no such file"));
    } else if (lab["lab"] == labs.back()) {
      CHECK(lab["status"] == "failed");
      CHECK(lab["score"] > 0);
    } else {
      CHECK(lab["status"] == "error");
      CHECK(has_words(lab["message"], "cannot be read: "));
    }
  }
}

TEST_CASE("grading: with --allow-missing a named lab without a file loses its points") {
  const ScratchDirectory s;
  const std::string grade = "$LAB32 grade shuffle --seed 5 --dir '" + s.path.string() + "'";
  CHECK(in_shell(grade).status == 2);
  const ProcessOutcome outcome = in_shell(grade + " --allow-missing --format json");
  CHECK(outcome.status == 1);
  const auto result = nlohmann::json::parse(outcome.out);
  CHECK(result["score"] == 0);
  CHECK(result["max_score"] == 100);
  CHECK(has_words(result["labs"][0]["message"], "no such file: it was not handed in"));
}

TEST_CASE("grading: LAB32_THREADS changes no verdict, and a value that is no number is an error") {
  const std::string grade = "$LAB32 grade shuffle --seed 5 --format csv --dir labs";
  const auto points = [&](const std::string& threads) {
    return in_shell(grade + " | cut -d, -f1-8", {"LAB32_THREADS=" + threads}).out;
  };
  const std::string one = points("1");
  CHECK(has_words(one, "shuffle,"));
  CHECK(points("0") == one);
  const ProcessOutcome refused = in_shell(grade, {"LAB32_THREADS=-1"});
  CHECK(refused.status == 2);
  CHECK(has_words(refused.err, "LAB32_THREADS=-1: it may be a number from 0 to 9999"));
}

TEST_CASE("grading: `lab32 class` without its Python prints one line that says how to install it") {
  const ProcessOutcome outcome = in_shell("$LAB32 class x -o y", {"LAB32_ROOT=/nowhere"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err ==
        "lab32: /nowhere/.venv/bin/python: this Python does not exist; `make report` and `make "
        "class` "
        "install it\n");
}

TEST_CASE(
    "grading: a machine that fails leaves labs not graded, names the reason and ends with status "
    "2") {
  const ScratchDirectory s;
  s.write("shuffle/shuffle.cu", fresh_text(s));
  s.write("reduction/reduction.cu", "");  // the student's, whatever the machine does
  const std::string grade =
      "$LAB32 grade shuffle reduction --seed 5 --dir '" + s.path.string() + "' --format json";
  // No file may grow beyond 50 KiB, which has the effect of a full disk with another error number.
  for (const auto& [line, setting, words] :
       {std::tuple{grade, "TMPDIR=/nowhere/tmp", "no scratch directory in /nowhere/tmp: "},
        {"trap '' XFSZ; ulimit -f 100; " + grade,
         "A=", "cannot be written: is the disk of TMPDIR"}}) {
    CAPTURE(line);
    const ProcessOutcome outcome = in_shell(line, {setting});
    CHECK(outcome.status == 2);
    CHECK(has_words(outcome.err, "lab32: shuffle is not graded: "));
    CHECK_MESSAGE(has_words(outcome.err, words), outcome.err);
    const auto result = nlohmann::json::parse(outcome.out);
    CHECK(result["complete"] == false);
    CHECK(result["labs"][0]["status"] == "not graded");
    CHECK(result["labs"][0]["max_score"] == 0);
    CHECK(has_words(result["labs"][0]["message"], words));
    CHECK(result["labs"][1]["status"] == "error");
    CHECK(result["max_score"] == 100);
  }
}

TEST_CASE("grading: a lab that does not compile because the disk is full is not graded") {
  const ScratchDirectory s;
  s.write("shuffle/shuffle.cu", fresh_text(s));
  const fs::path disk = s.path / "disk";
  fs::create_directory(disk);
  const ProcessOutcome outcome = in_shell(
      "unshare -m sh -c 'mount -t tmpfs -o size=200k none \"$1\" 2>/dev/null || exit 77; "
      "TMPDIR=$1 $LAB32 grade shuffle --dir \"$2\"' sh '" +
      disk.string() + "' '" + s.path.string() + "'");
  if (outcome.status == 77 || has_words(outcome.err, "unshare")) {
    MESSAGE("no disk can be mounted here");
    return;
  }
  CHECK(outcome.status == 2);
  CHECK_MESSAGE(has_words(outcome.err, "is the disk of TMPDIR full?"), outcome.err);
  CHECK(has_words(outcome.out, "not graded"));
  CHECK_FALSE(has_words(outcome.out, "does not compile"));
}

TEST_CASE("grading: a closed output ends with status 2 and never writes into another file") {
  const ScratchDirectory s;
  s.write("shuffle/shuffle.cu", "");
  const std::string grade = "$LAB32 grade shuffle --seed 5 --dir '" + s.path.string() + "' ";
  std::vector<std::string> outputs = {">/dev/full", ">&-", "-o /nowhere/result", "-o /tmp",
                                      "--json ''x/y"};
  if (const std::optional<std::string> full = device_like(s, "full", 7))
    outputs.insert(outputs.end(), {"-o '" + *full + "'", "--json '" + *full + "'"});
  for (const std::string& redirected : outputs) {
    CAPTURE(redirected);
    const ProcessOutcome outcome = in_shell(grade + redirected);
    CHECK(outcome.status == 2);
    CHECK_MESSAGE(has_words(outcome.err, "cannot be written"), outcome.err);
  }
  // With all three closed, the first file that is opened gets one of their numbers; nothing may be
  // written to it.
  CHECK(in_shell(grade + "<&- >&- 2>&-").status == 2);
  const std::string odd = (s.path / "\"'\n\xff.json").string();
  const ProcessOutcome outcome = in_shell(grade + "--json \"$ODD\" -o /dev/stdout", {"ODD=" + odd});
  CHECK(outcome.status == 1);
  CHECK(has_words(outcome.out, "0 / 100"));
  CHECK(nlohmann::json::parse(read_file(odd).value_or(""))["max_score"] == 100);
}

TEST_CASE(
    "grading: paths may have any bytes, a lab that is named twice is graded once, and the largest "
    "seed works") {
  const ScratchDirectory s;
  const std::string odd = "a \"b\" 'c'\n$(d)\\\x1b\xff";
  s.write(odd + "/shuffle/shuffle.cu", fresh_text(s));
  const ProcessOutcome outcome = in_shell(
      "$LAB32 grade shuffle shuffle --format json --seed 18446744073709551615 --dir \"$DIR\"",
      {"DIR=" + (s.path / odd).string(), "TMPDIR=" + s.path.string()});
  CHECK(outcome.status == 1);
  const auto result = nlohmann::json::parse(outcome.out);
  CHECK(result["labs"].size() == 1);
  CHECK(result["seed"] == 18446744073709551615u);
  CHECK(has_words(result["labs"][0]["message"],
                  "/a \\x22b\\x22 'c'\\x0a$(d)\\x5c\\x1b\\xff/shuffle/shuffle.cu(2): error: "));
}

TEST_CASE("grading: `lab32 doctor` describes the machine on one screen") {
  const ProcessOutcome outcome = in_shell("$LAB32 doctor");
  CHECK(outcome.status == 0);
  for (const char* row : {"\nnvdisasm  ", "\ncompilers  ", "\n  bubblewrap  ", "\n  Landlock  ",
                          "\n  seccomp  ", "\nscratch  ", "\nGPU  ", "\nlab32 can grade here.\n"})
    CHECK_MESSAGE(has_words(outcome.out, row), outcome.out);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') <= 24);
  const ProcessOutcome broken =
      in_shell("$LAB32 doctor", {"LAB32_NVCC=/nowhere/nvcc", "TMPDIR=/nowhere"});
  CHECK(broken.status == 2);
  CHECK(has_words(broken.out, "missing: LAB32_NVCC=/nowhere/nvcc is not a program"));
  CHECK(has_words(broken.out, "missing: no scratch directory in /nowhere"));
}

}  // namespace lab32::tests
