#include "toolchain/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "base/environment.h"
#include "base/error.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

bool is_executable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// Reads the lines NAME=value that the set-up scripts have written.
std::map<std::string, std::string> read_settings(const fs::path& path) {
  std::map<std::string, std::string> settings;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    size_t equals = line.find('=');
    if (equals != std::string::npos) settings[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return settings;
}

fs::path find_program_in_path(const std::string& path, const std::string& program) {
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    fs::path candidate = fs::path(path.substr(begin, end - begin)) / program;
    if (candidate.is_absolute() && is_executable_file(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

// Searches the wheels, whose layout is nvidia/cu13/{bin,nvvm,include}, with one prefix for all of
// them.
fs::path find_program_in_wheels(const fs::path& packages, const std::string& program) {
  std::error_code error;
  for (const auto& cuda : fs::directory_iterator(packages / "nvidia", error)) {
    fs::path candidate = cuda.path() / "bin" / program;
    if (is_executable_file(candidate)) return candidate;
  }
  return {};
}

// If lab32 is an installed wheel, its root is PACKAGES/lab32/tree, and nvcc's wheels are in
// PACKAGES.
fs::path find_program_in_sibling_wheels(const fs::path& root, const std::string& program) {
  return root.filename() == "tree"
             ? find_program_in_wheels(root.parent_path().parent_path(), program)
             : fs::path();
}

fs::path find_program_in_venv_wheels(const fs::path& folder_with_venv, const std::string& program) {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(folder_with_venv / ".venv/lib", error))
    if (fs::path found = find_program_in_wheels(python.path() / "site-packages", program);
        !found.empty())
      return found;
  return {};
}

// Tells the user how to install a missing program.
std::string install_hint(const fs::path& root, const std::string& otherwise) {
  std::error_code error;
  return fs::exists(root / "Makefile", error) ? "`make grade` installs it" : otherwise;
}

fs::path program_named_by_user(const char* variable, const std::string& value) {
  if (value.empty()) return {};
  if (is_executable_file(value)) return fs::absolute(value);
  throw Error(std::string(variable) + "=" + value + " is not a program: correct it or unset it");
}

fs::path find_program(const ToolchainSearchPlaces& where, const std::string& program,
                      const std::string& setting) {
  if (is_executable_file(setting)) return setting;
  if (fs::path found = find_program_in_sibling_wheels(where.root, program); !found.empty())
    return found;
  if (fs::path found = find_program_in_path(where.path, program); !found.empty()) return found;
  if (fs::path found = where.usual / "bin" / program; is_executable_file(found)) return found;
  return find_program_in_venv_wheels(where.root, program);
}

// A program in PREFIX/bin finds its parts in PREFIX, starting from its real path.
fs::path install_prefix_of(const fs::path& program) {
  return fs::canonical(program).parent_path().parent_path();
}

void add_readable_root(std::vector<fs::path>& roots, const fs::path& directory) {
  std::error_code error;
  fs::path real = fs::canonical(directory, error);
  if (error) return;
  for (const auto& root : roots)
    if (is_inside(real, root)) return;
  roots.push_back(real);
}

}  // namespace

std::string identity_of(const fs::path& program) {
  struct stat s {};
  fs::path real = fs::canonical(program);
  stat(real.c_str(), &s);
  return real.string() + ":" + std::to_string(s.st_size) + ":" + std::to_string(s.st_mtim.tv_sec) +
         "." + std::to_string(s.st_mtim.tv_nsec) + "\n";
}

bool is_inside(const fs::path& path, const fs::path& directory) {
  auto ends = std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return ends.first == directory.end();
}

Toolchain find_toolchain(const ToolchainSearchPlaces& where) {
  Toolchain t;
  auto settings = read_settings(where.root / "build/toolchain.env");
  t.nvcc = program_named_by_user("LAB32_NVCC", where.nvcc);
  if (t.nvcc.empty()) t.nvcc = find_program(where, "nvcc", settings["NVCC"]);
  if (t.nvcc.empty())
    throw MachineError("no nvcc on this machine (looked in LAB32_NVCC, PATH, " +
                       (where.usual / "bin").string() + " and " + (where.root / ".venv").string() +
                       "): " + install_hint(where.root, "install it, or name it in LAB32_NVCC"));
  fs::path home = settings["CUDA_HOME"];
  t.cuda_home = t.nvcc == settings["NVCC"] && fs::is_directory(home) ? fs::canonical(home)
                                                                     : install_prefix_of(t.nvcc);
  t.nvdisasm = program_named_by_user("LAB32_NVDISASM", where.nvdisasm);
  if (t.nvdisasm.empty() && is_executable_file(settings["NVDISASM"]))
    t.nvdisasm = settings["NVDISASM"];
  if (t.nvdisasm.empty() && is_executable_file(t.cuda_home / "bin/nvdisasm"))
    t.nvdisasm = t.cuda_home / "bin/nvdisasm";
  if (t.nvdisasm.empty()) t.nvdisasm = find_program(where, "nvdisasm", "");
  // The path must be canonical: links, such as .venv may be, do not exist inside the sandbox.
  if (!t.nvdisasm.empty()) t.nvdisasm = fs::canonical(t.nvdisasm);

  // nvcc calls gcc by name and needs only its preprocessor. A compiler from another source (a
  // module, conda) is in a prefix of its own with its headers. One in ~/bin would have the whole
  // home directory as its prefix, which the sandbox must not open: Debian's is then used.
  std::error_code error;
  fs::path root = fs::weakly_canonical(where.root, error);
  t.host_compiler = find_program_in_path(where.path, "gcc");
  if (t.host_compiler.empty() || is_inside(root, install_prefix_of(t.host_compiler)))
    t.host_compiler = find_program_in_path("/usr/local/bin:/usr/bin", "gcc");
  if (t.host_compiler.empty())
    throw MachineError(
        "no gcc on this machine, which nvcc needs: " +
        install_hint(where.root, "install it, for example with apt-get install g++"));
  if (is_inside(root, t.cuda_home) && t.cuda_home != "/usr")
    throw Error(t.nvcc.string() + " is not in a CUDA directory of its own (" +
                t.cuda_home.string() + " holds this checkout): name the real nvcc in LAB32_NVCC");

  for (const char* system : {"/usr", "/lib", "/lib64", "/bin"}) add_readable_root(t.roots, system);
  add_readable_root(t.roots, t.cuda_home);
  add_readable_root(t.roots, install_prefix_of(t.host_compiler));
  // For nvdisasm from a wheel, only its own directory is readable, and not the whole environment.
  if (!t.nvdisasm.empty()) add_readable_root(t.roots, t.nvdisasm.parent_path());

  t.path = t.host_compiler.parent_path().string() + ":/usr/local/bin:/usr/bin:/bin";
  t.identity = identity_of(t.nvcc) + identity_of(t.host_compiler);
  if (!t.nvdisasm.empty()) t.identity += identity_of(t.nvdisasm);
  return t;
}

fs::path checkout_directory() {
  std::error_code error;
  fs::path real = fs::canonical(lab32_root(), error);
  return error ? lab32_root() : real;
}

const Toolchain& installed_toolchain() {
  static const Toolchain found = find_toolchain(
      {checkout_directory(), environment_value(variables::kNvcc),
       environment_value(variables::kNvdisasm), environment_value(variables::kPath)});
  return found;
}

}  // namespace lab32::toolchain
