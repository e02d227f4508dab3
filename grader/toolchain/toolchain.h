// Where nvcc and nvdisasm are, and which directories a compilation must be able to read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32::toolchain {

struct Toolchain {
  std::filesystem::path nvcc;
  std::filesystem::path nvdisasm;            // empty: there is none
  std::filesystem::path cuda_home;           // holds bin/, nvvm/ and the headers
  std::filesystem::path host_compiler;       // the g++ whose preprocessor and headers nvcc uses
  std::vector<std::filesystem::path> roots;  // all that a compilation reads: canonical directories
  std::string path;                          // PATH for nvcc: it looks up gcc there
  std::string identity;                      // changes when any of the programs does
};

// Looks in this order: LAB32_NVCC and LAB32_NVDISASM; build/toolchain.env of the checkout; the
// wheels beside ours; PATH; /usr/local/cuda; the wheels in .venv. Throws Error when there is no
// nvcc or no g++. Found once.
const Toolchain& installed();

// The same, from a checkout and an environment given by a test.
struct ToolchainSearch {
  std::filesystem::path root;        // of the checkout
  std::string nvcc, nvdisasm, path;  // LAB32_NVCC, LAB32_NVDISASM, PATH
  std::filesystem::path usual = "/usr/local/cuda";
};
Toolchain find_toolchain(const ToolchainSearch& where);

// Changes when that program does: its place, size and time.
std::string identity_of(const std::filesystem::path& program);

// Where this program was built: labs/, solutions/ and build/ are there.
std::filesystem::path checkout();

// By the names alone; both absolute and without "..".
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace lab32::toolchain
