#include "toolchain/nvcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "toolchain/artifact.h"
#include "toolchain/cache.h"
#include "toolchain/machine_code.h"
#include "toolchain/sandbox.h"
#include "toolchain/submission.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

// ---- the limits ------------------------------------------------------------------------------
// For comparison: the kernels of a lab take 0.3 s and 300 MB.

constexpr uint64_t kCpuSeconds = 20;  // limit of each process: the submission can be blamed for it
constexpr double kWallSeconds = 120;  // nvcc and all that it calls, on a busy machine
constexpr uint64_t kMemory = 1408ull << 20;  // limit of each process; they run one after the other
constexpr uint64_t kLargestFile = 64ull << 20;  // a preprocessed text has 1 MB, or 10 MB with CUB
constexpr uint64_t kMessages = 256ull << 10;    // limit of stdout and of stderr
constexpr uint64_t kListingCpuSeconds = 10;     // nvdisasm
constexpr uint64_t kListing = 256ull << 20;     // limit of the listing's text

// -lineinfo: positions for messages and counters; with it ptxas also records the PTX line of every
// instruction, by which SASS and PTX are matched. -v: the registers of each kernel.
const std::vector<std::string> kFlags = {"-x",     "cu",     "-std=c++17", "-lineinfo",
                                         "-cubin", "--keep", "-Xptxas=-v"};
const std::vector<std::string> kDebugFlags = {"-x", "cu", "-std=c++17", "-G", "-ptx"};

void write_into_sandbox(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw MachineError(path.string() + " cannot be written: is the disk of TMPDIR full?");
}

// More than a compilation needs. If this much cannot be written even after its files were removed,
// the disk was full, and the failure was not the submission's.
constexpr size_t kRoom = 8 << 20;

void clear_output_and_test_disk_write(const Sandbox& sandbox) {
  sandbox.clear_output();
  write_into_sandbox(sandbox.output() / "room", std::string(kRoom, ' '));
}

// ---- from the sandbox's paths to the user's --------------------------------------------------

