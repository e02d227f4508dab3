// The device code that nvcc puts into a program: one PTX text or cubin for each architecture.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/artifact.h"

namespace lab32::cudart {

struct FatEntry {
  enum class Kind : uint8_t { ptx, cubin };
  Kind kind = Kind::ptx;
  uint32_t arch = 0;  // 90
  enum class Packing : uint8_t { none, lz4, zstd } packing = Packing::none;
  uint64_t plain_bytes = 0;  // when packed
  std::string_view bytes;    // as they lie in the program
};

struct FatBinary {
  std::vector<FatEntry> entries;
  // Of a program that was linked (nvcc -rdc=true), whose `entries` are the linked cubins: what each
  // of its files was compiled to.
  std::vector<std::vector<FatEntry>> parts;
};

// Whether the bytes at `image` begin as a fat binary does: as a wrapper, or as a block of entries.
bool is_fatbin(const void* image);

// `wrapper` is what __cudaRegisterFatBinary is given (fatBinaryCtl.h's __fatBinC_Wrapper_t), or a
// block of entries alone. Throws Error when it is of a form that is not known.
FatBinary read_fatbin(const void* wrapper);

// The block of entries that holds the two; `arch`: 90.
std::string write_fatbin(const std::string& ptx, const std::string& cubin, uint32_t arch);

// The entries of the blocks that lie one behind the other in a section of a program. Throws Error
// when they are of a form that is not known.
std::vector<std::vector<FatEntry>> read_blocks(std::string_view section);

// What it holds, unpacked. Throws Error when it cannot be.
std::string unpack(const FatEntry& entry);

struct DeviceCode {
  std::string ptx;
  std::string name;  // Artifact's
  toolchain::Places places;
  std::string cubin;  // empty: none for this architecture
  // Of linked PTX: ptx::Linked's.
  std::map<std::string, int> lines_before;
};

// What a GPU of `arch` ("sm_90") would run: the newest PTX that it can translate (of a linked
// program: that of its parts, linked), and the cubin made for it, unpacked. Throws Error when there
// is no PTX.
DeviceCode choose(const FatBinary& binary, const std::string& arch);

// What ptxas says of each kernel of a cubin: what occupancy and cudaFuncGetAttributes need.

struct Resources {
  uint32_t registers = 0;    // a thread
  uint32_t local_bytes = 0;  // a thread: its stack frame
};

struct CubinInfo {
  std::map<std::string, Resources> kernels;  // by symbol
  uint32_t constant_bytes = 0;               // of the module's __constant__ variables
};

// Throws Error when it is no cubin.
CubinInfo read_cubin(const std::string& cubin);

// The listing of a cubin that was linked, made to say lines of the linked PTX.

// nvdisasm -gp says for each instruction the line of its own file's PTX, which it calls
// ".nv_debug_ptx_txt.NUMBER", a number for each file. `lines_before` says for functions by how much
// lines of their file are later in the linked PTX (ptx::Linked); empty: it was not linked, and the
// listing stays as it is.
std::string in_linked_lines(const std::string& listing,
                            const std::map<std::string, int>& lines_before);

}  // namespace lab32::cudart
