// Functions that are the runtime's under another name.
#pragma once

#include "runtime/driver/call.h"

#define LAB32_SAME(name, symbol, parameters, ...)      \
  CUresult symbol parameters {                         \
    return forward(name, [&] { return __VA_ARGS__; }); \
  }                                                    \
  static_assert(true)
#define LAB32_SAME_PER_THREAD(name, symbol, parameters, ...) \
  LAB32_SAME(name, symbol, parameters, __VA_ARGS__);         \
  LAB32_PER_THREAD(symbol, _ptsz)
