// Device memory: allocations in one reserved address range, each surrounded by guard zones, with a
// bit for every byte that says whether it was ever written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/core/memory/descriptors.h"
#include "simulator/core/memory/host_pages.h"

namespace lab32::sim {

// The generic address space. Windows are far apart, so that a wild pointer lands in none.
constexpr uint64_t kGlobalBase = 0x7000'0000'0000;  // device memory, module variables, constants
constexpr uint64_t kSharedBase = 0x0100'0000'0000;  // + offset in the block's shared memory
constexpr uint64_t kLocalBase = 0x0200'0000'0000;   // + offset in the thread's local memory
constexpr uint64_t kCodeBase = 0x0300'0000'0000;    // + 16 * function index: function pointers
constexpr uint64_t kWindowBytes = 0x0100'0000'0000;

// Nothing is allocated before it.
constexpr uint64_t kMemoryStart = 512;

struct Allocation {
  uint32_t index = 0;
  uint64_t begin = 0, end = 0;  // device addresses; end - begin is what was asked for
  std::string name;
  bool freed = false;
  bool read_only = false;         // __constant__ memory and kernel parameters
  bool initialised = false;       // every byte was written: reads need no look at the bits
  bool pristine = true;           // nothing but poison was ever written
  bool shared_with_host = false;  // the host reads and writes it at its device address
  bool scratch = false;           // each launch that reads it fills it in first
  unsigned device = 0;            // that it was made for
  // The devices that reach it, bit by bit; none: all do. Outlives the allocation.
  const uint64_t* reached_by = nullptr;
  bool condition = false;  // of a node of a graph: cudaGraphSetConditional() writes it
  PoisonPages untouched;   // of a large one
  // Of a range that memory is mapped to by hand: what kernels may do with each piece: 0: nothing,
  // 1: read, 3: write, too. None: all is allowed everywhere.
  std::vector<uint8_t> pieces;
  static constexpr uint64_t kGranularity = 2 << 20;  // bytes of a piece, as on a card

  // Whether kernels, and copies, may do that with the bytes, all of which lie in it.
  bool permits(uint64_t at, uint64_t bytes, bool write) const {
    return pieces.empty() || pieces_permit(at, bytes, write);
  }

