#include "sim/printf.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "sim/address.h"

namespace lab32::sim {
namespace {

// A string in device memory, up to its 0; stops at the end of its allocation.
std::string device_string(const Block& block, uint64_t address) {
  const Memory& memory = *block.launch().memory;
  const Allocation* a = memory.find(address);
  std::string text;
  for (uint64_t at = address; a && at < a->end; ++at) {
    const char c = static_cast<char>(*memory.host(at));
    if (c == 0) break;
    text += c;
  }
  return text;
}

template <class T>
T parameter(Warp& w, const CallSite& site, size_t index, int lane) {
  T value{};
  const Frame& frame = *w.current().frame;
  std::memcpy(&value,
              frame.params.data() + static_cast<size_t>(lane) * frame.function->param_bytes +
                  site.arguments.at(index),
              sizeof value);
  return value;
}

// printf's arguments lie in local memory, each aligned to its size, promoted as in C.
class Arguments {
 public:
  Arguments(Warp& warp, int lane, uint64_t address) : warp_(warp), lane_(lane), at_(address) {}

  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    const uint64_t offset = at_ - kLocalBase;
    if (at_ >= kLocalBase && offset + sizeof(T) <= warp_.local_capacity())
      std::memcpy(&value, warp_.local(lane_) + offset, sizeof value);
    at_ += sizeof(T);
    return value;
  }

 private:
  Warp& warp_;
  int lane_;
  uint64_t at_;
};

template <class T>
std::string print_one(const std::string& spec, T value) {
  char buffer[512];
  const int n = std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
  return std::string(buffer, n < 0 ? 0 : std::min<size_t>(static_cast<size_t>(n), sizeof buffer - 1));
}

std::string format(Warp& warp, int lane, const std::string& text, uint64_t arguments) {
  Arguments next(warp, lane, arguments);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    std::string spec = "%";
    size_t j = i + 1;
    bool is_long = false;
    while (j < text.size() && std::strchr("-+ #0123456789.*hlLjzt", text[j])) {
      if (text[j] == '*') {
        spec += std::to_string(next.next<int>());
      } else if (std::strchr("lLjzt", text[j])) {
        is_long = true;
      } else if (text[j] != 'h') {
        spec += text[j];
      }
      ++j;
    }
    if (j >= text.size()) {
      out += text.substr(i);
      break;
    }
    const char c = text[j];
    switch (c) {
      case '%': out += '%'; break;
      case 'd': case 'i':
        out += is_long ? print_one(spec + "lld", next.next<long long>())
                       : print_one(spec + c, next.next<int>());
        break;
      case 'u': case 'x': case 'X': case 'o':
        out += is_long ? print_one(spec + "ll" + c, next.next<unsigned long long>())
                       : print_one(spec + c, next.next<unsigned>());
        break;
      case 'c': out += print_one(spec + c, next.next<int>()); break;
      case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
        out += print_one(spec + c, next.next<double>());
        break;
      case 'p': out += fmt::format("{:#x}", next.next<uint64_t>()); break;
      case 's': out += device_string(warp.block(), next.next<uint64_t>()); break;
      default: out += text.substr(i, j - i + 1);  // as the device runtime: printed as it stands
    }
    i = j;
  }
  return out;
}

}  // namespace

void device_printf(Warp& warp, const Inst&, const CallSite& site, uint32_t mask) {
  Frame& frame = *warp.current().frame;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const std::string text = device_string(warp.block(), parameter<uint64_t>(warp, site, 0, l));
    warp.block().print(format(warp, l, text, parameter<uint64_t>(warp, site, 1, l)));
    if (!site.results.empty()) {
      const int32_t result = 0;
      std::memcpy(frame.params.data() + static_cast<size_t>(l) * frame.function->param_bytes +
                      site.results[0],
                  &result, sizeof result);
    }
  }
}

void device_assert(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask) {
  const int l = __builtin_ctz(mask);
  const Block& block = warp.block();
  const std::string expression = device_string(block, parameter<uint64_t>(warp, site, 0, l));
  const auto line = parameter<uint32_t>(warp, site, 2, l);
  warp.trap(in, "assert",
            fmt::format("{}: assertion `{}` failed (line {})", warp.thread_name(l), expression, line));
}

}  // namespace lab32::sim
