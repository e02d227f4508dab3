// Finds nvcc, nvdisasm and the host compiler, and lists the directories that a compilation must be
// able to read. installed_toolchain() searches once per process; find_toolchain() lets tests choose
// the environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32::toolchain {

struct Toolchain {
  std::filesystem::path nvcc;
  std::filesystem::path nvdisasm;       // empty: there is none
  std::filesystem::path cuda_home;      // contains bin/, nvvm/ and the headers
  std::filesystem::path host_compiler;  // the g++ whose preprocessor and headers nvcc uses
  // Canonical directories that contain all files a compilation reads.
  std::vector<std::filesystem::path> roots;
  std::string path;      // PATH for nvcc, which looks up gcc there
  std::string identity;  // changes when one of the programs changes
};

// The installed toolchain. Searches, in this order: LAB32_NVCC and LAB32_NVDISASM;
// build/toolchain.env of the checkout; wheels installed next to lab32's; PATH; /usr/local/cuda; the
// wheels in .venv. Throws Error when there is no nvcc or no g++.
const Toolchain& installed_toolchain();

// The places in which find_toolchain() searches; tests give other ones.
struct ToolchainSearchPlaces {
  std::filesystem::path root;        // root of the checkout
  std::string nvcc, nvdisasm, path;  // LAB32_NVCC, LAB32_NVDISASM, PATH
  std::filesystem::path usual = "/usr/local/cuda";
};
Toolchain find_toolchain(const ToolchainSearchPlaces& where);

// A text that changes when the program changes: its path, its size and the time of its last
// modification.
std::string identity_of(const std::filesystem::path& program);

// The checkout in which this program was built: it has labs/, solutions/ and build/.
std::filesystem::path checkout_directory();

// Whether the path is in the directory. Compares the names alone; both must be absolute and without
// "..".
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace lab32::toolchain
