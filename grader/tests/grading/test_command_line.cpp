// The command line of build/lab32: exit statuses, one line on stderr, output files that are
// complete or absent.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/environment.h"
#include "base/process.h"
#include "grading/engine/runner.h"
#include "tests/fixtures/scratch.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

ProcessOutcome lab32(std::vector<std::string> arguments, const fs::path& directory = lab32_root()) {
  ProcessCommand command;
  command.argv = {(lab32_root() / "build/lab32").string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment();
  command.directory = directory;
  command.limits.wall_seconds = 120;
  ProcessOutcome outcome = run_process(command);
  // If bubblewrap cannot run, as in some containers, lab32 prints this line once. These tests
  // ignore it.
  const std::string notice = "lab32: bubblewrap cannot run here";
  if (outcome.err.rfind(notice, 0) == 0) outcome.err.erase(0, outcome.err.find('\n') + 1);
  return outcome;
}

void check_refused(std::vector<std::string> arguments, const std::string& words) {
  const ProcessOutcome outcome = lab32(std::move(arguments));
  INFO("stderr: ", outcome.err);
  CHECK(outcome.end == ProcessOutcome::End::exited);
  CHECK(outcome.status == 2);
  CHECK(outcome.out == "");
  CHECK(outcome.err.rfind("lab32: ", 0) == 0);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("grading: bad arguments end with status 2 and one line that names the error") {
  check_refused({"grade", "nosuch"}, "there is no lab `nosuch`; the labs are: ");
  check_refused({"grade", "--dir", "/nowhere"}, "/nowhere: no such directory");
  check_refused({"grade", "--device", "sim:nosuch"}, "nosuch");
  check_refused({"grade", "--device", "abacus"}, "abacus");
  check_refused({"grade", "--format", "xml"}, "xml not in {text,json,gradescope,");
  for (const char* seed : {"x", "-1", "1e3", "0x10", "18446744073709551616", " 1", ""})
    check_refused({"grade", "coalescing", "--seed", seed}, "is not a whole number from 0 to");
  check_refused({"calibrate", "nosuch"}, "there is no lab `nosuch`; the labs are: ");
  check_refused({"calibrate", "-o", "/nowhere/file"}, "-o");
  check_refused({"grad"}, "there is no command `grad`");
  check_refused({}, "subcommand");
}

TEST_CASE("grading: lost points end with status 1, and -o writes the whole report") {
  const fs::path dir = fs::temp_directory_path() / ("lab32-output-" + std::to_string(getpid()));
  fs::create_directories(dir);
  const fs::path file = dir / "result.json";
  const ProcessOutcome outcome =
      lab32({"grade", "histogram", "--format", "json", "--seed", "3", "-o", file.string()});
  CHECK(outcome.status == 1);
  CHECK(outcome.out == "");
  // Only the progress lines of slow steps, which a busy machine prints: "running add4 ...".
  std::istringstream err(outcome.err);
  for (std::string line; std::getline(err, line);) CHECK(line.substr(line.size() - 4) == " ...");
  std::ifstream in(file);
  const auto result = nlohmann::json::parse(in);
  CHECK(result["seed"] == 3);
  CHECK(result["labs"][0]["lab"] == "histogram");
  double seconds = 0;
  for (const auto& test : result["labs"][0]["tests"]) seconds += test["seconds"].get<double>();
  CHECK(seconds > 0.01);
  CHECK(seconds < 120);
  // The temporary file is gone.
  CHECK(std::distance(fs::directory_iterator(dir), fs::directory_iterator()) == 1);
  fs::remove_all(dir);
}

TEST_CASE(
    "grading: full marks end with status 0; without a terminal there is no colour; --json adds to "
    "the text") {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path / "result.json";
  const ProcessOutcome outcome =
      lab32({"grade", "histogram", "--dir", "solutions", "--seed", "3", "--json", file.string()});
  CHECK(outcome.status == 0);
  std::ifstream in(file);
  CHECK(nlohmann::json::parse(in)["score"] == 100);
  CHECK(outcome.out.find("100 / 100") != std::string::npos);
  CHECK(outcome.out.find('\033') == std::string::npos);
}

TEST_CASE("grading: labs are found from folders below, and by their files") {
  const ScratchDirectory scratch;
  const fs::path lab = scratch.path / "work/labs/swizzle", deeper = lab / "notes";
  fs::create_directories(deeper);
  fs::copy_file(lab32_root() / "labs/swizzle/swizzle.cu", lab / "swizzle.cu");
  const auto quotes = [&](const std::vector<std::string>& words, const fs::path& directory,
                          const std::string& file) {
    std::vector<std::string> all = {"grade", "--no-modelled-times"};
    all.insert(all.end(), words.begin(), words.end());
    const ProcessOutcome outcome = lab32(all, directory);
    INFO("stdout: ", outcome.out, " stderr: ", outcome.err);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.find("\n  " + file + ":") != std::string::npos);
  };
  quotes({"swizzle"}, deeper, "../../swizzle/swizzle.cu");
  quotes({"swizzle.cu"}, lab, "../swizzle/swizzle.cu");
  quotes({"labs/swizzle"}, scratch.path / "work", "labs/swizzle/swizzle.cu");
  fs::rename(lab / "swizzle.cu", scratch.path / "My Swizzle (1).cu");
  quotes({"My Swizzle (1).cu"}, scratch.path, "My Swizzle (1).cu");
}

TEST_CASE("grading: a file of no lab is refused, and so are two files of one") {
  const ScratchDirectory scratch;
  scratch.write("handin.cu", "");
  scratch.write("swizzle.cu", "");
  scratch.write("my_swizzle.cu", "");
  const std::string handin = (scratch.path / "handin.cu").string();
  check_refused({"grade", handin},
                "handin.cu: the name tells no lab; name the file after one of: ");
  check_refused({"grade", "nosuch.cu"}, "nosuch.cu: no such file");
  check_refused(
      {"grade", (scratch.path / "swizzle.cu").string(), (scratch.path / "my_swizzle.cu").string()},
      "two files of swizzle: ");
}

TEST_CASE("grading: a command without its words shows its own help") {
  const ProcessOutcome outcome = lab32({"seal"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("Usage: lab32 seal") != std::string::npos);
  CHECK(outcome.err.find("lab32: LAB is required; see `lab32 seal --help`\n") != std::string::npos);
  check_refused({"grade", "--nosuch"}, "see `lab32 grade --help`");
}

TEST_CASE("grading: init says what it leaves and what it cannot write") {
  const ScratchDirectory scratch;
  scratch.write("labs/shuffle/shuffle.cu", "mine");
  const ProcessOutcome outcome = lab32({"init", scratch.path.string()});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("\nLeft as it was: labs/shuffle/shuffle.cu. Delete a file to get") !=
        std::string::npos);
  fs::remove_all(scratch.path / "labs/swizzle");
  scratch.write("labs/swizzle", "a file");
  check_refused({"init", scratch.path.string()}, "/labs/swizzle");
}

TEST_CASE("grading: an output that cannot be written ends with status 2 and leaves no file") {
  check_refused({"grade", "coalescing", "-o", "/nowhere/result.txt"},
                "/nowhere/result.txt: cannot be written");
}

TEST_CASE("grading: --rubric takes points and thresholds from another folder") {
  const ScratchDirectory scratch;
  const fs::path rubric = scratch.path / "histogram.toml", file = scratch.path / "result.json";
  std::ifstream own(lab32_root() / "data/limits/histogram.toml");
  std::string text{std::istreambuf_iterator<char>(own), {}};
  const auto edit = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    scratch.write("histogram.toml", text);
  };
  edit("points = 10", "points = 20");
  const std::string line = "/histogram.toml:10: max_score is 100, and the points add up to 110";
  check_refused({"grade", "histogram", "--rubric", scratch.path.string()}, line);
  edit("max_score = 100", "max_score = 110");
  const ProcessOutcome outcome = lab32({"grade", "histogram", "--dir", "solutions", "--rubric",
                                        scratch.path.string(), "--json", file.string()});
  CHECK(outcome.status == 0);
  std::ifstream in(file);
  CHECK(nlohmann::json::parse(in)["score"] == 110);
  edit("ideal = ", "idael = ");
  check_refused({"grade", "histogram", "--rubric", scratch.path.string()},
                "\"B1 block: adds\" takes no `idael` (it takes ");
  check_refused({"grade", "shuffle", "--rubric", scratch.path.string()},
                "/shuffle.toml: no such file; --rubric names the folder");
}

TEST_CASE("grading: `lab32 devices` lists the devices and says why others are missing") {
  const ProcessOutcome outcome = lab32({"devices"});
  CHECK(outcome.status == 0);
  for (const char* line :
       {"sim:h200     simulated NVIDIA H200 (sm_90, 132 multiprocessors), the default\n",
        "sim:rtx4060  simulated NVIDIA GeForce RTX 4060 (sm_89, 24 multiprocessors)\n",
        "sim:t4       simulated NVIDIA T4 (sm_75, 40 multiprocessors)\n", "\ngpu          "}) {
    CAPTURE(line);
    CHECK(outcome.out.find(line) != std::string::npos);
  }
}

}  // namespace lab32::tests
