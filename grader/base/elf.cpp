#include "base/elf.h"

#include <elf.h>

#include <cstring>

#include "base/error.h"

namespace lab32 {
namespace {

class ElfReader {
 public:
  ElfReader(std::string_view bytes, const std::string& what) : bytes_(bytes), what_(what) {}

  std::string_view bytes_at(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      throw Error(what_ + " is a damaged ELF file: it refers to bytes beyond its end");
    return bytes_.substr(offset, size);
  }
  template <class T>
  T value_at(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_at(offset, sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string_view bytes_;
  const std::string& what_;
};

// Returns the 0-terminated string at `offset` of a string table.
std::string string_at_offset(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  return std::string(table.substr(offset, table.find('\0', offset) - offset));
}

}  // namespace

bool is_elf(std::string_view bytes) { return bytes.substr(0, SELFMAG) == ELFMAG; }

const ElfSection* ElfFile::find(std::string_view name) const {
  for (const ElfSection& s : sections)
    if (s.name == name) return &s;
  return nullptr;
}

ElfFile read_elf(std::string_view bytes, const std::string& what) {
  const ElfReader in(bytes, what);
  if (!is_elf(bytes)) throw Error(what + " is not an ELF file");
  const auto header = in.value_at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) throw Error(what + " is not a 64-bit ELF file");

  ElfFile file;
  file.machine = header.e_machine;
  std::vector<Elf64_Shdr> raw;
  for (unsigned i = 0; i < header.e_shnum; ++i)
    raw.push_back(in.value_at<Elf64_Shdr>(header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr)));
  for (const Elf64_Shdr& s : raw) {
    ElfSection section;
    section.type = s.sh_type;
    section.link = s.sh_link;
    section.size = s.sh_size;
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL)
      section.data = in.bytes_at(s.sh_offset, s.sh_size);
    file.sections.push_back(section);
  }
  if (header.e_shstrndx < raw.size())
    for (size_t i = 0; i < raw.size(); ++i)
      file.sections[i].name =
          string_at_offset(file.sections[header.e_shstrndx].data, raw[i].sh_name);

  for (const ElfSection& s : file.sections) {
    const std::string_view names =
        s.link < file.sections.size() ? file.sections[s.link].data : std::string_view();
    const ElfReader table(s.data, what);
    if (s.type == SHT_SYMTAB) {
      for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.data.size(); at += sizeof(Elf64_Sym)) {
        const auto symbol = table.value_at<Elf64_Sym>(at);
        const bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
        file.functions.push_back(function ? string_at_offset(names, symbol.st_name) : "");
        if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
          file.objects.push_back(
              {string_at_offset(names, symbol.st_name), symbol.st_shndx, symbol.st_value});
      }
    }
    if (s.type == SHT_DYNSYM) {
      for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.data.size(); at += sizeof(Elf64_Sym)) {
        const auto symbol = table.value_at<Elf64_Sym>(at);
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
        (symbol.st_shndx == SHN_UNDEF ? file.imports : file.exports)
            .push_back(string_at_offset(names, symbol.st_name));
      }
    }
    if (s.type == SHT_DYNAMIC) {
      for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= s.data.size(); at += sizeof(Elf64_Dyn)) {
        const auto entry = table.value_at<Elf64_Dyn>(at);
        if (entry.d_tag == DT_NEEDED)
          file.needed.push_back(string_at_offset(names, entry.d_un.d_val));
      }
    }
  }
  return file;
}

bool is_users_library(std::string_view path) {
  for (const std::string_view systems : {"/lib/", "/lib64/", "/usr/lib/", "linux-vdso"})
    if (path.substr(0, systems.size()) == systems) return false;
  return true;
}

}  // namespace lab32
