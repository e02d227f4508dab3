#include "toolchain/nvcc.h"

#include <atomic>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/pattern.h"
#include "base/read_file.h"
#include "toolchain/cache.h"
#include "toolchain/disassemble.h"
#include "toolchain/submission.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

// ---- the limits ------------------------------------------------------------------------------
// A lab's kernels take 0.3 s and 300 MB; all of CUB in one file takes 20 s and 1.5 GB.

constexpr double kWallSeconds = 60;             // nvcc and all that it calls
constexpr uint64_t kMemory = 4ull << 30;        // each process; they run one after the other
constexpr uint64_t kLargestFile = 64ull << 20;  // the preprocessed text; 1 MB, with CUB 10
constexpr uint64_t kMessages = 256ull << 10;    // of stdout and of stderr
constexpr double kListingSeconds = 30;          // nvdisasm
constexpr uint64_t kListing = 256ull << 20;     // its text

// -lineinfo: positions for messages and counters; ptxas then also keeps the PTX line of every
// instruction, by which SASS and PTX are matched. -v: the registers of each kernel.
const std::vector<std::string> kFlags = {"-x",     "cu",     "-std=c++17", "-lineinfo",
                                         "-cubin", "--keep", "-Xptxas=-v"};

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(path.string() + " cannot be written: is the disk of TMPDIR full?");
}

// ---- paths: the room's, and the user's ---------------------------------------------------------

// Replaces `from` where a path begins, so not within a longer one.
std::string replace_path(const std::string& text, const std::string& from, const std::string& to) {
  std::string out;
  size_t at = 0;
  for (size_t hit; (hit = text.find(from, at)) != std::string::npos; at = hit + from.size()) {
    char before = hit ? text[hit - 1] : ' ';
    bool begins = !std::isalnum(static_cast<unsigned char>(before)) && before != '/' &&
                  before != '_' && before != '.' && before != '-';
    out.append(text, at, hit - at);
    out += begins ? to : from;
  }
  return out.append(text, at);
}

// labs/include as the user, standing where he stands, would write it.
std::string display_include() {
  fs::path include = checkout() / "labs/include";
  std::error_code error;
  fs::path here = fs::current_path(error);
  return !error && is_inside(include, here) ? include.lexically_relative(here).string()
                                            : include.string();
}

// From the paths of the sandbox (and of the cache) to the user's.
std::string to_user(const std::string& text, const std::string& name, const std::string& display) {
  std::string beside = fs::path(display).parent_path().string();
  if (!beside.empty()) beside += "/";
  std::string out = replace_path(text, "/submission/" + name, display);
  out = replace_path(out, "/submission/", beside);
  return replace_path(out, "/include/", display_include() + "/");
}

// ---- what nvcc left ----------------------------------------------------------------------------

// "ptxas info" lines, with their continuation, are ours (-v); the rest is the compilers' own.
struct Messages {
  std::string text;
  std::map<std::string, uint32_t> registers;
};

Messages split(const std::string& err) {
  static const Pattern entry("Compiling entry function '([^']+)'"), used("Used ([0-9]+) registers");
  Messages result;
  std::string kernel;
  bool continues = false;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    bool info = line.rfind("ptxas info", 0) == 0;
    if (const auto found = info ? entry.search(line) : std::nullopt) kernel = found->at(1);
    const auto found = info && !kernel.empty() ? used.search(line) : std::nullopt;
    if (found) {
      result.registers[kernel] = static_cast<uint32_t>(std::stoul(found->at(1)));
      kernel.clear();
    }
    continues = info || (continues && line.rfind("    ", 0) == 0);
    if (!continues) result.text += line + "\n";
  }
  return result;
}

// Every file the preprocessor read: it marks where it enters one with `# LINE "PATH" 1`. The marks
// cannot be kept out of its output, so this holds where no sandbox does.
std::vector<fs::path> files_entered(const std::string& preprocessed) {
  std::vector<fs::path> files;
  for (size_t at = 0; at < preprocessed.size();) {
    size_t end = std::min(preprocessed.find('\n', at), preprocessed.size());
    std::string_view line(preprocessed.data() + at, end - at);
    at = end + 1;
    if (line.size() < 4 || line[0] != '#' || line[1] != ' ') continue;
    size_t open = line.find('"'), close = line.rfind('"');
    if (open == close || line.substr(close).rfind("\" 1", 0) != 0) continue;
    files.emplace_back(line.substr(open + 1, close - open - 1));
  }
  return files;
}

