// The driver's contexts. A device's memory is one, whichever of its contexts is current; a context
// is what the program's modules and allocations go away with.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

struct CUctx_st {
  int device = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  std::set<uint64_t> memory;  // where the allocations begin that it was current for
};

namespace lab32::cudart {

class Contexts {
 public:
  using Context = CUctx_st*;

  explicit Contexts(int devices);

  Context make(unsigned flags, int device);
  void drop(Context context);
  bool knows(Context context) const;

  // The runtime's own, one a device.
  Context primary(int device) { return &primaries_[index(device)].context; }
  bool is_primary(Context context) const;
  void retain(int device) { ++primaries_[index(device)].retained; }
  bool release(int device);  // true: nobody has it any more
  bool is_active(int device) const;
  // The runtime is called: the primary context of the first device becomes current where none is.
  void use_primary();
  // The runtime's from here on, in this thread.
  void use(int device);

  // That was current when the allocation that begins there was made; nullptr: none.
  Context owner(uint64_t begin);

  // Whether cuInit() was called, by the program or for it.
  static std::atomic<bool>& initialised();
  // Those of this thread that were pushed, the current one last; it may be a null.
  static std::vector<Context>& stack();
  static Context current() { return stack().empty() ? nullptr : stack().back(); }
  static void set_current(Context context);
  // The current context's; where there is none, that which the thread chose last.
  static int current_device();

  // While one lives, that context is this thread's current one.
  class Pushed {
   public:
    explicit Pushed(Context context) { stack().push_back(context); }
    ~Pushed() { stack().pop_back(); }
    Pushed(const Pushed&) = delete;
    Pushed& operator=(const Pushed&) = delete;
  };

 private:
  struct Primary {
    CUctx_st context;
    int retained = 0;
    bool in_use_by_runtime = false;
  };
  static size_t index(int device) { return static_cast<size_t>(device); }
  static int& chosen_device();

  std::vector<Primary> primaries_;  // by device; never more or fewer
  unsigned long long serial_ = 0;
  std::set<Context> made_;
};

}  // namespace lab32::cudart
