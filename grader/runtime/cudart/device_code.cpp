#include "runtime/cudart/device_code.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/elf.h"
#include "base/error.h"
#include "base/memory.h"
#include "simulator/ptx/link.h"

namespace lab32::cudart {
namespace {

// The formats below are what fatbinary of CUDA 11 to 13 writes. NVIDIA documents only the wrapper,
// in the toolkit's header of the fat binary section.
constexpr uint32_t kWrapperMagic = 0x466243b1, kBlockMagic = 0xba55ed50;
// The version of the wrapper in programs compiled with -rdc=true. `more` lists their linked blocks
// (crt/link.stub).
constexpr uint32_t kLinked = 2;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr uint64_t kMostPlain = 256 << 20;
constexpr uint16_t kPtx = 1, kElf = 2;

struct FatbinWrapper {
  uint32_t magic, version;
  const void* block;
  const void* more;
};
struct FatbinHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // bytes of the entries, which follow this header
};
struct FatbinEntryHeader {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;  // bytes of the payload, with padding
  uint32_t compressed_bytes, unknown;
  uint16_t minor, major;
  uint32_t arch, name_offset, name_bytes;
  uint64_t flags, zero, plain_bytes;
};
static_assert(sizeof(FatbinHeader) == 16 && sizeof(FatbinEntryHeader) == 64);

template <class T>
T read_value_at(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Reads the entries of the block at `at`, of which `room` bytes are readable. Writes the block's
// length to `bytes`.
std::vector<FatbinEntry> read_fatbin_block(const char* at, uint64_t room, uint64_t* bytes) {
  if (!at || room < sizeof(FatbinHeader) || read_value_at<FatbinHeader>(at).magic != kBlockMagic)
    throw Error("the program's device code has an unknown format: compile it with CUDA 13");
  const auto header = read_value_at<FatbinHeader>(at);
  if (header.header_bytes > room || header.bytes > room - header.header_bytes)
    throw Error("the program's device code is damaged: it is cut off");
  *bytes = header.header_bytes + header.bytes;
  const char* const end = at + *bytes;
  at += header.header_bytes;
  std::vector<FatbinEntry> entries;
  while (static_cast<size_t>(end - at) >= sizeof(FatbinEntryHeader)) {
    const auto e = read_value_at<FatbinEntryHeader>(at);
    if (e.header_bytes < sizeof(FatbinEntryHeader) ||
        e.header_bytes > static_cast<uint64_t>(end - at) ||
        e.bytes > static_cast<uint64_t>(end - at) - e.header_bytes)
      throw Error("the program's device code is damaged: an entry is longer than the whole");
    FatbinEntry entry;
    entry.kind = e.kind == kPtx ? FatbinEntry::Kind::ptx : FatbinEntry::Kind::cubin;
    entry.arch = e.arch;
    entry.packing = e.flags & kLz4    ? FatbinEntry::Packing::lz4
                    : e.flags & kZstd ? FatbinEntry::Packing::zstd
                                      : FatbinEntry::Packing::none;
    const bool packed = entry.packing != FatbinEntry::Packing::none;
    entry.plain_bytes = e.plain_bytes;
    entry.bytes = {at + e.header_bytes,
                   packed ? std::min<uint64_t>(e.compressed_bytes, e.bytes) : e.bytes};
    if (e.kind == kPtx || e.kind == kElf) entries.push_back(entry);
    at += e.header_bytes + e.bytes;
  }
  return entries;
}

uint32_t architecture_number(const std::string& arch) {
  return static_cast<uint32_t>(std::stoul(arch.substr(arch.find('_') + 1)));
}

// The newest PTX that a GPU of `arch` can run; nullptr: none.
const FatbinEntry* newest_runnable_ptx(const std::vector<FatbinEntry>& entries,
                                       const std::string& arch) {
  const FatbinEntry* ptx = nullptr;
  for (const FatbinEntry& e : entries)
    if (e.kind == FatbinEntry::Kind::ptx && e.arch <= architecture_number(arch) &&
        (!ptx || ptx->arch < e.arch))
      ptx = &e;
  return ptx;
}

// The newest PTX that a GPU of `arch` can run, unpacked. Throws Error if there is none; the message
// lists the code that there is.
std::string choose_ptx(const std::vector<FatbinEntry>& entries, const std::string& arch) {
  const FatbinEntry* ptx = newest_runnable_ptx(entries, arch);
  if (!ptx) {
    std::string have;
    for (const FatbinEntry& e : entries)
      have += fmt::format("{}{} for {}", have.empty() ? "" : ", ",
                          e.kind == FatbinEntry::Kind::ptx ? "PTX" : "a cubin", e.arch);
    throw Error(fmt::format(
        "the program contains no PTX for {} ({}): build it with lab32 nvcc, or nvcc -arch={}", arch,
        have.empty() ? "it contains no device code" : "it contains " + have, arch));
  }
  std::string text = unpack_fatbin_entry(*ptx);
  text.resize(std::min(text.size(), text.find('\0')));  // the payload is padded with zeros
  return text;
}

}  // namespace

std::string unpack_fatbin_entry(const FatbinEntry& e) {
  if (e.packing == FatbinEntry::Packing::none) return std::string(e.bytes);
  std::string plain(std::min(e.plain_bytes, kMostPlain), '\0');
  bool whole = false;
  if (e.packing == FatbinEntry::Packing::zstd) {
    whole = ZSTD_decompress(plain.data(), plain.size(), e.bytes.data(), e.bytes.size()) ==
            e.plain_bytes;
  } else {
    const int bytes =
        LZ4_decompress_safe(e.bytes.data(), plain.data(), static_cast<int>(e.bytes.size()),
                            static_cast<int>(plain.size()));
    whole = bytes >= 0 && static_cast<uint64_t>(bytes) == e.plain_bytes;
  }
  if (!whole)
    throw Error(
        "the program's device code cannot be unpacked: compile it with nvcc "
        "--compress-mode=none");
  return plain;
}

bool is_fatbin(const void* image) {
  const auto magic = read_value_at<uint32_t>(static_cast<const char*>(image));
  return magic == kWrapperMagic || magic == kBlockMagic;
}

FatbinEntries read_fatbin(const void* wrapper) {
  // The wrapper has no length, so the program is trusted.
  constexpr uint64_t kAll = uint64_t{1} << 40;
  uint64_t bytes = 0;
  FatbinEntries binary;
  const auto* begin = static_cast<const char*>(wrapper);
  if (read_value_at<uint32_t>(begin) == kBlockMagic) {
    binary.entries = read_fatbin_block(begin, kAll, &bytes);
    return binary;
  }
  const auto outer = read_value_at<FatbinWrapper>(begin);
  binary.entries = read_fatbin_block(
      outer.magic == kWrapperMagic ? static_cast<const char*>(outer.block) : nullptr, kAll, &bytes);
  if (outer.version != kLinked || !outer.more) return binary;
  const auto* blocks = static_cast<const char* const*>(outer.more);
  for (; *blocks; ++blocks) binary.parts.push_back(read_fatbin_block(*blocks, kAll, &bytes));
  return binary;
}

std::string write_fatbin(const std::string& ptx, const std::string& cubin, uint32_t arch) {
  constexpr uint64_t kAlignment = 8, kX64 = 0x11;  // 64-bit, Linux
  std::string entries;
  const auto add = [&](uint16_t kind, std::string payload) {
    payload.resize(align_up(payload.size() + 1, kAlignment));  // PTX ends with a zero byte
    FatbinEntryHeader e{};
    e.kind = kind;
    e.version = 0x101;
    e.header_bytes = sizeof e;
    e.bytes = payload.size();
    e.arch = arch;
    e.flags = kX64;
    entries.append(reinterpret_cast<const char*>(&e), sizeof e);
    entries += payload;
  };
  add(kPtx, ptx);
  if (!cubin.empty()) add(kElf, cubin);
  const FatbinHeader block{kBlockMagic, 1, sizeof(FatbinHeader), entries.size()};
  return std::string(reinterpret_cast<const char*>(&block), sizeof block) + entries;
}

std::vector<std::vector<FatbinEntry>> read_fatbin_blocks(std::string_view section) {
  std::vector<std::vector<FatbinEntry>> blocks;
  // Zeros between blocks are padding for alignment.
  while ((section.remove_prefix(std::min(section.find_first_not_of('\0'), section.size())),
          !section.empty())) {
    uint64_t bytes = 0;
    blocks.push_back(read_fatbin_block(section.data(), section.size(), &bytes));
    section.remove_prefix(bytes);
  }
  return blocks;
}

DeviceCode choose_device_code(const FatbinEntries& binary, const std::string& arch) {
  DeviceCode code;
  if (binary.parts.empty()) {
    code.ptx = choose_ptx(binary.entries, arch);
  } else {
    // The toolkit's own library of device code contains only cubins. Functions called from it
    // remain extern, and the simulator refuses them by name.
    std::vector<std::string> texts;
    for (const auto& part : binary.parts)
      if (newest_runnable_ptx(part, arch)) texts.push_back(choose_ptx(part, arch));
    // This call throws an error that lists what is missing.
    if (texts.empty()) choose_ptx(binary.parts[0], arch);
    ptx::LinkedPtx linked = ptx::link_ptx(texts);
    code.ptx = std::move(linked.text);
    code.lines_before = std::move(linked.lines_before);
  }
  for (const FatbinEntry& e : binary.entries)
    if (e.kind == FatbinEntry::Kind::cubin && e.arch == architecture_number(arch))
      code.cubin = unpack_fatbin_entry(e);
  return code;
}

namespace {

// .nv.info is a list of attributes: a format byte, an attribute byte, then a 16-bit value or the
// length of the data that follows. cuobjdump -elf calls these two EIATTR_REGCOUNT and
// EIATTR_FRAME_SIZE; the data of each is (symbol, value).
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kRegisters = 0x2f, kFrameSize = 0x11;

uint32_t word_at(std::string_view data, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

}  // namespace

CubinResourceUsage read_cubin(const std::string& cubin) {
  const ElfFile elf = read_elf(cubin, "the program's cubin");
  CubinResourceUsage info;
  if (const ElfSection* constants = elf.find(".nv.constant3"))
    info.constant_bytes = static_cast<uint32_t>(constants->size);
  const ElfSection* attributes = elf.find(".nv.info");
  const std::string_view data = attributes ? attributes->data : std::string_view();
  for (size_t at = 0; at + 4 <= data.size();) {
    const auto format = static_cast<uint8_t>(data[at]), name = static_cast<uint8_t>(data[at + 1]);
    const size_t bytes = format == kFormatSized ? word_at(data, at) >> 16 : 0;
    at += 4;
    if (bytes > data.size() - at)
      throw Error("the program's cubin is damaged: .nv.info is cut off");
    if (bytes == 8 && (name == kRegisters || name == kFrameSize)) {
      const uint32_t symbol = word_at(data, at), value = word_at(data, at + 4);
      if (symbol < elf.functions.size() && !elf.functions[symbol].empty()) {
        KernelRegistersAndStack& r = info.kernels[elf.functions[symbol]];
        (name == kRegisters ? r.registers : r.local_bytes) = value;
      }
    }
    at += bytes;
  }
  return info;
}

namespace {

constexpr std::string_view kSection = ".section\t.text.", kFile = "File \".nv_debug_ptx_txt";

// The line of the text that begins at `at`.
std::string_view line_beginning_at(const std::string& text, size_t at) {
  const size_t end = std::min(text.find('\n', at), text.size());
  return std::string_view(text).substr(at, end - at);
}

// Calls `each` for each line note, in the order of the listing, with the text between kFile's name
// and the quotation mark, and the function.
template <class Each>
void for_each_line_note(const std::string& listing, Each each) {
  std::string_view function;
  for (size_t at = 0; at < listing.size();) {
    const std::string_view line = line_beginning_at(listing, at);
    if (const size_t name = line.find(kSection); name != std::string_view::npos)
      function = line.substr(name + kSection.size(), line.find(',') - name - kSection.size());
    if (const size_t file = line.find(kFile); file != std::string_view::npos) {
      const std::string_view number =
          line.substr(file + kFile.size(), line.find('"', file + 6) - file - kFile.size());
      each(number, function, at, line);
    }
    at += line.size() + 1;
  }
}

}  // namespace

std::string listing_rebased_to_linked_ptx(const std::string& listing,
                                          const std::map<std::string, int>& lines_before) {
  if (lines_before.empty()) return listing;
  // Linking renames functions local to a file, so a file's kernels identify the file.
  std::map<std::string_view, int> before;
  for_each_line_note(listing, [&](std::string_view number, std::string_view function, size_t,
                                  std::string_view) {
    if (const auto known = lines_before.find(std::string(function)); known != lines_before.end())
      before.emplace(number, known->second);
  });
  std::string text;
  size_t copied = 0;
  for_each_line_note(listing, [&](std::string_view number, std::string_view, size_t at,
                                  std::string_view line) {
    constexpr std::string_view kLine = "\", line ";
    const size_t digits = line.find(kLine) + kLine.size();
    const auto known = before.find(number);
    if (known == before.end() || digits < kLine.size()) return;
    int value = 0;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + digits, end, value);
    text.append(listing, copied, at - copied);
    text += "\t//## " + std::string(kFile) + "\", line " + std::to_string(value + known->second);
    text.append(parsed.ptr, end);
    copied = at + line.size();
  });
  return text.append(listing, copied, std::string::npos);
}

std::set<std::string> kernels_using_system_scope(const std::string& ptx) {
  std::set<std::string> all, found;
  if (ptx.find(".sys") == std::string::npos) return found;
  constexpr std::string_view kEntry = ".entry ";
  std::string kernel;  // of the current line; empty: the line is in no kernel
  bool in_function = false, everywhere = false;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find(kEntry); at != line.npos) {
      const size_t name = at + kEntry.size();
      kernel = line.substr(name, line.find('(') - name);
      all.insert(kernel);
    } else if (line.rfind('}', 0) == 0) {
      kernel.clear();
      in_function = false;
    } else if (line.find(".func ") != line.npos) {
      in_function = true;
    } else if (line.find(".sys") != line.npos) {
      if (!kernel.empty()) found.insert(kernel);
      everywhere |= in_function;
    }
  }
  return everywhere ? all : found;
}

}  // namespace lab32::cudart