// Replaces `from` where a path begins, and not inside a longer path.
std::string replace_path_prefix(const std::string& text, const std::string& from,
                                const std::string& to) {
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

// Removes "DIR/../" steps: a file that includes itself by __FILE__ adds one per level.
std::string with_adjacent_repeats_removed(const std::string& text, const std::string& way) {
  std::string out;
  size_t at = 0;
  for (size_t hit; (hit = text.find(way + way, at)) != std::string::npos; at = hit + way.size())
    out.append(text, at, hit - at);
  return out.append(text, at);
}

// labs/include, relative to the user's working directory if it is below that.
std::string display_include_path() {
  fs::path include = checkout_directory() / "labs/include";
  std::error_code error;
  fs::path here = fs::current_path(error);
  return !error && is_inside(include, here) ? include.lexically_relative(here).string()
                                            : include.string();
}

// Replaces the paths of the sandbox (and of the cache) by the user's.
std::string replace_sandbox_paths(const std::string& text, const std::string& name,
                                  const std::string& display) {
  std::string beside = fs::path(display).parent_path().string();
  if (!beside.empty()) beside += "/";
  std::string out = replace_path_prefix(text, "/submission/" + name, display);
  out = replace_path_prefix(out, "/submission/", beside);
  return replace_path_prefix(out, "/include/", display_include_path() + "/");
}

// ---- nvcc's messages ---------------------------------------------------------------------------

// What the compilers print: lines of "ptxas info" with their continuation are there because lab32
// passes -v, and give the registers; the rest is the compilers' own text.
struct CompilerTextAndRegisters {
  std::string text;
  std::map<std::string, uint32_t> registers;
};

CompilerTextAndRegisters split_messages(const std::string& err) {
  static const RegularExpression entry("Compiling entry function '([^']+)'"),
      used("Used ([0-9]+) registers");
  CompilerTextAndRegisters result;
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

void refuse_foreign_files(const Sandbox& sandbox, const Toolchain& toolchain,
                          const OpenedFilesAndMessages& opened, const std::string& display) {
  const FilesReadableByCompiler readable({sandbox.submission(), sandbox.include()},
                                         toolchain.roots);
  for (const auto& file : opened.files)
    if (!readable.allows(file, sandbox.output()))
      throw CompileError(display, display + ": error: it includes " + visible_name(file.string()) +
                                      ", but may include only lab32.cuh, headers beside it and "
                                      "those of CUDA and C++\n");
}

std::string text_of_reached_limits(const ProcessOutcome& outcome, const ProcessLimits& limits,
                                   bool shown) {
  auto number = [](double x) {
    std::ostringstream s;
    s << x;
    return s.str();
  };
  if (outcome.end == ProcessOutcome::End::output_exceeded)
    return "nvcc was stopped: more than " + std::to_string(limits.output_bytes >> 10) +
           " KiB of messages" + (shown ? "; the first of them are above\n" : "\n");
  bool died = outcome.end == ProcessOutcome::End::signalled;
  for (const char* sign : {"died due to signal", "out of memory", "Out of memory", "bad_alloc",
                           "memory exhausted", "Killed", "File size limit"})
    died |= outcome.err.find(sign) != std::string::npos;
  if (!died) return {};
  return "nvcc was stopped: a compilation may take " +
         number(static_cast<double>(limits.memory_bytes) / (1 << 30)) + " GiB of memory, " +
         std::to_string(limits.cpu_seconds) + " seconds of CPU time and files of " +
         std::to_string(limits.file_bytes >> 20) + " MiB\n";
}

// Whether gcc's last message says that its compiler was killed. A submission can have such lines
// printed by #pragma, but only within or before the message of an error.
bool reports_killed_gcc(const std::string& err) {
  std::vector<std::string> lines;
  std::istringstream text(err);
  for (std::string line; std::getline(text, line);)
    if (line.rfind("nvcc fatal", 0) != 0) lines.push_back(line);
  if (lines.size() < 2 || lines.back() != "compilation terminated.") return false;
  const std::string& last = lines[lines.size() - 2];
  const size_t gcc = last.find(": fatal error: Killed signal terminated program ");
  return gcc != std::string::npos && last.find_first_of(":/ ") == gcc &&
         std::none_of(lines.begin(), lines.end(), [](const std::string& line) {
           return line.find(": error: ") != std::string::npos;
         });
}

// The submission is responsible for CPU time only. If the time limit was reached without using the
// CPU, the machine was too busy.
void throw_if_timed_out(const ProcessOutcome& outcome, const std::string& program, double seconds) {
  if (outcome.end == ProcessOutcome::End::timed_out)
    throw MachineError(fmt::format(
        "{} had not ended after {} seconds: is this machine busy? Grade again", program, seconds));
}

bool reached_cpu_limit(const ProcessOutcome& outcome, const ProcessLimits& limits) {
  // bubblewrap turns a signal into an exit status.
  const int signal =
      outcome.end == ProcessOutcome::End::signalled ? outcome.status : outcome.status - 128;
  return (signal == SIGKILL || signal == SIGXCPU) &&
         outcome.seconds >= static_cast<double>(limits.cpu_seconds);
}

// Reports a compiler that something else has killed, such as the kernel for lack of memory. lab32's
// own limits end it in another way, or later.
void throw_if_compiler_killed_by_system(const ProcessOutcome& outcome,
                                        const ProcessLimits& limits) {
  if (outcome.seconds >= static_cast<double>(limits.cpu_seconds)) return;
  bool killed = outcome.end == ProcessOutcome::End::signalled && outcome.status == SIGKILL;
  if (outcome.end == ProcessOutcome::End::exited) {
    // bubblewrap and shells turn a signal into an exit status. Errors end nvcc with 1 or 2,
    // whatever their text says.
    killed |= outcome.status == 128 + SIGKILL;
    killed |= outcome.status > 2 && outcome.err.find("died due to signal 9 (") != std::string::npos;
    killed |= outcome.status == 1 && reports_killed_gcc(outcome.err);
  }
  if (killed)
    throw MachineError(
        "nvcc, or a compiler that it started, was killed; perhaps this machine is short of memory");
}

// Zeroed arrays cost a compiler nothing, but their whole size is allocated wherever they are
// loaded.
void refuse_excess_variable_bytes(const std::string& ptx, const std::string& display,
                                  uint64_t most) {
  const uint64_t bytes = variable_bytes(ptx);
  if (bytes <= most) return;
  throw CompileError(display, display + ": error: its __device__ and __constant__ variables take " +
                                  grouped_digits(bytes) + " bytes; a lab may have " +
                                  grouped_digits(most) + " in all\n");
}

// Writes what the compilers see: the submission's files, without #line directives, which would make
// messages point at other files.
void write_submission(const Sandbox& sandbox, const Submission& submission,
                      const CodeAroundSubmission& around) {
  const std::string inner = sandbox.submission_path_in_sandbox() + "/" + submission.name;
  const auto named = [&](const std::string& text) {
    return RegularExpression("@SUBMISSION@").replace(text, inner);
  };
  for (const auto& [name, text] : submission.files) {
    std::string compiled = without_line_directives(text);
    if (name == submission.name && !around.before.empty())
      compiled = named(around.before) + "#line 1 \"" + inner + "\"\n" + compiled;
    if (name == submission.name && !around.behind.empty())
      compiled += "\n\n" + named(around.behind);
    write_into_sandbox(sandbox.submission() / name, compiled);
  }
}

CompiledArtifact run_compilers(const Submission& submission, const CodeAroundSubmission& around,
                               const std::string& arch, const std::string& display,
                               const SandboxedCompileSettings& options) {
  const Toolchain& tools = installed_toolchain();
  Sandbox sandbox(tools, checkout_directory() / "labs/include", options.isolation);
  write_submission(sandbox, submission, around);
  const std::string inner = sandbox.submission_path_in_sandbox() + "/" + submission.name;

  // Without bubblewrap the paths in messages are relative, or nvcc has made them absolute. They are
  // now replaced by those that bubblewrap would give.
  const bool lists_opened_files = options.isolation != Isolation::bubblewrap;
  auto canonical = [&](std::string text) {
    if (!lists_opened_files) return text;
    text = with_adjacent_repeats_removed(text, sandbox.submission_path_in_sandbox() + "/");
    const std::string here = sandbox.output().string() + "/";
    for (const auto& [inner_path, path] :
         {std::pair{sandbox.submission_path_in_sandbox(), "/submission"},
          {sandbox.include_path_in_sandbox(), "/include"}})
      text =
          replace_path_prefix(replace_path_prefix(text, here + inner_path, path), inner_path, path);
    return text;
  };
  std::string stem = fs::path(submission.name).stem().string();
  std::string cubin = sandbox.output_folder_in_sandbox() + "/out.cubin";

  std::vector<std::string> argv{tools.nvcc.string()};
  argv.insert(argv.end(), kFlags.begin(), kFlags.end());
  if (lists_opened_files)
    argv.insert(argv.end(), kReportOpenedFiles.begin(), kReportOpenedFiles.end());
  for (const std::string& word :
       {"-arch=" + arch, "-I" + sandbox.include_path_in_sandbox(),
        "--keep-dir=" + sandbox.output_folder_in_sandbox(), "--output-file=" + cubin, inner})
    argv.push_back(word);
  ProcessOutcome nvcc = sandbox.run(argv, options.limits);
  OpenedFilesAndMessages opened{{}, nvcc.out + nvcc.err};
  if (lists_opened_files) {
    opened = split_off_opened_files(nvcc.out + nvcc.err);
    refuse_foreign_files(sandbox, tools, opened, display);
    // The list of opened files is cut off, so it is not known which files the messages quote; they
    // are dropped.
    if (nvcc.end == ProcessOutcome::End::output_exceeded) opened.messages.clear();
  }
  const CompilerTextAndRegisters messages = split_messages(canonical(opened.messages));
  if (!nvcc.ok()) {
    clear_output_and_test_disk_write(sandbox);
    throw_if_timed_out(nvcc, "nvcc", options.limits.wall_seconds);
    throw_if_compiler_killed_by_system(nvcc, options.limits);
    std::string text = without_warnings(
        use_source_spelling(replace_sandbox_paths(messages.text, submission.name, display)));
    text = move_to_unclosed_macro(text, submission.text(), display);
    text += text_of_reached_limits(nvcc, options.limits, !text.empty());
    throw CompileError(display, text.empty() ? "nvcc: " + describe(nvcc) + "\n" : text);
  }

  CompiledArtifact artifact;
  artifact.arch = arch;
  artifact.ptx = canonical(read_file(sandbox.output() / (stem + ".ptx")).value_or(""));
  artifact.cubin = read_file(sandbox.output() / "out.cubin").value_or("");
  artifact.registers = messages.registers;
  artifact.warnings = use_source_spelling(messages.text);
  if (artifact.ptx.empty() || artifact.cubin.empty())
    throw MachineError(tools.nvcc.string() + " left no PTX or cubin of " + display +
                       ": is its installation complete?");

  refuse_excess_variable_bytes(artifact.ptx, display, options.variables);
  if (!tools.nvdisasm.empty()) {
    ProcessLimits limits = options.limits;
    limits.cpu_seconds = std::min(limits.cpu_seconds, kListingCpuSeconds);
    limits.output_bytes = kListing;
    ProcessOutcome listing = list_machine_code(
        cubin, [&](const auto& arguments) { return sandbox.run(arguments, limits); });
    throw_if_timed_out(listing, "nvdisasm", limits.wall_seconds);
    if (listing.end == ProcessOutcome::End::output_exceeded || reached_cpu_limit(listing, limits))
      throw CompileError(display,
                         display + ": error: its machine code is too long: nvdisasm was stopped\n");
    if (!listing.ok())
      throw MachineError("nvdisasm failed on " + display + " (" + describe(listing) +
                         "): " + listing.err.substr(0, listing.err.find('\n')));
    artifact.sass = canonical(listing.out);
  }
  return artifact;
}

// Compiles a text that has compiled before, so a failure needs no message.
std::string compile_debug_ptx(const Submission& submission, const CodeAroundSubmission& around,
                              const std::string& arch, const SandboxedCompileSettings& options) {
  // -G defines a macro, so this compilation may open files that were not checked.
  if (options.isolation == Isolation::plain) return "";
  const Toolchain& tools = installed_toolchain();
  Sandbox sandbox(tools, checkout_directory() / "labs/include", options.isolation);
  write_submission(sandbox, submission, around);
  std::vector<std::string> argv{tools.nvcc.string()};
  argv.insert(argv.end(), kDebugFlags.begin(), kDebugFlags.end());
  for (const std::string& word :
       {"-arch=" + arch, "-I" + sandbox.include_path_in_sandbox(),
        "--output-file=" + sandbox.output_folder_in_sandbox() + "/debug.ptx",
        sandbox.submission_path_in_sandbox() + "/" + submission.name})
    argv.push_back(word);
  if (!sandbox.run(argv, options.limits).ok()) return "";
  return read_file(sandbox.output() / "debug.ptx").value_or("");
}

// Everything on which the result depends. nvcc's identity stands for the CUDA headers, gcc's for
// those of C++.
std::string cache_key_text(const Submission& submission, const std::string& arch,
                           const CodeAroundSubmission& around) {
  std::string all = installed_toolchain().identity + arch + "\n" + submission.name + "\n" +
                    around.before + "\n" + around.behind;
  for (const auto& flags : {kFlags, kListingFlags})
    for (const auto& flag : flags) all += flag + "\n";
  auto add = [&](const std::string& name, const std::string& text) {
    all += name + "\n" + std::to_string(text.size()) + "\n" + text;
  };
  for (const auto& [name, text] : submission.files) add(name, text);
  std::error_code error;
  // The files are sorted, since a directory lists them in any order.
  std::map<std::string, std::string> headers;
  for (const auto& entry :
       fs::recursive_directory_iterator(checkout_directory() / "labs/include", error))
    if (entry.is_regular_file(error))
      headers[entry.path().string()] = read_file(entry.path()).value_or("");
  for (const auto& [name, text] : headers) add(name, text);
  return all;
}

std::string debug_ptx(const Submission& submission, const CodeAroundSubmission& around,
                      const std::string& arch, const SandboxedCompileSettings& options,
                      const std::string& key_of_artifact) {
  const std::string key = cache_key(key_of_artifact + " with types");
  if (options.cache)
    if (const auto known = load_cached_artifact(key)) return known->ptx;
  CompiledArtifact artifact;
  artifact.ptx = compile_debug_ptx(submission, around, arch, options);
  if (options.cache && !artifact.ptx.empty()) store_cached_artifact(key, artifact);
  return artifact.ptx;
}

void warn_once_about_isolation(Isolation isolation) {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (said.test_and_set() || toolchain::best_isolation().reason.empty()) return;
  std::fprintf(stderr, "lab32: bubblewrap cannot run here (%s): %s; `lab32 doctor` says more\n",
               visible(toolchain::best_isolation().reason).c_str(),
               isolation == Isolation::landlock ? "Landlock closes off the compilers instead"
                                                : "the compilers run as plain processes");
}

}  // namespace

SandboxedCompileSettings::SandboxedCompileSettings()
    : isolation(toolchain::best_isolation().isolation) {
  limits.wall_seconds = kWallSeconds;
  limits.cpu_seconds = kCpuSeconds;
  limits.memory_bytes = kMemory;
  limits.file_bytes = kLargestFile;
  limits.output_bytes = kMessages;
}

CompiledArtifact compile(const fs::path& source, const std::string& arch,
                         const std::string& display_path) {
  return compile(source, arch, display_path, SandboxedCompileSettings());
}

CompiledArtifact compile(const fs::path& source, const std::string& arch,
                         const std::string& display_path, const SandboxedCompileSettings& options) {
  return compile(read_submission(source, display_path), arch, display_path, options);
}

CompiledArtifact compile(const Submission& submission, const std::string& arch,
                         const std::string& display_path, const SandboxedCompileSettings& options) {
  // nvcc passes the architecture to a shell, so it must be harmless.
  if (!RegularExpression("sm_[0-9]{2,3}[af]?").match(arch))
    throw Error("'" + arch + "' is not a GPU architecture; an example is sm_90");
  const CodeAroundSubmission around =
      options.around ? options.around(submission.text()) : CodeAroundSubmission();
  std::string key = cache_key(cache_key_text(submission, arch, around));
  std::optional<CompiledArtifact> artifact;
  if (options.cache) artifact = load_cached_artifact(key);
  if (!artifact) {
    if (options.isolation != Isolation::bubblewrap) warn_once_about_isolation(options.isolation);
    artifact = run_compilers(submission, around, arch, display_path, options);
    if (options.cache) store_cached_artifact(key, *artifact);
  }
  artifact->source = display_path;
  artifact->debug_ptx = [=] { return debug_ptx(submission, around, arch, options, key); };
  for (std::string* text : {&artifact->ptx, &artifact->sass, &artifact->warnings})
    *text = replace_sandbox_paths(*text, submission.name, display_path);
  return *artifact;
}

}  // namespace lab32::toolchain
