// Where do lanes reconverge after a divergent branch? Each kernel is one shape of code with an if or a loop that
// some lanes leave early. Under ncu its requests show how long the lanes stayed together: stores count the
// divergent part, loads the code after it, reductions the end. The lanes' paths are independent of each other,
// except in probe_until_free.
#include <cstdio>
#include <cstdlib>

namespace {

constexpr unsigned kRounds = 24, kThreads = 64;

// A number that differs between lanes and between rounds.
__device__ unsigned drawn(unsigned round) {
  unsigned h = (threadIdx.x + 1) * 0x9e3779b9u ^ (round + 1) * 0x85ebca6bu;
  h ^= h >> 15, h *= 0x2c1b3c6du, h ^= h >> 12;
  return h;
}
__device__ bool some(unsigned round) { return drawn(round) % 3 == 0; }  // true for some of the lanes
__device__ bool few(unsigned round) { return drawn(round + 100) % 8 == 0; }
__device__ bool half(unsigned round) { return drawn(round + 200) % 2 == 0; }

__device__ unsigned load(const unsigned* p) {
  unsigned v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store(unsigned* p, unsigned v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ void reduce(unsigned* p, unsigned v) {
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

}  // namespace

#define INSIDE store(c + threadIdx.x, i)
#define BEHIND sum += load(a + threadIdx.x + i)
#define AFTER reduce(c + kThreads + threadIdx.x, sum)
#define KERNEL(name) __global__ void name(const unsigned* a, unsigned* c, unsigned n)
// A loop that ends with a load.
#define ROUNDS(name, ...)              \
  KERNEL(name) {                       \
    unsigned sum = 0;                  \
    for (unsigned i = 0; i < n; ++i) { \
      __VA_ARGS__;                     \
      BEHIND;                          \
    }                                  \
    AFTER;                             \
  }

ROUNDS(
    break_in_if, if (some(i)) {
      INSIDE;
      if (few(i)) break;
    })

ROUNDS(
    break_in_if_of_two,
    if (some(i)) {
      INSIDE;
      if (few(i)) break;
    } else {
      store(c + threadIdx.x, 7);
      if (few(i + 50)) break;
    })

KERNEL(break_behind_and) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (some(i) && load(a + threadIdx.x) != 1 && few(i)) break;
    INSIDE;
  }
  AFTER;
}

ROUNDS(
    break_of_nested_ifs, if (half(i)) {
      sum += i;
      if (some(i)) {
        INSIDE;
        if (few(i)) break;
      }
      sum += load(a + threadIdx.x + 9 * i);
    })

KERNEL(continue_of_endless) {
  unsigned sum = 0, i = 0;
  while (true) {
    ++i;
    if (half(i)) {
      INSIDE;
      continue;
    }
    BEHIND;
    if (few(i) || i >= n) break;
  }
  AFTER;
}

KERNEL(continue_of_counted) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (half(i)) {
      INSIDE;
      continue;
    }
    BEHIND;
    if (few(i)) break;
  }
  AFTER;
}

ROUNDS(
    continue_and_break_in_if, if (half(i)) {
      INSIDE;
      if (some(i)) continue;
      if (few(i)) break;
      sum += 3;
    })

KERNEL(out_of_two_loops) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      if (some(i * 4 + j)) {
        INSIDE;
        if (few(i * 4 + j)) goto done;
      }
      BEHIND;
    }
    sum += load(a + threadIdx.x + 9 * i);
  }
done:
  AFTER;
}

KERNEL(out_of_one_and_of_two_loops) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      if (some(i * 4 + j)) {
        INSIDE;
        if (few(i * 4 + j)) goto done;
        if (few(i * 4 + j + 60)) break;
      }
      sum += 5;
    }
    BEHIND;
  }
done:
  AFTER;
}

ROUNDS(
    inner_loop_in_if, if (some(i)) {
      for (unsigned j = 0; j < 5; ++j) {
        INSIDE;
        if (few(i + j)) break;
      }
      if (few(i + 9)) break;
    })

ROUNDS(
    return_in_if, if (some(i)) {
      INSIDE;
      if (few(i)) return;
    })

ROUNDS(
    return_with_result, if (some(i)) {
      INSIDE;
      if (few(i)) {
        reduce(c + kThreads + threadIdx.x, 2 * sum);
        return;
      }
    })

