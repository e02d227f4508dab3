#include "base/shared_region.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace lab32 {

SharedRegion::SharedRegion(size_t most) : size_(most) {
  void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw MachineError(std::string("no memory that processes share: ") + std::strerror(errno));
  data_ = static_cast<std::byte*>(at);
}

SharedRegion::~SharedRegion() { munmap(data_, size_); }

}  // namespace lab32
