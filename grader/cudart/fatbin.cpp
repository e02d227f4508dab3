#include "cudart/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace lab32::cudart {
namespace {

// The forms below are those of CUDA 11 to 13, as fatbinary writes them; NVIDIA documents only the
// wrapper (fatbinary_section.h).
constexpr uint32_t kWrapperMagic = 0x466243b1, kBlockMagic = 0xba55ed50;
constexpr uint32_t kLinked = 2;  // wrapper version: what -rdc=true leaves
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr uint64_t kMostPlain = 256 << 20;
constexpr uint16_t kPtx = 1, kElf = 2;

struct Wrapper {
  uint32_t magic, version;
  const void* block;
  const void* more;
};
struct Block {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // of the entries, behind this header
};
struct Entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;  // of the payload, padded
  uint32_t compressed_bytes, unknown;
  uint16_t minor, major;
  uint32_t arch, name_offset, name_bytes;
  uint64_t flags, zero, plain_bytes;
};
static_assert(sizeof(Block) == 16 && sizeof(Entry) == 64);

template <class T>
T read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string unpack(const FatEntry& e) {
  if (e.packing == FatEntry::Packing::none) return std::string(e.bytes);
  std::string plain(std::min(e.plain_bytes, kMostPlain), '\0');
  bool whole = false;
  if (e.packing == FatEntry::Packing::zstd) {
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

}  // namespace

std::vector<FatEntry> read_fatbin(const void* wrapper) {
  const auto outer = read<Wrapper>(static_cast<const char*>(wrapper));
  if (outer.magic == kWrapperMagic && outer.version == kLinked)
    throw Error(
        "the program's device code was linked (nvcc -rdc=true), which leaves no PTX to run: "
        "compile it as one file, without -rdc");
  const auto* block = static_cast<const char*>(outer.block);
  if (outer.magic != kWrapperMagic || !block || read<Block>(block).magic != kBlockMagic)
    throw Error(
        "the program's device code is in a form that is not known: compile it with CUDA 13");
  const auto header = read<Block>(block);
  const char* at = block + header.header_bytes;
  const char* const end = at + header.bytes;
  std::vector<FatEntry> entries;
  while (static_cast<size_t>(end - at) >= sizeof(Entry)) {
    const auto e = read<Entry>(at);
    if (e.header_bytes < sizeof(Entry) || e.header_bytes > static_cast<uint64_t>(end - at) ||
        e.bytes > static_cast<uint64_t>(end - at) - e.header_bytes)
      throw Error("the program's device code is damaged: an entry is longer than the whole");
    FatEntry entry;
    entry.kind = e.kind == kPtx ? FatEntry::Kind::ptx : FatEntry::Kind::cubin;
    entry.arch = e.arch;
    entry.packing = e.flags & kLz4    ? FatEntry::Packing::lz4
                    : e.flags & kZstd ? FatEntry::Packing::zstd
                                      : FatEntry::Packing::none;
    const bool packed = entry.packing != FatEntry::Packing::none;
    entry.plain_bytes = e.plain_bytes;
    entry.bytes = {at + e.header_bytes,
                   packed ? std::min<uint64_t>(e.compressed_bytes, e.bytes) : e.bytes};
    if (e.kind == kPtx || e.kind == kElf) entries.push_back(entry);
    at += e.header_bytes + e.bytes;
  }
  return entries;
}

DeviceCode choose(const std::vector<FatEntry>& entries, const std::string& arch) {
  const auto wanted = static_cast<uint32_t>(std::stoul(arch.substr(arch.find('_') + 1)));
  const FatEntry *ptx = nullptr, *cubin = nullptr;
  std::string have;
  for (const FatEntry& e : entries) {
    const bool text = e.kind == FatEntry::Kind::ptx;
    have += fmt::format("{}{} for {}", have.empty() ? "" : ", ", text ? "PTX" : "a cubin", e.arch);
    if (text && e.arch <= wanted && (!ptx || ptx->arch < e.arch)) ptx = &e;
    if (!text && e.arch == wanted) cubin = &e;
  }
  if (!ptx)
    throw Error(fmt::format("the program holds no PTX for {} ({}): compile it with nvcc -arch={}",
                            arch, have.empty() ? "it holds no device code" : "it holds " + have,
                            arch));
  DeviceCode code;
  code.ptx = unpack(*ptx);
  code.ptx.resize(std::min(code.ptx.size(), code.ptx.find('\0')));  // padded with zeros
  if (cubin) code.cubin = unpack(*cubin);
  return code;
}

}  // namespace lab32::cudart