KERNEL(only_returns) {
  unsigned sum = 0, i = 0;
  for (;;) {
    if (some(i)) {
      INSIDE;
      if (few(i) || i > n) {
        AFTER;
        return;
      }
    }
    BEHIND;
    ++i;
  }
}

ROUNDS(
    switch_with_return, switch (drawn(i) % 6) {
      case 0:
        INSIDE;
        break;
      case 1:
        sum ^= i;
        store(c + threadIdx.x, 9);
        break;
      case 2:
        sum *= 3;
        break;
      case 3:
        if (few(i)) {
          reduce(c + kThreads + threadIdx.x, 2);
          return;
        }
        break;
      case 4:
        sum += i;
        store(c + threadIdx.x, 8);
        break;
      default:
        sum -= 7;
        break;
    })

KERNEL(switch_with_break_of_loop) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    switch (drawn(i) % 6) {
      case 0:
        INSIDE;
        break;
      case 1:
        sum ^= i;
        store(c + threadIdx.x, 9);
        break;
      case 2:
        sum *= 3;
        break;
      case 3:
        if (half(i)) goto done;
        break;
      case 4:
        sum += i;
        store(c + threadIdx.x, 8);
        break;
      default:
        sum -= 7;
        break;
    }
    BEHIND;
  }
done:
  AFTER;
}

__device__ bool is_wanted(unsigned i, unsigned* c) {
  if (half(i)) return false;
  INSIDE;
  if (some(i)) return false;
  store(c + threadIdx.x, 2 * i);
  return few(i);
}
ROUNDS(break_by_function, if (is_wanted(i, c)) break;)

ROUNDS(
    breaks_with_work,
    if (few(i)) {
      store(c + threadIdx.x, sum);
      break;
    } if (some(i)) {
      INSIDE;
      if (few(i + 70)) {
        store(c + threadIdx.x, 3 * sum);
        break;
      }
    })

KERNEL(do_while_with_break) {
  unsigned sum = 0, i = 0;
  do {
    if (some(i)) {
      INSIDE;
      if (few(i)) break;
    }
    BEHIND;
    ++i;
  } while (drawn(i) % 16 != 0 && i < n);
  AFTER;
}

KERNEL(until_flag) {
  unsigned sum = 0;
  bool done = false;
  for (unsigned i = 0; i < n && !done; ++i) {
    if (some(i)) {
      INSIDE;
      done = few(i);
    }
    BEHIND;
  }
  AFTER;
}

KERNEL(probe_until_free) {  // open addressing, as a hash table's insertion; a table for each warp
  unsigned sum = 0;
  unsigned* const table = c + 256 + threadIdx.x / 32 * 1024;
  for (unsigned i = 0; i < n; ++i) {
    unsigned at = drawn(i) % 1024;
    while (true) {
      const unsigned old = atomicCAS(table + at, 0, threadIdx.x + 1);
      if (old == 0 || old == threadIdx.x + 1) break;
      if (drawn(at) % 32 == 0) goto full;
      at = (at + 1) % 1024;
    }
    BEHIND;
  full:
    sum += load(a + threadIdx.x + 9 * i);
  }
  AFTER;
}

KERNEL(binary_search) {
  unsigned sum = 0, low = 0, high = n;
  const unsigned wanted = drawn(1) % n;
  while (low < high) {
    const unsigned i = (low + high) / 2;
    BEHIND;
    if (i == wanted) {
      INSIDE;
      break;
    }
    if (i < wanted)
      low = i + 1;
    else
      high = i;
  }
  AFTER;
}

KERNEL(within_an_if) {  // only some lanes reach the loop, which is left from inside an if
  unsigned sum = 0;
  if (half(3)) {
    for (unsigned i = 0; i < n; ++i) {
      if (some(i)) {
        INSIDE;
        if (few(i)) break;
      }
      BEHIND;
    }
    sum += load(a + threadIdx.x + 7);
  }
  sum += load(a + threadIdx.x + 9);
  AFTER;
}

KERNEL(two_continues_of_endless) {
  unsigned sum = 0, i = 0;
  while (i < n) {
    ++i;
    if (half(i)) {
      INSIDE;
      if (few(i)) break;
      continue;
    }
    if (some(i)) {
      store(c + threadIdx.x, 5);
      continue;
    }
    BEHIND;
    if (few(i + 40)) break;
  }
  AFTER;
}

