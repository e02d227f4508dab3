// Executes printf and assert, malloc and free when kernels call them.
#include "simulator/core/isa/device_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

namespace {

// The limit of one value's text, whatever width the format has. It exceeds the output limit of a
// launch.
constexpr size_t kTextLimit = 2 << 20;

// Reads a zero-terminated string from device memory or the lane's local memory. Stops at the end of
// the allocation.
std::string read_device_string(Warp& warp, int lane, uint64_t address) {
  if (address - kLocalBase < kWindowBytes) {
    std::string text;
    for (uint64_t at = address - kLocalBase; at < warp.local().capacity(); ++at) {
      const char c = static_cast<char>(warp.local().of(lane)[at]);
      if (c == 0) break;
      text += c;
    }
    return text;
  }
  const Memory& memory = *warp.block().launch().memory;
  const Allocation* a = memory.find(address);
  std::string text;
  for (uint64_t at = address; a && at < a->end && text.size() < kTextLimit; ++at) {
    const char c = static_cast<char>(*memory.host(at));
    if (c == 0) break;
    text += c;
  }
  return text;
}

template <class T>
T read_call_parameter(Warp& w, const CallSite& site, size_t index, int lane) {
  T value{};
  const CallFrame& frame = *w.current().frame;
  std::memcpy(&value,
              frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.arguments.at(index),
              sizeof value);
  return value;
}

// printf's arguments are in local memory, each aligned to its size and promoted as in C.
class PrintfArguments {
 public:
  PrintfArguments(Warp& warp, int lane, uint64_t address)
      : warp_(warp), lane_(lane), at_(address) {}

  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    const uint64_t offset = at_ - kLocalBase;
    if (at_ >= kLocalBase && offset + sizeof(T) <= warp_.local().capacity())
      std::memcpy(&value, warp_.local().of(lane_) + offset, sizeof value);
    at_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  Warp& warp_;
  int lane_;
  uint64_t at_;
  int count_ = 0;
};

// The text of a width or a precision. It is clamped, because a width of 2^31 would keep the C
// library busy for seconds.
std::string clamped_printf_width_text(long long value) {
  const auto most = static_cast<long long>(kTextLimit);
  return std::to_string(std::clamp(value, -most, most));
}

// Parts of conversions that C has but CUDA's printf lacks (%hhd, %zu, %.*f, %Lf). A GPU then loses
// track of the arguments and prints arbitrary values (H200, 2026-11-26). The simulator prints the
// rest of the format unchanged, so that no plausible number appears.
constexpr const char* kUnknownToGpus = "hlLjztqI*'";

template <class T>
std::string format_argument(const std::string& spec, T value) {
  const int n = std::snprintf(nullptr, 0, spec.c_str(), value);
  std::string text(n < 0 ? 0 : std::min(static_cast<size_t>(n), kTextLimit), ' ');
  std::snprintf(text.data(), text.size() + 1, spec.c_str(), value);
  return text;
}

std::string format_printf_text(Warp& warp, int lane, const std::string& text,
                               PrintfArguments& next) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    std::string spec = "%";
    size_t j = i + 1;
    const auto at = [&](const char* any) {
      return j < text.size() && text[j] != 0 && std::strchr(any, text[j]) != nullptr;
    };
    const auto number = [&] {
      const size_t end = std::min(text.find_first_not_of("0123456789", j), text.size());
      spec += clamped_printf_width_text(std::strtoll(text.substr(j, end - j).c_str(), nullptr, 10));
      j = end;
    };
    while (at("-+ #0")) spec += text[j++];
    if (at("*"))
      spec += clamped_printf_width_text(next.next<int>()), ++j;
    else if (at("123456789"))
      number();
    if (at(".")) {
      spec += text[j++];
      if (at("0123456789")) number();
    }
    const bool is_short = at("h");
    j += is_short;
    const size_t size = j;
    while (!is_short && j < size + 2 && at("l")) ++j;
    const bool is_long = j > size;
    if (j >= text.size() || at(kUnknownToGpus) || (is_long && at("cs"))) {
      out += text.substr(i);
      break;
    }
    const char c = text[j];
    switch (c) {
      case '%':
        out += '%';
        break;
      case 'd':
      case 'i':
        out += is_long    ? format_argument(spec + "lld", next.next<long long>())
               : is_short ? format_argument(spec + c, static_cast<short>(next.next<int>()))
                          : format_argument(spec + c, next.next<int>());
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        out += is_long ? format_argument(spec + "ll" + c, next.next<unsigned long long>())
               : is_short
                   ? format_argument(spec + c, static_cast<unsigned short>(next.next<unsigned>()))
                   : format_argument(spec + c, next.next<unsigned>());
        break;
      case 'c':
        out += format_argument(spec + c, next.next<int>());
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        out += format_argument(spec + c, next.next<double>());
        break;
      case 'p':
        out += format_argument(spec + c, reinterpret_cast<void*>(next.next<uint64_t>()));
        break;
      case 's':
        out += format_argument(spec + c,
                               read_device_string(warp, lane, next.next<uint64_t>()).c_str());
        break;
      default:
        // The device runtime prints an unknown conversion unchanged, too.
        out += text.substr(i, j - i + 1);
    }
    i = j;
  }
  return out;
}

}  // namespace

