// Reads 64-bit ELF files: programs and libraries of this machine, and cubins, which are ELF too.
// The result refers to the bytes that were read and copies no section. It checks every offset,
// since the files may be damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab32 {

struct ElfSection {
  std::string name;
  uint32_t type = 0;
  uint32_t link = 0;
  uint64_t size = 0;      // bytes in memory; a SHT_NOBITS section has them, too
  std::string_view data;  // empty for SHT_NOBITS
};

// A variable.
struct ElfVariable {
  std::string name;
  uint32_t section = 0;  // index
  uint64_t value = 0;    // in a cubin: the offset of the symbol in its section
};

struct ElfFile {
  uint16_t machine = 0;                // EM_X86_64; EM_CUDA is 190
  std::vector<ElfSection> sections;    // by index
  std::vector<std::string> functions;  // by symbol index; "" for a symbol that is no function
  std::vector<ElfVariable> objects;    // data objects that the symbol table lists
  std::vector<std::string> exports;    // defined dynamic symbols
  std::vector<std::string> imports;    // undefined dynamic symbols
  std::vector<std::string> needed;     // DT_NEEDED: the shared libraries that the file loads

  const ElfSection* find(std::string_view name) const;
};

bool is_elf(std::string_view bytes);

// `bytes` must outlive the result. Throws Error, which names `what`, when the bytes are not a
// complete 64-bit ELF file.
ElfFile read_elf(std::string_view bytes, const std::string& what);

// Whether the shared library at `path` belongs to the user and not to the system. System libraries
// contain no CUDA code, so lab32 does not search them.
bool is_users_library(std::string_view path);

}  // namespace lab32