void refuse_foreign_files(const Sandbox& sandbox, const Toolchain& toolchain,
                          const std::string& preprocessed, const std::string& display) {
  auto allowed = [&](const fs::path& file) {
    if (is_inside(file, sandbox.inner_submission()) || is_inside(file, sandbox.inner_include()))
      return true;
    std::error_code error;
    fs::path real = fs::canonical(file, error);
    if (error) return true;  // no file at all: a #line of the student's, or the room's own
    bool below_tool = false, tool_in_checkout = false;
    for (const auto& root : toolchain.roots) {
      below_tool |= is_inside(real, root);
      tool_in_checkout |= is_inside(root, checkout()) && is_inside(real, root);
    }
    return below_tool && (tool_in_checkout || !is_inside(real, checkout()));
  };
  for (const auto& file : files_entered(preprocessed)) {
    fs::path normal = file.lexically_normal();
    if (normal.is_absolute() && !allowed(normal))
      throw CompileError(display, display + ": error: it includes " + normal.string() +
                                      ", but may include only lab32.cuh, headers beside it and "
                                      "those of CUDA and C++\n");
  }
}

std::string limits_reached(const Outcome& outcome, const ProcessLimits& limits) {
  auto number = [](double x) {
    std::ostringstream s;
    s << x;
    return s.str();
  };
  if (outcome.end == Outcome::End::timed_out)
    return "nvcc was stopped: it ran longer than " + number(limits.wall_seconds) + " seconds\n";
  if (outcome.end == Outcome::End::output_exceeded)
    return "nvcc was stopped: more than " + std::to_string(limits.output_bytes >> 10) +
           " KiB of messages; the first of them are above\n";
  bool died = outcome.end == Outcome::End::signalled;
  for (const char* sign : {"died due to signal", "out of memory", "Out of memory", "bad_alloc",
                           "memory exhausted", "Killed", "File size limit"})
    died |= outcome.err.find(sign) != std::string::npos;
  if (!died) return {};
  return "nvcc was stopped: a compilation may take " +
         number(static_cast<double>(limits.memory_bytes) / (1 << 30)) + " GiB of memory, " +
         std::to_string(limits.cpu_seconds) + " seconds of CPU time and files of " +
         std::to_string(limits.file_bytes >> 20) + " MiB\n";
}

Artifact run_compilers(const Submission& submission, const std::string& behind,
                       const std::string& arch, const std::string& display,
                       const CompileOptions& options) {
  const Toolchain& tools = installed();
  Sandbox sandbox(tools, checkout() / "labs/include", options.isolation);
  for (const auto& [name, text] : submission.files) write_file(sandbox.submission() / name, text);
  const std::string inner = sandbox.inner_submission() + "/" + submission.name;
  if (!behind.empty())
    write_file(sandbox.submission() / submission.name,
               submission.files.at(submission.name) + "\n\n" +
                   Pattern("@SUBMISSION@").replace(behind, inner));

  // Without a sandbox the paths are the scratch directory's; from here on they are the sandbox's.
  auto canonical = [&](const std::string& text) {
    if (options.isolation == Isolation::bubblewrap) return text;
    return replace_path(replace_path(text, sandbox.inner_submission(), "/submission"),
                        sandbox.inner_include(), "/include");
  };
  std::string stem = fs::path(submission.name).stem().string();
  std::string cubin = sandbox.inner_output() + "/out.cubin";

  std::vector<std::string> argv{tools.nvcc.string()};
  argv.insert(argv.end(), kFlags.begin(), kFlags.end());
  for (const std::string& word :
       {"-arch=" + arch, "-I" + sandbox.inner_include(), "--keep-dir=" + sandbox.inner_output(),
        "--output-file=" + cubin, inner})
    argv.push_back(word);
  Outcome nvcc = sandbox.run(argv, options.limits);
  Messages messages = split(canonical(nvcc.out + nvcc.err));

  std::string preprocessed = read_file(sandbox.output() / (stem + ".cpp1.ii")).value_or("");
  refuse_foreign_files(sandbox, tools, preprocessed, display);
  if (!nvcc.ok()) {
    std::string text = to_user(messages.text, submission.name, display);
    // The preprocessor failed, so its output is gone; its messages may quote what it read.
    std::string solutions = (checkout() / "solutions").string();
    if (options.isolation == Isolation::plain && messages.text.find(solutions) != std::string::npos)
      text = display + ": error: it includes a file of " + solutions + "\n";
    text += limits_reached(nvcc, options.limits);
    throw CompileError(display, text.empty() ? "nvcc: " + describe(nvcc) + "\n" : text);
  }

  Artifact artifact;
  artifact.arch = arch;
  artifact.ptx = canonical(read_file(sandbox.output() / (stem + ".ptx")).value_or(""));
  artifact.cubin = read_file(sandbox.output() / "out.cubin").value_or("");
  artifact.registers = messages.registers;
  artifact.warnings = messages.text;
  if (artifact.ptx.empty() || artifact.cubin.empty())
    throw Error(tools.nvcc.string() + " left no PTX or cubin of " + display +
                ": is its installation whole?");

  if (!tools.nvdisasm.empty()) {
    argv = {tools.nvdisasm.string()};
    argv.insert(argv.end(), kListingFlags.begin(), kListingFlags.end());
    argv.push_back(cubin);
    ProcessLimits limits = options.limits;
    limits.wall_seconds = kListingSeconds;
    limits.output_bytes = kListing;
    Outcome listing = sandbox.run(argv, limits);
    if (!listing.ok())
      throw Error("nvdisasm failed on " + display + " (" + describe(listing) +
                  "): " + listing.err.substr(0, listing.err.find('\n')));
    artifact.sass = canonical(listing.out);
  }
  return artifact;
}

