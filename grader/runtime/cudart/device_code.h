// Reads the device code that nvcc embeds in a program: fat binaries with a PTX text or cubin for
// each architecture. choose_device_code() returns the code that a GPU would run; read_cubin()
// returns the registers and memory that each kernel needs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/artifact.h"

namespace lab32::cudart {

struct FatbinEntry {
  enum class Kind : uint8_t { ptx, cubin };
  Kind kind = Kind::ptx;
  uint32_t arch = 0;  // 90
  enum class Packing : uint8_t { none, lz4, zstd } packing = Packing::none;
  uint64_t plain_bytes = 0;  // bytes after unpacking
  std::string_view bytes;    // the packed bytes in the program
};

struct FatbinEntries {
  std::vector<FatbinEntry> entries;
  // For a linked program (nvcc -rdc=true) `entries` has the linked cubins, and `parts` has the
  // entries of each source file.
  std::vector<std::vector<FatbinEntry>> parts;
};

// Whether the bytes at `image` begin with a fat binary: a wrapper or a block of entries.
bool is_fatbin(const void* image);

// Reads a wrapper (__fatBinC_Wrapper_t of the toolkit, the argument of __cudaRegisterFatBinary) or
// a block of entries. Throws Error if the format is unknown.
FatbinEntries read_fatbin(const void* wrapper);

// Builds a block of entries that contains both; `arch` is a number such as 90.
std::string write_fatbin(const std::string& ptx, const std::string& cubin, uint32_t arch);

// Reads the consecutive blocks in a section of a program. Throws Error if the format is unknown.
std::vector<std::vector<FatbinEntry>> read_fatbin_blocks(std::string_view section);

// The entry's content, unpacked. Throws Error if it cannot be unpacked.
std::string unpack_fatbin_entry(const FatbinEntry& entry);

// The kernels of a module that use a fence or an access of system scope. If a device function uses
// one, all kernels count.
std::set<std::string> kernels_using_system_scope(const std::string& ptx);

struct DeviceCode {
  std::string ptx;
  std::string name;  // the artifact's name
  toolchain::Places places;
  std::string cubin;  // empty: none for this architecture
  // If the PTX was linked from several texts: ptx::LinkedPtx::lines_before; otherwise empty.
  std::map<std::string, int> lines_before;
};

// What a GPU of `arch` ("sm_90") would run, unpacked: the newest PTX that it can translate, and the
// cubin built from it. The PTX of a linked program is linked from its parts. Throws Error if there
// is no such PTX.
DeviceCode choose_device_code(const FatbinEntries& binary, const std::string& arch);

// What ptxas reports for each kernel of a cubin. Occupancy and cudaFuncGetAttributes need it.

struct KernelRegistersAndStack {
  uint32_t registers = 0;    // per thread
  uint32_t local_bytes = 0;  // stack frame of a thread
};

struct CubinResourceUsage {
  std::map<std::string, KernelRegistersAndStack> kernels;  // by symbol
  uint32_t constant_bytes = 0;  // size of the module's __constant__ variables
};

// Throws Error if the text is not a cubin.
CubinResourceUsage read_cubin(const std::string& cubin);

// Changes the listing of a linked cubin to use line numbers of the linked PTX.
//
// nvdisasm -gp prints for each instruction its line in the PTX of its own file, which the listing
// calls ".nv_debug_ptx_txt.NUMBER". `lines_before` has, for each function, how many lines later it
// begins in the linked PTX (ptx::LinkedPtx). If it is empty, the cubin was not linked and the
// listing is unchanged.
std::string listing_rebased_to_linked_ptx(const std::string& listing,
                                          const std::map<std::string, int>& lines_before);

}  // namespace lab32::cudart