void device_printf(Warp& warp, const Inst&, const CallSite& site, uint32_t mask) {
  CallFrame& frame = *warp.current().frame;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    // The output limit is reached. Formatting more text would make a kernel that prints endlessly
    // run for hours.
    if (warp.block().prints_no_more()) continue;
    const std::string text =
        read_device_string(warp, l, read_call_parameter<uint64_t>(warp, site, 0, l));
    PrintfArguments arguments(warp, l, read_call_parameter<uint64_t>(warp, site, 1, l));
    warp.block().append_printf_output(format_printf_text(warp, l, text, arguments));
    if (!site.results.empty()) {
      // CUDA's printf returns the number of arguments, unlike C's
      const int32_t result = arguments.count();
      std::memcpy(frame.params.data() + static_cast<size_t>(l) * frame.function->param_bytes +
                      site.results[0],
                  &result, sizeof result);
    }
  }
}

void device_assert(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  const int l = __builtin_ctz(mask);
  TrapFacts facts = warp.facts(TrapReason::assertion, l);
  facts.name = read_device_string(warp, l, read_call_parameter<uint64_t>(warp, site, 0, l));
  facts.value = read_call_parameter<uint32_t>(warp, site, 2, l);
  warp.trap(in, std::move(facts));
}

// ---------------------------------------------------------------------------------------------

namespace {

uint64_t first_argument_of_call(Warp& warp, const CallSite& site, int lane) {
  const CallFrame& frame = *warp.current().frame;
  uint64_t value = 0;
  std::memcpy(&value,
              frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.arguments.at(0),
              sizeof value);
  return value;
}

KernelMallocHeap& heap_of(const Warp& warp) {
  const BlockContext& block = warp.block();
  if (block.accesses().runs_in_parallel()) throw OrderMatters{};
  if (block.accesses().guarded()) throw HeapTouched{};
  return *block.launch().heap;
}

}  // namespace

void device_malloc(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  KernelMallocHeap& heap = heap_of(warp);
  const auto place = warp.block().launch().program->position(in.site);
  const std::string name =
      place ? fmt::format("memory from malloc, line {}", place->line) : "memory from malloc";
  CallFrame& frame = *warp.current().frame;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t address = heap.allocate(first_argument_of_call(warp, site, l), name);
    if (site.results.empty()) continue;
    std::memcpy(frame.params.data() + static_cast<size_t>(l) * frame.function->param_bytes +
                    site.results[0],
                &address, sizeof address);
  }
}

void device_free(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  KernelMallocHeap& heap = heap_of(warp);
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t address = first_argument_of_call(warp, site, l);
    if (address == 0) continue;
    const KernelMallocHeap::Release done = heap.release(address);
    if (done == KernelMallocHeap::Release::done) continue;
    TrapFacts facts =
        warp.facts(done == KernelMallocHeap::Release::freed_before ? TrapReason::freed_twice
                                                                   : TrapReason::not_allocated,
                   l);
    facts.value = address;
    Warp::trap(in, std::move(facts));
  }
}

}  // namespace lab32::sim
