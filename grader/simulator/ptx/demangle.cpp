#include "simulator/ptx/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace lab32::ptx {

std::string demangle(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;  // else `f` would become `float`
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace lab32::ptx
