// The driver's contexts. There is one device memory; a context is what the program's modules and
// allocations go away with.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

struct CUctx_st {
  unsigned flags = 0;
  unsigned long long id = 0;
  std::set<uint64_t> memory;  // where the allocations begin that it was current for
};

namespace lab32::cudart {

class Contexts {
 public:
  using Context = CUctx_st*;

  Context make(unsigned flags);
  void drop(Context context);
  bool knows(Context context) const;

  // The runtime's own, one a device.
  Context primary() { return &primary_; }
  void retain() { ++retained_; }
  bool release() { return retained_ > 0 && --retained_ == 0; }  // true: nobody has it any more
  bool is_active() const { return retained_ > 0 || in_use_by_runtime_; }
  // The runtime is called: the primary context becomes current where none is, and is kept.
  void use_primary();
  void forget_runtime() { in_use_by_runtime_ = false; }

  // Whether cuInit() was called, by the program or for it.
  static std::atomic<bool>& initialised();
  // Those of this thread that were pushed, the current one last; it may be a null.
  static std::vector<Context>& stack();
  static Context current() { return stack().empty() ? nullptr : stack().back(); }
  static void set_current(Context context);

 private:
  CUctx_st primary_{0, 1, {}};
  int retained_ = 0;
  bool in_use_by_runtime_ = false;
  unsigned long long serial_ = 1;
  std::set<Context> made_;
};

}  // namespace lab32::cudart
