#include "model/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"

namespace lab32::model {
namespace {

namespace fs = std::filesystem;

fs::path directory() { return fs::path(LAB32_ROOT) / "data" / "devices"; }

class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path) {
    try {
      table_ = toml::parse_file(path.string());
    } catch (const toml::parse_error& e) {
      throw Error(fmt::format("{}:{}: {}", path.string(), e.source().begin.line, e.description()));
    }
  }

  template <class T>
  T get(const std::string& key) const {
    const auto value = table_.at_path(key).value<T>();
    if (!value)
      throw Error(fmt::format("{}: `{}` is missing or of the wrong type", path_.string(), key));
    return *value;
  }

  std::array<uint32_t, 3> triple(const std::string& key) const {
    std::array<uint32_t, 3> out{};
    for (size_t i = 0; i < 3; ++i)
      out[i] = static_cast<uint32_t>(get<int64_t>(fmt::format("{}[{}]", key, i)));
    return out;
  }

 private:
  fs::path path_;
  toml::table table_;
};

}  // namespace

std::vector<std::string> profile_ids() {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory(), ignored))
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

Profile read_profile(const std::string& id) {
  const fs::path path = directory() / (id + ".toml");
  if (!fs::exists(path))
    throw Error(fmt::format("there is no device profile `{}`; there are: {}", id,
                            fmt::join(profile_ids(), ", ")));
  const Reader in(path);
  Profile p;
  p.id = id;
  p.name = in.get<std::string>("name");
  p.arch = in.get<std::string>("arch");
  p.multiprocessors = static_cast<uint32_t>(in.get<int64_t>("multiprocessors"));
  p.max_threads_per_block = static_cast<uint32_t>(in.get<int64_t>("block.max_threads"));
  p.shared_bytes_opt_in = static_cast<uint32_t>(in.get<int64_t>("block.shared_bytes_opt_in"));
  p.max_grid = in.triple("block.max_grid");
  p.max_block = in.triple("block.max_dim");
  p.dram_bytes = static_cast<uint64_t>(in.get<int64_t>("memory.dram_bytes"));
  return p;
}

}  // namespace lab32::model
