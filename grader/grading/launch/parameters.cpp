#include "grading/launch/parameters.h"

#include <fmt/format.h>

#include <cstring>

#include "base/pattern.h"
#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/arrays.h"

namespace lab32::grading {
namespace {

// The array that an argument is the address of; nullptr: it is none.
const DeviceArray* array_of(const device::Arg& arg) {
  uint64_t address = 0;
  if (arg.bytes().size() != sizeof address) return nullptr;
  std::memcpy(&address, arg.bytes().data(), sizeof address);
  for (const DeviceArray* memory : session().memories)
    if (memory->buffer().address == address) return memory;
  return nullptr;
}

bool is_pointer(const std::string& type) { return !type.empty() && type.back() == '*'; }
bool is_to_const(const std::string& type) { return Pattern(" const\\*$").search(type).has_value(); }

std::string shown(const std::string& type) {
  return Pattern("^(.*) const\\*$").replace(type, "const $1*");
}

}  // namespace

void check_parameters(const device::KernelInfo& kernel, const std::vector<device::Arg>& args,
                      const std::string& setting) {
  const auto& types = kernel.parameter_types;
  if (types.empty()) return;
  bool other_kind = types.size() != args.size(), in_is_written = false, out_is_const = false;
  std::vector<std::string> takes, given;
  for (const std::string& type : types) takes.push_back(shown(type));
  for (size_t i = 0; i < args.size(); ++i) {
    const device::Arg& arg = args[i];
    const DeviceArray* array = array_of(arg);
    given.push_back(array ? array->name() : fmt::format("{} bytes", arg.bytes().size()));
    if (i >= types.size()) continue;
    if (array) other_kind |= !is_pointer(types[i]);
    if (arg.bytes().size() < sizeof(uint64_t)) other_kind |= is_pointer(types[i]);
    if (array && !array->read_only()) out_is_const |= is_to_const(types[i]);
    if (array && array->read_only())
      in_is_written |= is_pointer(types[i]) && !is_to_const(types[i]);
  }
  if (!other_kind && !(in_is_written && out_is_const)) return;
  measured("other parameters");
  lose({report::Failure::Kind::missing, setting, kernel.name}, 0,
       fmt::format(
           "`{}` takes ({}), and is called with ({}). The parameters of the kernels and their "
           "order stay as given.",
           kernel.name, fmt::join(takes, ", "), fmt::join(given, ", ")));
}

}  // namespace lab32::grading
