#include "runtime/profiler/list_unsupported.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/elf.h"
#include "base/error.h"
#include "base/files.h"
#include "base/pattern.h"
#include "base/text.h"
#include "runtime/profiler/libraries.h"
#include "runtime/profiler/nvcc_words.h"
#include "runtime/profiler/start.h"
#include "simulator/timing/profile.h"

namespace lab32::profiler {
namespace {

using Tell = void (*)(void* context, const char* name, const char* text);
using List = int (*)(const char* const* files, const char* profile, Tell tell, void* context);

constexpr int kUnsupported = 2;

// The runtime knows what it refuses.
List lister() {
  const std::string library = (runtime_directory() / kRuntime).string();
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* list = handle ? dlsym(handle, "lab32_list_unsupported") : nullptr;
  if (!list) throw Error(fmt::format("{} cannot be asked: {}", library, dlerror()));
  return reinterpret_cast<List>(list);
}

// Ours: what they import is not the program's.
bool is_inside_runtime(const std::string& path) {
  std::error_code error;
  return std::filesystem::equivalent(std::filesystem::path(path).parent_path(), runtime_directory(),
                                     error);
}

// "a.cu:12: " where one of the sources has the name; the first, without looking at comments.
std::string place_of(const std::string& name, const Program& program) {
  if (name.empty()) return {};
  std::vector<std::string> sources = program.words;
  sources.insert(sources.begin(), program.file);
  const Pattern whole("\\b" + name + "\\b");
  for (const std::string& source : sources) {
    if (!is_source(source)) continue;
    int number = 0;
    std::istringstream text(read_file(source).value_or(""));
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (whole.search(line)) return fmt::format("{}:{}: ", source, number);
    }
  }
  return {};
}

}  // namespace

int list_unsupported(const Program& program, const std::string& device) {
  const std::string profile = profile_of(device);
  const std::filesystem::path built = build_program(program, model::read_profile(profile).arch);
  struct Found {
    const Program& program;
    std::vector<std::string> lines;
  } found{program, {}};

  std::vector<std::string> files = {built.string()};
  for (const Library& library : loaded_libraries(built, runtime_directory())) {
    if (const auto why = refused_library(library.name))
      found.lines.push_back(*why);
    else if (!is_inside_runtime(library.path) && is_users_library(library.path))
      files.push_back(library.path);
  }
  std::vector<const char*> names;
  for (const std::string& file : files) names.push_back(file.c_str());
  names.push_back(nullptr);
  const auto tell = [](void* context, const char* name, const char* text) {
    auto& all = *static_cast<Found*>(context);
    all.lines.push_back(place_of(name, all.program) + text);
  };
  const int failed = lister()(names.data(), profile.c_str(), tell, &found);
  if (failed) throw Error(found.lines.back());
  for (const std::string& line : found.lines) fmt::print("{}\n", visible(line));
  const size_t n = found.lines.size();
  if (n == 0)
    fmt::print("lab32: {} names nothing that is not supported\n", program.file);
  else
    fmt::print("lab32: {} names {} that {} not supported\n", program.file,
               n == 1 ? "1 thing" : fmt::format("{} things", n), n == 1 ? "is" : "are");
  std::fflush(stdout);
  return n ? kUnsupported : 0;
}

}  // namespace lab32::profiler