KERNEL(three_loops) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n / 4; ++i) {
    for (unsigned j = 0; j < n / 8; ++j) {
      for (unsigned k = 0; k < n / 8; ++k) {
        const unsigned r = 9 * i + 3 * j + k;
        if (some(r)) {
          INSIDE;
          if (few(r)) break;
          if (few(r + 400)) goto next;
          if (drawn(r + 500) % 32 == 0) goto done;
        }
        sum += r;
      }
      BEHIND;
    }
  next:
    sum += load(a + threadIdx.x + 9 * i);
  }
done:
  AFTER;
}

// ptxas unrolls the second loop and treats the first as a loop.
KERNEL(three_loops_unrolled) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n / 4; ++i) {
    for (unsigned j = 0; j < 3; ++j) {
      for (unsigned k = 0; k < 3; ++k) {
        const unsigned r = 9 * i + 3 * j + k;
        if (some(r)) {
          INSIDE;
          if (few(r)) break;
          if (few(r + 400)) goto next;
          if (drawn(r + 500) % 32 == 0) goto done;
        }
        sum += r;
      }
      BEHIND;
    }
  next:
    sum += load(a + threadIdx.x + 9 * i);
  }
done:
  AFTER;
}

KERNEL(inner_loop_and_return) {  // of an intersection with the first of several surfaces
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    unsigned j = 0;
    while (drawn(i + 7 * j) % 4 != 0) {
      if (some(i + j)) {
        INSIDE;
        if (drawn(i + j + 300) % 16 == 0) {
          AFTER;
          return;
        }
      }
      ++j;
    }
    BEHIND;
  }
  AFTER;
}

ROUNDS(
    or_of_three, if (some(i) || (half(i) && load(a + threadIdx.x + 9 * i) == 0)) {
      INSIDE;
      if (few(i) && load(a + threadIdx.x + 5 * i) == 0) break;
    })

// ---- a loop without an end of its own
// ------------------------------------------------------------
#define ENDLESS(name, code)  \
  KERNEL(name) {             \
    unsigned sum = 0, i = 0; \
    while (true) {           \
      ++i;                   \
      code                   \
    }                        \
    AFTER;                   \
  }
#define LONG_WORK                                           \
  store(c + 3, sum), sum += load(a + i), store(c + 7, sum); \
  sum ^= load(a + 7 * i), store(c + 11, sum), sum *= load(a + 11 * i)
ENDLESS(
    endless_with_if,
    if (half(i)) {
      INSIDE;
      if (some(i)) {
        LONG_WORK;
      }
      continue;
    } BEHIND;
    if (few(i) || i >= n) break;)
ENDLESS(
    endless_with_choice,
    if (half(i)) {
      INSIDE;
      if (some(i)) {
        LONG_WORK;
      } else {
        store(c + 5, i);
        LONG_WORK;
      }
      continue;
    } BEHIND;
    if (few(i) || i >= n) break;)
ENDLESS(
    endless_three_continues,
    if (half(i)) {
      INSIDE;
      if (some(i)) {
        LONG_WORK;
        continue;
      }
      store(c + 5, i);
      LONG_WORK;
      sum += 9;
      continue;
    } BEHIND;
    if (few(i) || i >= n) break;)
ENDLESS(
    endless_exit_first,
    if (half(i)) {
      BEHIND;
      if (few(i) || i >= n) break;
      continue;
    } INSIDE;
    LONG_WORK;)
ENDLESS(
    endless_exit_then_work,
    if (half(i)) {
      if (few(i) || i >= n) break;
      BEHIND;
      continue;
    } INSIDE;
    LONG_WORK;)
ENDLESS(
    endless_two_exits,
    if (half(i)) {
      INSIDE;
      if (few(i + 50)) break;
      continue;
    } BEHIND;
    if (few(i) || i >= n) break;)

// ---- two loops, left from inside an if, in one way or several -----------------------------------
#define TWO_LOOPS(name, leave)               \
  KERNEL(name) {                             \
    unsigned sum = 0;                        \
    for (unsigned k = 0; k < n / 2; ++k) {   \
      for (unsigned j = 0; j < n / 8; ++j) { \
        const unsigned i = 9 * k + 3 * j;    \
        if (some(i)) {                       \
          INSIDE;                            \
          leave                              \
        }                                    \
        BEHIND;                              \
      }                                      \
      sum += load(a + 9);                    \
    next:                                    \
      sum += load(a + threadIdx.x + 9 * k);  \
    }                                        \
  done:                                      \
    AFTER;                                   \
  }
