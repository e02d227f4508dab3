// nvdisasm on a cubin that nobody compiled here: one that lies in a program.
#pragma once

#include <string>
#include <vector>

namespace lab32::toolchain {

// What simulator/sass/listing.h reads.
extern const std::vector<std::string> kListingFlags;

// The text of Artifact::sass; empty when there is no nvdisasm on this machine. Kept in the cache.
// Throws Error when nvdisasm fails.
std::string disassemble(const std::string& cubin);

}  // namespace lab32::toolchain
