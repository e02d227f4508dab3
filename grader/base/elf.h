// Reads 64-bit ELF files: programs of this machine, and cubins, which are ELF too.
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
  uint64_t size = 0;      // also of sections that take no room in the file (SHT_NOBITS)
  std::string_view data;  // empty for those
};

struct ElfFile {
  uint16_t machine = 0;                // EM_X86_64; EM_CUDA is 190
  std::vector<ElfSection> sections;    // by index
  std::vector<std::string> functions;  // by symbol index; "" where a symbol is no function
  std::vector<std::string> exports;    // of a shared library: defined dynamic symbols
  std::vector<std::string> imports;    // undefined dynamic symbols
  std::vector<std::string> needed;     // DT_NEEDED: the shared libraries that it asks for

  const ElfSection* find(std::string_view name) const;
};

bool is_elf(std::string_view bytes);

// `bytes` must outlive the result. Throws Error naming `what` when it is no whole 64-bit ELF file.
ElfFile read_elf(std::string_view bytes, const std::string& what);

// Whether the shared library at that path is not one of the system's, which have nothing of CUDA.
bool is_users_library(std::string_view path);

}  // namespace lab32
