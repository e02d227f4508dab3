#include "grading/declared/compare.h"

#include <cstring>
#include <stdexcept>

#include "grading/launch/arrays.h"

namespace lab32::grading {
namespace {

template <class T>
std::vector<T> typed(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::string typed_mismatch(const std::string& name, const std::vector<std::byte>& got,
                           const std::vector<std::byte>& want, double relative_tolerance) {
  return mismatch(name, typed<T>(got), typed<T>(want), relative_tolerance);
}

struct Comparison {
  const char* type;
  std::string (*mismatch)(const std::string&, const std::vector<std::byte>&,
                          const std::vector<std::byte>&, double);
};
constexpr Comparison kComparisons[] = {{"int", &typed_mismatch<int>},
                                       {"unsigned", &typed_mismatch<unsigned>},
                                       {"float", &typed_mismatch<float>},
                                       {"double", &typed_mismatch<double>},
                                       {"short", &typed_mismatch<short>},
                                       {"unsigned short", &typed_mismatch<unsigned short>},
                                       {"signed char", &typed_mismatch<signed char>},
                                       {"unsigned char", &typed_mismatch<unsigned char>},
                                       {"long long", &typed_mismatch<long long>},
                                       {"unsigned long long", &typed_mismatch<unsigned long long>}};

}  // namespace

std::string elements_mismatch(const std::string& name, const std::vector<std::byte>& got,
                              const Elements& want, double relative_tolerance) {
  for (const Comparison& comparison : kComparisons)
    if (want.type->name == comparison.type)
      return comparison.mismatch(name, got, want.bytes, relative_tolerance);
  throw std::logic_error("elements of type " + want.type->name + " cannot be compared");
}

}  // namespace lab32::grading
