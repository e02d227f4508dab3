// Recognises code for earlier toolkits, which CUDA 13 does not compile, in nvcc's messages.
#pragma once

#include <optional>
#include <string>

namespace lab32::profiler {

// What replaces the first such function, member or option. nullopt: the messages name none.
std::optional<std::string> replacement_of_old_code(const std::string& messages);

}  // namespace lab32::profiler
