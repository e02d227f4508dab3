// Memory that the program maps itself: reserved address ranges, pieces of physical memory, and the
// mapping between them.

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "base/error.h"
#include "runtime/driver/call.h"

using namespace lab32::driver;

namespace {

using lab32::sim::Allocation;

constexpr uint64_t kPiece = Allocation::kGranularity;

// The memory that a call of cuMemCreate() makes.
struct PhysicalAllocation {
  CUmemAllocationProp properties = {};
  uint64_t bytes = 0;
  unsigned handles = 1;  // handles that the program has not released
  uint64_t at = 0;       // the address where it is mapped; 0: not mapped
  // The content, and which bytes are initialised, while the piece is not mapped.
  std::vector<std::byte> content;
  std::vector<uint8_t> written;
};

struct VirtualAddressReservations {
  std::map<uint64_t, Allocation*> ranges;  // by address
  // A released piece remains while it is mapped.
  std::map<CUmemGenericAllocationHandle, PhysicalAllocation> pieces;
  CUmemGenericAllocationHandle serial = 0;

  // The reserved range that contains all these bytes; nullptr: none does.
  Allocation* reserved_range_containing(uint64_t at, uint64_t bytes) {
    const auto after = ranges.upper_bound(at);
    if (after == ranges.begin()) return nullptr;
    Allocation* const a = std::prev(after)->second;
    return at < a->end && bytes <= a->end - at ? a : nullptr;
  }
  // The piece that is mapped at the address; nullptr: none.
  std::pair<const CUmemGenericAllocationHandle, PhysicalAllocation>* piece_mapped_at(uint64_t at) {
    for (auto& entry : pieces)
      if (entry.second.at && at >= entry.second.at && at - entry.second.at < entry.second.bytes)
        return &entry;
    return nullptr;
  }
  PhysicalAllocation* find_piece(CUmemGenericAllocationHandle handle) {
    const auto found = pieces.find(handle);
    return found == pieces.end() || found->second.handles == 0 ? nullptr : &found->second;
  }
  // Calls f for each piece in the range. False: the range does not consist of whole pieces.
  template <class F>
  bool for_each_piece_if_whole_range(uint64_t at, uint64_t bytes, F&& f) {
    const uint64_t end = at + bytes;
    for (int pass = 0; pass < 2; ++pass)
      for (uint64_t next = at; next < end;) {
        auto* entry = piece_mapped_at(next);
        if (!entry || entry->second.at != next || entry->second.bytes > end - next) return false;
        next += entry->second.bytes;
        if (pass == 1) f(*entry);
      }
    return true;
  }
};

VirtualAddressReservations& virtual_address_reservations() {
  static VirtualAddressReservations all;
  return all;
}

uint8_t& access_of_piece(Allocation& a, uint64_t at) { return a.pieces[(at - a.begin) / kPiece]; }

void set_access(Allocation& a, uint64_t at, uint64_t bytes, uint8_t what) {
  for (uint64_t next = at; next < at + bytes; next += kPiece) access_of_piece(a, next) = what;
}

uint8_t* written_bits_at(Runtime& r, uint64_t at) {
  return r.memory.written_bits() + (at - lab32::sim::kGlobalBase) / 8;
}

void restore_content(Runtime& r, Allocation& a, PhysicalAllocation& piece) {
  std::byte* const memory = r.memory.host(piece.at);
  a.initialised = false;
  if (piece.content.empty()) {
    std::memset(memory, 0xff, piece.bytes);
    r.memory.set_range_written(piece.at, piece.at + piece.bytes, false);
    return;
  }
  a.pristine = false;
  std::memcpy(memory, piece.content.data(), piece.bytes);
  std::memcpy(written_bits_at(r, piece.at), piece.written.data(), piece.bytes / 8);
  piece.content = {};
  piece.written = {};
}

void save_content(Runtime& r, PhysicalAllocation& piece) {
  const std::byte* const memory = r.memory.host(piece.at);
  piece.content.assign(memory, memory + piece.bytes);
  const uint8_t* const bits = written_bits_at(r, piece.at);
  piece.written.assign(bits, bits + piece.bytes / 8);
}

CUresult check_properties(Runtime& r, const CUmemAllocationProp* p) {
  if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    throw lab32::Error("mapping host memory with cuMemMap is not simulated");
  if (!r.has_device(p->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  if (p->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    throw lab32::Error("memory shared with other processes is not simulated");
  if (r.devices() > 1) throw lab32::Error("cuMemMap is simulated only for a single device");
  return CUDA_SUCCESS;
}

bool is_round(uint64_t bytes) { return bytes != 0 && bytes % kPiece == 0; }

}  // namespace

namespace lab32::driver {

bool find_mapped_device_range(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  const auto* entry = virtual_address_reservations().piece_mapped_at(address);
  if (!entry) return false;
  *begin = entry->second.at;
  *bytes = entry->second.bytes;
  return true;
}

}  // namespace lab32::driver

CUresult cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* p,
                                       CUmemAllocationGranularity_flags) {
  return call("cuMemGetAllocationGranularity", Needs::init, Waits::no, [&](Runtime& r) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult wrong = check_properties(r, p)) return wrong;
    *out = kPiece;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* out, size_t bytes, size_t align, CUdeviceptr,
                             unsigned long long flags) {
  return call("cuMemAddressReserve", Needs::init, Waits::no, [&](Runtime& r) {
    if (!out || !is_round(bytes) || flags != 0 || (align & (align - 1)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    Allocation* a = nullptr;
    try {
      a = r.memory.reserve_addresses(bytes, std::max<uint64_t>(align, kPiece),
                                     "memory mapped by hand");
    } catch (const lab32::Error&) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    virtual_address_reservations().ranges[a->begin] = a;
    *out = a->begin;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes) {
  return call("cuMemAddressFree", Needs::init, Waits::no, [&](Runtime& r) {
    const auto found = virtual_address_reservations().ranges.find(at);
    if (found == virtual_address_reservations().ranges.end() || found->second->end - at != bytes)
      return CUDA_ERROR_INVALID_VALUE;
    for (const auto& [handle, piece] : virtual_address_reservations().pieces)
      if (piece.at >= at && piece.at < at + bytes) return CUDA_ERROR_INVALID_VALUE;
    virtual_address_reservations().ranges.erase(found);
    r.memory.release(at);
    return CUDA_SUCCESS;
  });
}

// Compressible memory is ordinary memory, and is reported as not compressed.
CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t bytes, const CUmemAllocationProp* p,
                     unsigned long long flags) {
  return call("cuMemCreate", Needs::init, Waits::no, [&](Runtime& r) {
    if (!out || !is_round(bytes) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult wrong = check_properties(r, p)) return wrong;
    if (!r.allocations.claim_bytes(p->location.id, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    PhysicalAllocation piece;
    piece.properties = *p;
    piece.properties.allocFlags = {};
    piece.bytes = bytes;
    *out = ++virtual_address_reservations().serial;
    virtual_address_reservations().pieces[*out] = std::move(piece);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call("cuMemRelease", Needs::init, Waits::no, [&](Runtime& r) {
    PhysicalAllocation* piece = virtual_address_reservations().find_piece(handle);
    if (!piece) return CUDA_ERROR_INVALID_VALUE;
    if (--piece->handles || piece->at) return CUDA_SUCCESS;
    r.allocations.give_up(piece->properties.location.id, piece->bytes);
    virtual_address_reservations().pieces.erase(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return call("cuMemMap", Needs::init, Waits::no, [&](Runtime& r) {
    PhysicalAllocation* piece = virtual_address_reservations().find_piece(handle);
    if (flags != 0 || !is_round(bytes) || at % kPiece || !piece) return CUDA_ERROR_INVALID_VALUE;
    // An H100 returns this error.
    if (offset != 0 || bytes != piece->bytes) return CUDA_ERROR_NOT_SUPPORTED;
    Allocation* a = virtual_address_reservations().reserved_range_containing(at, bytes);
    if (!a) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& [other, there] : virtual_address_reservations().pieces)
      if (there.at && there.at < at + bytes && at < there.at + there.bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (piece->at) throw lab32::Error("one piece of memory at two addresses is not simulated");
    piece->at = at;
    restore_content(r, *a, *piece);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
  return call("cuMemUnmap", Needs::init, Waits::no, [&](Runtime& r) {
    Allocation* a = virtual_address_reservations().reserved_range_containing(at, bytes);
    if (!a || !is_round(bytes) || at % kPiece) return CUDA_ERROR_INVALID_VALUE;
    bool nothing = true;
    for (const auto& [handle, piece] : virtual_address_reservations().pieces)
      nothing &= !piece.at || piece.at >= at + bytes || at >= piece.at + piece.bytes;
    if (nothing) return CUDA_SUCCESS;
    std::vector<CUmemGenericAllocationHandle> destroyed;
    const bool whole =
        virtual_address_reservations().for_each_piece_if_whole_range(at, bytes, [&](auto& entry) {
          PhysicalAllocation& piece = entry.second;
          set_access(*a, piece.at, piece.bytes, 0);
          if (piece.handles)
            save_content(r, piece);
          else
            destroyed.push_back(entry.first);
          // The bytes at this address are no longer initialised.
          r.memory.set_range_written(piece.at, piece.at + piece.bytes, false);
          if (piece.handles) piece.at = 0;
        });
    for (CUmemGenericAllocationHandle handle : destroyed) {
      const PhysicalAllocation& piece = virtual_address_reservations().pieces.at(handle);
      r.allocations.give_up(piece.properties.location.id, piece.bytes);
      virtual_address_reservations().pieces.erase(handle);
    }
    return whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc* list, size_t count) {
  return call("cuMemSetAccess", Needs::init, Waits::no, [&](Runtime& r) {
    Allocation* a = virtual_address_reservations().reserved_range_containing(at, bytes);
    if (!a || !is_round(bytes) || !list || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        throw lab32::Error("access of the host to memory mapped with cuMemMap is not simulated");
      if (!r.has_device(list[i].location.id)) return CUDA_ERROR_INVALID_DEVICE;
      const uint8_t what = static_cast<uint8_t>(list[i].flags);
      if (!virtual_address_reservations().for_each_piece_if_whole_range(
              at, bytes,
              [&](auto& entry) { set_access(*a, entry.second.at, entry.second.bytes, what); }))
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAccess(unsigned long long* out, const CUmemLocation* location, CUdeviceptr at) {
  return call("cuMemGetAccess", Needs::init, Waits::no, [&](Runtime&) {
    Allocation* a = virtual_address_reservations().reserved_range_containing(at, 1);
    if (!out || !location || !a || !virtual_address_reservations().piece_mapped_at(at))
      return CUDA_ERROR_INVALID_VALUE;
    *out = access_of_piece(*a, at);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out,
                                                CUmemGenericAllocationHandle handle) {
  return call("cuMemGetAllocationPropertiesFromHandle", Needs::init, Waits::no, [&](Runtime&) {
    const PhysicalAllocation* piece = virtual_address_reservations().find_piece(handle);
    if (!out || !piece) return CUDA_ERROR_INVALID_VALUE;
    *out = piece->properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  return call("cuMemRetainAllocationHandle", Needs::init, Waits::no, [&](Runtime&) {
    auto* entry =
        virtual_address_reservations().piece_mapped_at(reinterpret_cast<uint64_t>(address));
    if (!out || !entry) return CUDA_ERROR_INVALID_VALUE;
    ++entry->second.handles;
    *out = entry->first;
    return CUDA_SUCCESS;
  });
}