#define BREAK \
  if (few(i)) break;
#define NEXT \
  if (few(i + 400)) goto next;
#define DONE \
  if (drawn(i + 500) % 32 == 0) goto done;
#define RETURN \
  if (drawn(i + 600) % 32 == 0) return;
TWO_LOOPS(of_two_break, BREAK)
TWO_LOOPS(of_two_next, NEXT)
TWO_LOOPS(of_two_done, DONE)
TWO_LOOPS(of_two_break_next, BREAK NEXT)
TWO_LOOPS(of_two_break_done, BREAK DONE)
TWO_LOOPS(of_two_next_done, NEXT DONE)
TWO_LOOPS(of_two_all, BREAK NEXT DONE)
TWO_LOOPS(of_two_break_return, BREAK RETURN)
TWO_LOOPS(of_two_next_return, NEXT RETURN)

// ---- no loop: places that some lanes avoid
#define EITHER_OF_TWO some(i) || load(a + threadIdx.x + 9 * i) == 0
#define EITHER_OF_THREE some(i) || (half(i) && load(a + threadIdx.x + 9 * i) == 0)
#define WORK                          \
  {                                   \
    INSIDE;                           \
    sum += load(a + 5 * threadIdx.x); \
  }
#define ONCE(name, code)     \
  KERNEL(name) {             \
    unsigned sum = 0, i = n; \
    code;                    \
    AFTER;                   \
  }
ONCE(
    early_return, if (some(i)) {
      INSIDE;
      if (few(i)) return;
    } BEHIND)
ONCE(
    early_return_with_work, if (some(i)) {
      INSIDE;
      if (few(i)) {
        reduce(c + 2 * kThreads, 5);
        return;
      }
    } BEHIND)
ONCE(
    early_returns_of_both,
    if (some(i)) {
      INSIDE;
      if (few(i)) return;
    } else {
      store(c + 5, 5);
      if (half(i)) return;
      sum = 5;
    } BEHIND)
ONCE(
    jump_forward,
    if (some(i)) {
      INSIDE;
      if (few(i)) goto done;
    } BEHIND;
    store(c + 99, sum); BEHIND; done:)
ONCE(
    jumps_forward,
    if (half(i)) {
      if (some(i)) {
        INSIDE;
        if (few(i)) goto done;
        if (few(i + 9)) goto next;
        store(c + 7, 8);
      }
      BEHIND;
      store(c + 99, sum);
      BEHIND;
    } next
    : store(c + 3, sum);
    BEHIND; done:)
ONCE(either_of_two, if (EITHER_OF_TWO) WORK BEHIND)
ONCE(either_of_three, if (EITHER_OF_THREE) WORK BEHIND)
ONCE(
    either_and_return, if (EITHER_OF_TWO) {
      INSIDE;
      if (half(i)) return;
      sum += 5;
    } BEHIND)
ONCE(
    either_and_if, if (EITHER_OF_TWO) {
      INSIDE;
      if (few(i)) {
        sum += load(a + i);
        INSIDE;
      }
    } BEHIND)
ONCE(
    not_if_so, bool go = true; if (some(i)) {
      store(c + 8, 9);
      go = load(a + 3 + threadIdx.x) == 0;
    } if (go) WORK BEHIND)
ONCE(
    both_or_else,
    if (some(i) && load(a + threadIdx.x + 9 * i) == 0) WORK else { store(c + 5, 5); } BEHIND)
ONCE(
    either_in_if,
    if (half(i)) {
      store(c + 3, i);
      if (EITHER_OF_TWO) WORK store(c + 4, sum);
      if (few(i)) goto done;
    } BEHIND;
    store(c + 9, sum); done:)
ONCE(
    either_then_jump,
    if (EITHER_OF_TWO) {
      INSIDE;
      if (few(i)) goto done;
    } BEHIND;
    store(c + 9, sum); done:)

// ---- the same in a loop
// --------------------------------------------------------------------------
ROUNDS(rounds_either_of_three, if (EITHER_OF_THREE) WORK)
ROUNDS(
    rounds_either_break, if (EITHER_OF_TWO) {
      INSIDE;
      if (few(i)) break;
    })
ROUNDS(
    rounds_either_of_three_break, if (EITHER_OF_THREE) {
      INSIDE;
      if (few(i)) break;
    })
