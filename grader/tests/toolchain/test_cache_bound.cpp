// The cache of compiled files is bounded in bytes.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "base/environment.h"
#include "base/error.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/cache.h"

using namespace lab32;
using namespace lab32::toolchain;
namespace fs = std::filesystem;

namespace {

uintmax_t bytes_in(const fs::path& folder) {
  uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

}  // namespace

TEST_CASE("toolchain: the cache stays below LAB32_CACHE_MB by removing the oldest entries") {
  tests::ScratchDirectory s;
  const ScopedEnvironmentVariable root(variables::kRoot, s.path.string()),
      home(variables::kCacheHome, s.path.string());
  const ScopedEnvironmentVariable bound(variables::kCacheMegabytes, "2");
  REQUIRE(cache_directory() == s.path / "lab32");
  CompiledArtifact artifact;
  artifact.sass = std::string(300'000, 'x');
  for (int i = 0; i < 20; ++i) {
    store_cached_artifact("key" + std::to_string(i), artifact);
    CHECK(bytes_in(s.path / "lab32/artifacts") <= 2'000'000);
    CHECK(load_cached_artifact("key" + std::to_string(i)));
  }
  CHECK_FALSE(load_cached_artifact("key0"));
  const ScopedEnvironmentVariable wrong(variables::kCacheMegabytes, "much");
  CHECK_THROWS_WITH_AS(store_cached_artifact("key", artifact),
                       "LAB32_CACHE_MB=much: it may be a number from 0 to 999999", MachineError);
}
