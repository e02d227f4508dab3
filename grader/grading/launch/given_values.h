// What a function of a lab's file gives for many values, by a given kernel of the lab that no check
// instantiates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lab32::grading {

// `kernel`: an instance of a template of checks/<lab>/given.cu with the parameters (const unsigned*
// in, unsigned* out, int n), as "swizzle_all<3, 0, 3>". Throws Error where the file does not
// compile with it, or the kernel does not run to its end.
std::vector<uint32_t> given_values(const std::string& lab, const std::filesystem::path& file,
                                   const std::string& device, const std::string& kernel,
                                   const std::vector<uint32_t>& in);

}  // namespace lab32::grading
