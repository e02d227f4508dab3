// A cache of compiled artifacts and of other slow, reproducible texts, keyed by a hash of
// everything that they depend on. A run of the grader often sees the same text again: a student
// edits one lab of six, and the tests compile the same kernels.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "toolchain/artifact.h"

namespace lab32::toolchain {

// The directory for files that can be made again: build/cache of a checkout, or the user's own
// cache directory for an installed copy, which need not be writable.
std::filesystem::path cache_directory();

// 128 bits in hexadecimal digits. The hash is not secure against an adversary: a user who can write
// the cache owns the grader anyway.
std::string cache_key(const std::string& text);

// nullopt: no such entry, or it is incomplete.
std::optional<CompiledArtifact> load_cached_artifact(const std::string& key);
// nullopt: no such entry.
std::optional<std::string> load_cached_text(const std::string& key);
// Entries are written to a temporary file and renamed, so that a reader never sees an incomplete
// one. It is no error if the cache cannot be written. When it exceeds 400 MB (LAB32_CACHE_MB), the
// oldest entries are removed until half of that remains.
void store_cached_artifact(const std::string& key, const CompiledArtifact& artifact);
void store_cached_text(const std::string& key, const std::string& text);

}  // namespace lab32::toolchain