 private:
  bool pieces_permit(uint64_t at, uint64_t bytes, bool write) const;
};

class Memory {
 public:
  // Reserves address space for `capacity` bytes of device memory; pages come when touched.
  explicit Memory(uint64_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Poisoned, uninitialised memory, 256-byte aligned as cudaMalloc's. Throws Error when the
  // capacity is used up. Freed addresses are not handed out again, so that a use after free is
  // found.
  Allocation* allocate(uint64_t bytes, const std::string& name);
  // Only addresses, whose pieces are mapped and allowed later.
  Allocation* reserve(uint64_t bytes, uint64_t align, const std::string& name);
  // For many small pieces: 16-byte aligned, and with less room around.
  Allocation* allocate_small(uint64_t bytes, const std::string& name);
  // As allocate(), zeroed and counted as written, and readable and writable for the host process at
  // the device address itself: managed and pinned memory. Throws Error when the range is taken.
  Allocation* allocate_shared(uint64_t bytes, const std::string& name);
  // Makes memory of the host process reachable for the device, too: the pages stay where they are
  // and get an allocation, whose address is returned, to be released like any other. They count as
  // written. Throws Error when the pages are of a kind that cannot be shared.
  uint64_t share(void* host, uint64_t bytes, const std::string& name);
  void release(uint64_t address);
  // A freed allocation of allocate()'s comes back, at its address, with nothing written.
  void revive(uint64_t address);
  // Sets `initialised` where every byte has been written meanwhile.
  void refresh_initialised();
  void poison(Allocation& allocation);
  void upload(uint64_t to, const void* from, uint64_t bytes);
  void download(void* to, uint64_t from, uint64_t bytes) const;
  void fill(uint64_t to, unsigned char value, uint64_t bytes);
  // Between two ranges that may overlap; what was never written stays so.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);

  // Several devices share one address space: that number's kernels run from here on, and what is
  // allocated is reached by the devices whose bits are set (none: by all), also those set later.
  void act_for(unsigned device, const uint64_t* reached_by) {
    device_ = device;
    reached_by_ = reached_by;
  }
  unsigned device() const { return device_; }
  const uint64_t* reached_by() const { return reached_by_; }
  bool reaches(const Allocation& a) const {
    return a.reached_by == nullptr || (*a.reached_by >> device_ & 1) != 0;
  }

  // What all live allocations hold. Nothing may be allocated or released before it is used.
  struct Image {
    struct Piece {
      std::vector<std::byte> bytes;
      std::vector<uint8_t> written;
      bool initialised, pristine;
    };
    std::vector<Piece> pieces;  // by allocation; of freed ones empty
  };
  Image image() const;
  Image::Piece image(const Allocation& allocation) const;
  void put_back(Allocation& allocation, const Image::Piece& piece);
  void put_back(const Image& image);
  bool holds_same(const Image& image) const;

  // The allocation (live or freed) that holds the address; nullptr: none.
  Allocation* find(uint64_t address) const;
  // The live allocation closest to the address, for messages; nullptr: there is none at all.
  const Allocation* nearest(uint64_t address) const;

  std::byte* host(uint64_t address) const { return delta_ + address; }
  // One bit a byte, from kGlobalBase on.
  uint8_t* written_bits() const { return bits_; }
  bool written(uint64_t address, unsigned bytes) const;
  // Of the range; its end where all of it was written.
  uint64_t first_unwritten(uint64_t begin, uint64_t end) const {
    return end_of_run(begin, end, true);
  }
  // Marks what the lanes of a warp store. Host threads may mark neighbouring bytes at once.
  void mark_lanes(const uint64_t* address, uint32_t mask, unsigned bytes);
  void mark_span(uint64_t begin, uint64_t end);
  void mark_range(uint64_t begin, uint64_t end, bool value);

  // What the numbers of texture and surface objects name.
  TextureTable& textures() { return textures_; }
  const TextureTable& textures() const { return textures_; }

  // Bytes of live allocations whose pages come when they are touched.
  uint64_t bytes_on_demand() const { return on_demand_; }

  uint64_t used() const { return next_; }
  // Whether it lies in the range from which memory has been handed out so far.
  bool holds(uint64_t address) const {
    return address >= kGlobalBase && address - kGlobalBase < next_;
  }
  const std::vector<std::unique_ptr<Allocation>>& allocations() const { return allocations_; }

 private:
  // The host is about to write this piece of an allocation. Throws Error when it is none.
  void begin_host_write(uint64_t to, uint64_t bytes);
  void count_as_written(Allocation& allocation);
  void write_poison(Allocation& allocation);
  // The end of the bytes from `begin` on that were all written, or all not.
  uint64_t end_of_run(uint64_t begin, uint64_t end, bool value) const;
  Allocation* place(uint64_t bytes, uint64_t align, const std::string& name, uint64_t guard);

  uint64_t capacity_;
  uint64_t next_ = 0, on_demand_ = 0;
  unsigned device_ = 0;
  const uint64_t* reached_by_ = nullptr;
  PagePool::Range arena_, written_;
  std::byte* delta_;  // the arena's begin - kGlobalBase
  uint8_t* bits_;     // written_'s begin
  TextureTable textures_;
  std::vector<std::unique_ptr<Allocation>> allocations_;  // by address
};

// ---------------------------------------------------------------------------------------------
// malloc() and free() of kernels: pieces of device memory, each an allocation of its own, so that
// what lies beside it, and what was freed, is told from it.

class Memory;

class DeviceHeap {
 public:
  explicit DeviceHeap(Memory& memory) : memory_(memory) {}

  // cudaLimitMallocHeapSize.
  void set_limit(uint64_t bytes) { limit_ = bytes; }

  // 0 when what is asked for and what is held come to more than the limit. (A GPU's own
  // book-keeping takes part of the heap too, so that it gives up somewhat earlier.) 16-byte
  // aligned.
  uint64_t allocate(uint64_t bytes, const std::string& name);
  enum class Release : uint8_t { done, freed_before, not_allocated };
  Release release(uint64_t address);
  void release_all();

 private:
  Memory& memory_;
  uint64_t limit_ = 0, used_ = 0;
  struct Piece {
    uint64_t bytes;
    bool live;
  };
  std::unordered_map<uint64_t, Piece> pieces_;  // by address
};

}  // namespace lab32::sim