// All that the result depends on. The CUDA headers come with nvcc, C++'s with gcc.
std::string everything(const Submission& submission, const std::string& arch,
                       const std::string& behind) {
  std::string all = installed().identity + arch + "\n" + submission.name + "\n" + behind;
  for (const auto& flags : {kFlags, kListingFlags})
    for (const auto& flag : flags) all += flag + "\n";
  auto add = [&](const std::string& name, const std::string& text) {
    all += name + "\n" + std::to_string(text.size()) + "\n" + text;
  };
  for (const auto& [name, text] : submission.files) add(name, text);
  std::error_code error;
  std::map<std::string, std::string> headers;  // a directory lists its files in any order
  for (const auto& entry : fs::recursive_directory_iterator(checkout() / "labs/include", error))
    if (entry.is_regular_file(error))
      headers[entry.path().string()] = read_file(entry.path()).value_or("");
  for (const auto& [name, text] : headers) add(name, text);
  return all;
}

void say_once_that_plain() {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (!said.test_and_set())
    std::fprintf(stderr,
                 "lab32: bubblewrap cannot run here (%s): nvcc runs as a plain process with the "
                 "same limits\n",
                 isolation().reason.c_str());
}

}  // namespace

CompileOptions::CompileOptions() : isolation(toolchain::isolation().isolation) {
  limits.wall_seconds = kWallSeconds;
  limits.cpu_seconds = static_cast<uint64_t>(kWallSeconds);
  limits.memory_bytes = kMemory;
  limits.file_bytes = kLargestFile;
  limits.output_bytes = kMessages;
}

Artifact compile(const fs::path& source, const std::string& arch, const std::string& display_path) {
  CompileOptions options;
  if (options.isolation == Isolation::plain) say_once_that_plain();
  return compile(source, arch, display_path, options);
}

Artifact compile(const fs::path& source, const std::string& arch, const std::string& display_path,
                 const CompileOptions& options) {
  // nvcc hands it to a shell.
  if (!Pattern("sm_[0-9]{2,3}[af]?").match(arch))
    throw Error("'" + arch + "' is no GPU architecture: sm_90, say");
  Submission submission = read_submission(source, display_path);
  const std::string behind =
      options.behind ? options.behind(submission.files.at(submission.name)) : "";
  std::string key = cache_key(everything(submission, arch, behind));
  std::optional<Artifact> artifact;
  if (options.cache) artifact = load_cached(key);
  if (!artifact) {
    artifact = run_compilers(submission, behind, arch, display_path, options);
    if (options.cache) store_cached(key, *artifact);
  }
  artifact->source = display_path;
  for (std::string* text : {&artifact->ptx, &artifact->sass, &artifact->warnings})
    *text = to_user(*text, submission.name, display_path);
  return *artifact;
}

}  // namespace lab32::toolchain
