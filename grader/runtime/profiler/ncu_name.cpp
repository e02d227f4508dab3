#include "runtime/profiler/ncu_name.h"

#include <cstdlib>
#include <memory>

#include "base/pattern.h"
#include "base/text.h"
#include "runtime/profiler/mangled.h"

namespace lab32::profiler {

std::string ncu_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;  // extern "C"
  if (const auto name = read_mangled(symbol)) {
    static const Pattern cast("\\((\\w|:| )+\\)([0-9])"), outer("(\\w+::)+(\\w+::)");
    return outer.replace(cast.replace(*name, "$2"), "$2");
  }
  return demangle(symbol);
}

}  // namespace lab32::profiler
