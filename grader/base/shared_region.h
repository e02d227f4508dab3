// Memory that this process and the children that it forks from now on see alike: for what is too
// much for a pipe.
#pragma once

#include <cstddef>

namespace lab32 {

class SharedRegion {
 public:
  // `most` is address space; memory is taken where something is written.
  explicit SharedRegion(size_t most);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_;
};

}  // namespace lab32
