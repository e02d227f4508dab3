#include "toolchain/cache.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[] = "lab32-artifact/3\n";
// An entry has about 1.3 MB; instructors who grade more than a few hundred files can set
// LAB32_CACHE_MB.
constexpr uintmax_t kMostBytes = 400'000'000;

uintmax_t cache_size_limit() {
  const std::string words = environment_value(variables::kCacheMegabytes);
  if (words.empty()) return kMostBytes;
  if (words.size() > 6 || words.find_first_not_of("0123456789") != std::string::npos)
    throw MachineError("LAB32_CACHE_MB=" + words + ": it may be a number from 0 to 999999");
  return std::stoull(words) * 1'000'000;
}

fs::path directory() { return cache_directory() / "artifacts"; }

// A field consists of its length in decimal, a newline, and its bytes.
void append_length_prefixed_field(std::string& out, const std::string& field) {
  out += std::to_string(field.size()) + "\n" + field;
}

bool read_length_prefixed_field(const std::string& in, size_t& at, std::string& field) {
  size_t newline = in.find('\n', at);
  if (newline == std::string::npos || newline == at || newline - at > 12) return false;
  uint64_t size = 0;
  for (size_t i = at; i < newline; ++i) {
    if (in[i] < '0' || in[i] > '9') return false;
    size = size * 10 + static_cast<uint64_t>(in[i] - '0');
  }
  if (size > in.size() - newline - 1) return false;
  field = in.substr(newline + 1, size);
  at = newline + 1 + size;
  return true;
}

void evict_oldest_entries() {
  const uintmax_t most = cache_size_limit();
  std::error_code error;
  std::vector<std::tuple<fs::file_time_type, fs::path, uintmax_t>> entries;
  uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory(), error)) {
    const auto time = entry.last_write_time(error);
    const uintmax_t size = error ? 0 : entry.file_size(error);
    if (error) continue;  // another process may have just removed the file
    entries.emplace_back(time, entry.path(), size);
    bytes += size;
  }
  if (bytes <= most) return;
  std::sort(entries.begin(), entries.end());
  for (const auto& [time, path, size] : entries) {
    if (bytes <= most / 2) break;
    fs::remove(path, error);
    bytes -= size;
  }
}

}  // namespace

fs::path cache_directory() {
  std::error_code error;
  if (fs::exists(checkout_directory() / "Makefile", error))
    return checkout_directory() / "build/cache";
  for (const auto& [variable, below] :
       {std::pair{variables::kCacheHome, "lab32"}, {variables::kHome, ".cache/lab32"}})
    if (const std::string home = environment_value(variable); home[0] == '/')
      return fs::path(home) / below;
  const passwd* user = getpwuid(getuid());
  return fs::path(user ? user->pw_dir : "/nonexistent") / ".cache/lab32";
}

std::string cache_key(const std::string& text) {
  char digits[33];
  snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash_of(text)),
           static_cast<unsigned long long>(hash_of(text, 0x9e3779b97f4a7c15u)));
  return digits;
}

std::optional<std::string> load_cached_text(const std::string& key) {
  return read_file(directory() / key);
}

std::optional<CompiledArtifact> load_cached_artifact(const std::string& key) {
  const auto file = load_cached_text(key);
  if (!file) return std::nullopt;
  const std::string& in = *file;
  std::string registers;
  if (in.compare(0, sizeof kMagic - 1, kMagic) != 0) return std::nullopt;
  size_t at = sizeof kMagic - 1;
  CompiledArtifact a;
  for (std::string* field :
       {&a.source, &a.arch, &a.ptx, &a.cubin, &a.sass, &a.warnings, &registers})
    if (!read_length_prefixed_field(in, at, *field)) return std::nullopt;
  if (at != in.size()) return std::nullopt;
  std::istringstream pairs(registers);
  uint32_t count;
  for (std::string kernel; pairs >> kernel >> count;) a.registers[kernel] = count;
  return a;
}

void store_cached_artifact(const std::string& key, const CompiledArtifact& a) {
  std::string out = kMagic, registers;
  for (const auto& [kernel, count] : a.registers)
    registers += kernel + " " + std::to_string(count) + "\n";
  for (const std::string& field : {a.source, a.arch, a.ptx, a.cubin, a.sass, a.warnings, registers})
    append_length_prefixed_field(out, field);
  store_cached_text(key, out);
}

void store_cached_text(const std::string& key, const std::string& text) {
  static std::atomic<int> serial{0};
  std::error_code error;
  fs::create_directories(directory(), error);
  fs::path temporary = directory() / (key + "." + std::to_string(getpid()) + "." +
                                      std::to_string(serial.fetch_add(1)) + ".new");
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file)
    fs::rename(temporary, directory() / key, error);
  else
    fs::remove(temporary, error);
  evict_oldest_entries();
}

}  // namespace lab32::toolchain
