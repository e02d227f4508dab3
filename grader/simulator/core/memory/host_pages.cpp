#include "simulator/core/memory/host_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"

namespace lab32::sim {

namespace {

// Moves one piece of pages to another address range; the source range stays mapped (Linux 5.7).
// False: the system does not support this.
bool move_pages(std::byte* from, std::byte* to) {
#ifdef MREMAP_DONTUNMAP
  return mremap(from, PagePool::kPiece, PagePool::kPiece,
                MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED;
#else
  (void)from, (void)to;
  return false;
#endif
}

uint64_t count_whole_pieces(const std::byte* begin, const std::byte* end) {
  if (reinterpret_cast<uint64_t>(begin) % PagePool::kPiece != 0 || end < begin) return 0;
  return static_cast<uint64_t>(end - begin) / PagePool::kPiece;
}

}  // namespace

PagePool::ReservedRange::ReservedRange(uint64_t bytes, const char* what)
    : bytes_(align_up(bytes, kPiece) + kPiece),
      reserved_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (reserved_ == MAP_FAILED)
    throw Error(fmt::format("cannot reserve {} MiB of address space for {}: {}", bytes >> 20, what,
                            std::strerror(errno)));
  const auto address = reinterpret_cast<uint64_t>(reserved_);
  begin_ = static_cast<std::byte*>(reserved_) + (align_up(address, kPiece) - address);
}

PagePool::ReservedRange::~ReservedRange() { munmap(reserved_, bytes_); }

// Never destroyed: devices may outlive main().
PagePool& PagePool::process_wide() {
  static auto* const pool = new PagePool;
  return *pool;
}

PagePool::PagePool() : range_(kMost * kPiece, "memory to be used again") {
  for (size_t i = 0; i < kMost; ++i) empty_.push_back(range_.begin() + (kMost - 1 - i) * kPiece);
}

bool PagePool::map_dirty_piece_from_pool(void* at) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (full_.empty() || !move_pages(full_.back(), static_cast<std::byte*>(at))) return false;
  empty_.push_back(full_.back());
  full_.pop_back();
  return true;
}

void PagePool::move_piece_into_pool(void* at) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (empty_.empty() || !move_pages(static_cast<std::byte*>(at), empty_.back())) {
    madvise(at, kPiece, MADV_DONTNEED);
    return;
  }
  full_.push_back(empty_.back());
  empty_.pop_back();
}

void PagePool::map_dirty_pieces_from_pool(std::byte* begin, const std::byte* end) {
  for (uint64_t i = 0; i < count_whole_pieces(begin, end); ++i)
    if (!map_dirty_piece_from_pool(begin + i * kPiece)) return;
}

uint64_t PagePool::move_pieces_into_pool(std::byte* begin, const std::byte* end) {
  const uint64_t pieces = count_whole_pieces(begin, end);
  for (uint64_t i = 0; i < pieces; ++i) move_piece_into_pool(begin + i * kPiece);
  return pieces * kPiece;
}

// ---------------------------------------------------------------------------------------------

SparseRecordArray::SparseRecordArray(uint64_t count)
    : range_(count * 8, "the records of the race check"),
      records_(reinterpret_cast<uint64_t*>(range_.begin())),
      present_(count / (kPage * kPagesOfPiece) + 1) {}

void SparseRecordArray::make_page(uint64_t page) {
  const uint64_t piece = page / kPagesOfPiece;
  if (!present_[piece]) {
    present_[piece] = std::make_unique<Present>();
    pieces_.push_back(piece);
    PagePool::process_wide().map_dirty_piece_from_pool(records_ + piece * kPagesOfPiece * kPage);
  }
  (*present_[piece])[page % kPagesOfPiece] = 1;
  // Written even though new pages read as zeros: a page that is read first maps the shared zero
  // page, and replacing that later costs a TLB flush on every core.
  std::memset(records_ + page * kPage, 0, 4096);
}

void SparseRecordArray::clear() {
  for (const uint64_t piece : pieces_) {
    PagePool::process_wide().move_piece_into_pool(records_ + piece * kPagesOfPiece * kPage);
    present_[piece].reset();
  }
  pieces_.clear();
}

// ---------------------------------------------------------------------------------------------

namespace {

// The poison file is mapped repeatedly. A process may have 65,530 mappings (vm.max_map_count),
// which is enough for 2 TB.
constexpr uint64_t kFileBytes = 32 << 20;

// A file full of poison; -1: it cannot be created.
int fd_of_poison_file() {
  static const int file = [] {
    const int fd = memfd_create("lab32-poison", MFD_CLOEXEC);
    if (fd < 0) return fd;
    const std::vector<unsigned char> poison(1 << 20, kPoison);
    for (uint64_t done = 0; done < kFileBytes; done += poison.size())
      if (write(fd, poison.data(), poison.size()) != static_cast<ssize_t>(poison.size())) {
        close(fd);
        return -1;
      }
    return fd;
  }();
  return file;
}

bool map_anonymous_pages(std::byte* at, uint64_t bytes) {
  if (mmap(at, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != at)
    return false;
  madvise(at, bytes, MADV_HUGEPAGE);
  return true;
}

}  // namespace

uint64_t LazilyPoisonedPages::map_poison_filled_pages(std::byte* begin, uint64_t bytes) {
  const int file = fd_of_poison_file();
  const uint64_t whole = bytes / kPiece * kPiece;
  if (file < 0) return 0;
  uint64_t done = 0;
  while (done < whole) {
    const uint64_t next = std::min(kFileBytes, whole - done);
    if (mmap(begin + done, next, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED,
             file, 0) != begin + done)
      break;
    done += next;
  }
  begin_ = begin;
  waits_.assign(done / kPiece, true);
  return done;
}

void LazilyPoisonedPages::map_plain_memory_before_write(const std::byte* begin,
                                                        const std::byte* end) {
  const uint64_t from = align_up(static_cast<uint64_t>(begin - begin_), kPiece) / kPiece;
  const uint64_t to =
      std::min<uint64_t>(static_cast<uint64_t>(end - begin_) / kPiece, waits_.size());
  for (uint64_t i = from; i < to;) {
    uint64_t last = i;
    while (last < to && waits_[last]) ++last;
    if (last > i && !map_anonymous_pages(begin_ + i * kPiece, (last - i) * kPiece)) return;
    std::fill(waits_.begin() + static_cast<long>(i), waits_.begin() + static_cast<long>(last),
              false);
    i = last + 1;
  }
}

}  // namespace lab32::sim