ROUNDS(
    rounds_either_if, if (EITHER_OF_TWO) {
      INSIDE;
      if (few(i)) sum += load(a + 5 * threadIdx.x + i);
    })
ROUNDS(
    rounds_skip_and_break,
    if (some(i)) {
      INSIDE;
      if (load(a + 9 * i)) goto skip;
      if (few(i)) break;
    } sum += load(a + 77 * i);
    store(c + 5, sum); skip:)
ROUNDS(
    rounds_skip_then_break,
    if (some(i)) {
      INSIDE;
      if (load(a + 9 * i)) goto skip;
    } sum += load(a + 77 * i);
    store(c + 5, sum); if (few(i)) break; skip:)
ROUNDS(
    rounds_either_then_break_in_if, if (half(i)) {
      store(c + 3, i);
      if (EITHER_OF_TWO) WORK store(c + 4, sum);
      if (few(i)) break;
    })
ROUNDS(
    rounds_break_then_either_in_if, if (half(i)) {
      store(c + 3, i);
      if (few(i)) break;
      if (EITHER_OF_TWO) WORK store(c + 4, sum);
    })
ROUNDS(rounds_either_then_break, if (EITHER_OF_TWO) WORK store(c + 4, sum); if (few(i)) break)
ROUNDS(
    rounds_return_in_nested_if, if (half(i)) {
      INSIDE;
      if (some(i)) {
        store(c + 3, i);
        if (drawn(i) % 32 == 0) return;
      }
      sum += load(a + 3 * i);
    })

static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "divergence: %s\n", cudaGetErrorString(e));
  std::exit(2);
}

int main() {
  unsigned *a, *c;
  constexpr size_t kBytes = 16384;
  check(cudaMalloc(&a, kBytes));
  check(cudaMalloc(&c, kBytes));
#define RUN(name)                       \
  check(cudaMemset(a, 0, kBytes));      \
  check(cudaMemset(c, 0, kBytes));      \
  name<<<1, kThreads>>>(a, c, kRounds); \
  check(cudaGetLastError());            \
  check(cudaDeviceSynchronize())
  RUN(break_in_if);
  RUN(break_in_if_of_two);
  RUN(break_behind_and);
  RUN(break_of_nested_ifs);
  RUN(continue_of_endless);
  RUN(continue_of_counted);
  RUN(continue_and_break_in_if);
  RUN(out_of_two_loops);
  RUN(out_of_one_and_of_two_loops);
  RUN(inner_loop_in_if);
  RUN(return_in_if);
  RUN(return_with_result);
  RUN(only_returns);
  RUN(switch_with_return);
  RUN(switch_with_break_of_loop);
  RUN(break_by_function);
  RUN(breaks_with_work);
  RUN(do_while_with_break);
  RUN(until_flag);
  RUN(probe_until_free);
  RUN(binary_search);
  RUN(within_an_if);
  RUN(two_continues_of_endless);
  RUN(three_loops);
  RUN(three_loops_unrolled);
  RUN(inner_loop_and_return);
  RUN(or_of_three);
  RUN(endless_with_if);
  RUN(endless_with_choice);
  RUN(endless_three_continues);
  RUN(endless_exit_first);
  RUN(endless_exit_then_work);
  RUN(endless_two_exits);
  RUN(of_two_break);
  RUN(of_two_next);
  RUN(of_two_done);
  RUN(of_two_break_next);
  RUN(of_two_break_done);
  RUN(of_two_next_done);
  RUN(of_two_all);
  RUN(of_two_break_return);
  RUN(of_two_next_return);
  RUN(early_return);
  RUN(early_return_with_work);
  RUN(early_returns_of_both);
  RUN(jump_forward);
  RUN(jumps_forward);
  RUN(either_of_two);
  RUN(either_of_three);
  RUN(either_and_return);
  RUN(either_and_if);
  RUN(not_if_so);
  RUN(both_or_else);
  RUN(either_in_if);
  RUN(either_then_jump);
  RUN(rounds_either_of_three);
  RUN(rounds_either_break);
  RUN(rounds_either_of_three_break);
  RUN(rounds_either_if);
  RUN(rounds_skip_and_break);
  RUN(rounds_skip_then_break);
  RUN(rounds_either_then_break_in_if);
  RUN(rounds_break_then_either_in_if);
  RUN(rounds_either_then_break);
  RUN(rounds_return_in_nested_if);
  return 0;
}
