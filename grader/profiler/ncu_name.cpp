#include "profiler/ncu_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/pattern.h"
#include "profiler/mangled.h"

namespace lab32::profiler {

std::string ncu_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;  // extern "C"
  if (const auto name = read_mangled(symbol)) {
    static const Pattern cast("\\((\\w|:| )+\\)([0-9])"), outer("(\\w+::)+(\\w+::)");
    return outer.replace(cast.replace(*name, "$2"), "$2");
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

}  // namespace lab32::profiler
