// nvdisasm on a cubin that nobody compiled here: one that lies in a program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/process.h"

namespace lab32::toolchain {

// What simulator/sass/listing.h reads.
extern const std::vector<std::string> kListingFlags;

// nvdisasm's listing of a file, which `run` starts. Where jumps through a table lead is found by
// its analysis of data flow, a quarter of its time: only a listing that has such jumps is made with
// it.
Outcome list_machine_code(const std::string& cubin_file,
                          const std::function<Outcome(const std::vector<std::string>& argv)>& run);

// The text of Artifact::sass; empty when there is no nvdisasm on this machine. Kept in the cache.
// Throws Error when nvdisasm fails.
std::string disassemble(const std::string& cubin);

}  // namespace lab32::toolchain
