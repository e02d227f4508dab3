#include "simulator/core/memory/poison_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/memory.h"

namespace lab32::sim {
namespace {

// Mapped over and over. A process may have 65,530 mappings (vm.max_map_count): this is enough for 2
// TB.
constexpr uint64_t kFileBytes = 32 << 20;

// A file full of poison; -1: there can be none.
int poison_file() {
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

bool map_plain(std::byte* at, uint64_t bytes) {
  if (mmap(at, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != at)
    return false;
  madvise(at, bytes, MADV_HUGEPAGE);
  return true;
}

}  // namespace

uint64_t PoisonPages::lay(std::byte* begin, uint64_t bytes) {
  const int file = poison_file();
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

void PoisonPages::will_write(const std::byte* begin, const std::byte* end) {
  const uint64_t from = align_up(static_cast<uint64_t>(begin - begin_), kPiece) / kPiece;
  const uint64_t to =
      std::min<uint64_t>(static_cast<uint64_t>(end - begin_) / kPiece, waits_.size());
  for (uint64_t i = from; i < to;) {
    uint64_t last = i;
    while (last < to && waits_[last]) ++last;
    if (last > i && !map_plain(begin_ + i * kPiece, (last - i) * kPiece)) return;
    std::fill(waits_.begin() + static_cast<long>(i), waits_.begin() + static_cast<long>(last),
              false);
    i = last + 1;
  }
}

}  // namespace lab32::sim
