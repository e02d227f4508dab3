// Compiled artifacts by the hash of all that they depend on. A grader run often sees the text it
// saw before: a student edits one lab of six, the tests compile the same kernels. And what else
// takes seconds and comes out the same: texts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "toolchain/artifact.h"

namespace lab32::toolchain {

// What can be made anew lies there: build/cache of a checkout; of an installed copy, which need not
// be writable, the user's own cache.
std::filesystem::path cache_directory();

// 128 bits in hexadecimal digits. Not against an adversary: who can write the cache owns the
// grader anyway.
std::string cache_key(const std::string& text);

// nullopt: not there, or not whole.
std::optional<Artifact> load_cached(const std::string& key);
// nullopt: not there.
std::optional<std::string> load_cached_text(const std::string& key);
// Written beside and renamed, so that a reader never sees half of it. A cache that cannot be
// written is no error. Past 400 MB in all (LAB32_CACHE_MB) the oldest entries go, down to half of
// that.
void store_cached(const std::string& key, const Artifact& artifact);
void store_cached_text(const std::string& key, const std::string& text);

}  // namespace lab32::toolchain
