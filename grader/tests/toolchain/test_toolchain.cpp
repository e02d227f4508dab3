// nvcc is found in each of the directories in which it may be.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/toolchain.h"

using namespace lab32;
using namespace lab32::toolchain;
namespace fs = std::filesystem;

namespace {

fs::path program(const tests::ScratchDirectory& scratch, const std::string& name) {
  fs::path file = scratch.write(name, "#!/bin/sh\n");
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

}  // namespace

TEST_SUITE("compile: toolchain") {
  TEST_CASE("toolchain: the first directory that contains nvcc is used") {
    tests::ScratchDirectory s;
    ToolchainSearchPlaces where;
    where.root = s.path / "root";
    where.path = (s.path / "path/bin").string() + "::relative:/usr/bin";
    where.usual = s.path / "usual";
    fs::create_directories(where.root);

    CHECK_THROWS_WITH_AS(
        find_toolchain(where),
        ("no nvcc on this machine (looked in LAB32_NVCC, PATH, " + (where.usual / "bin").string() +
         " and " + (where.root / ".venv").string() + "): install it, or name it in LAB32_NVCC")
            .c_str(),
        Error);

    const std::string wheel = "root/.venv/lib/python3.11/site-packages/nvidia/cu13";
    fs::path in_wheel = program(s, wheel + "/bin/nvcc");
    Toolchain t = find_toolchain(where);
    CHECK(t.nvcc == in_wheel);
    CHECK(t.cuda_home == s.path / wheel);
    CHECK(t.nvdisasm.empty());
    // The wheel's directory is the only part of the checkout that a compilation sees.
    bool sees_wheel = false;
    for (const auto& root : t.roots) {
      CHECK_FALSE(is_inside(where.root, root));
      sees_wheel |= root == s.path / wheel;
    }
    CHECK(sees_wheel);

    fs::path usual = program(s, "usual/bin/nvcc");
    CHECK(find_toolchain(where).nvcc == usual);
    fs::path on_path = program(s, "path/bin/nvcc");
    CHECK(find_toolchain(where).nvcc == on_path);
    CHECK(find_toolchain(where).cuda_home == s.path / "path");

    fs::path set = program(s, "set up/bin/nvcc"), disassembler = program(s, "elsewhere/nvdisasm");
    s.write("root/build/toolchain.env", "NVCC=" + set.string() +
                                            "\nNVDISASM=" + disassembler.string() +
                                            "\nCUDA_HOME=" + (s.path / "set up").string() + "\n");
    t = find_toolchain(where);
    CHECK(t.nvcc == set);
    CHECK(t.nvdisasm == disassembler);
    CHECK(t.cuda_home == s.path / "set up");
    fs::create_directory_symlink(s.path / "elsewhere", s.path / "link");
    s.write("root/build/toolchain.env", "NVDISASM=" + (s.path / "link/nvdisasm").string() + "\n");
    CHECK(find_toolchain(where).nvdisasm == disassembler);

    fs::path wished = program(s, "wished/bin/nvcc");
    where.nvcc = wished.string();
    CHECK(find_toolchain(where).nvcc == wished);
    CHECK(find_toolchain(where).cuda_home == s.path / "wished");
  }

  TEST_CASE("toolchain: a wheel of lab32 uses its own compilers and ignores PATH") {
    tests::ScratchDirectory s;
    ToolchainSearchPlaces where;
    where.root = s.path / "packages/lab32/tree";
    where.path = (s.path / "path/bin").string() + ":/usr/bin";
    where.usual = s.path / "usual";
    fs::create_directories(where.root);
    const fs::path on_path = program(s, "path/bin/nvcc");
    CHECK(find_toolchain(where).nvcc == on_path);
    const fs::path own = program(s, "packages/nvidia/cu13/bin/nvcc");
    CHECK(find_toolchain(where).nvcc == own);
    CHECK(find_toolchain(where).cuda_home == s.path / "packages/nvidia/cu13");
  }

  TEST_CASE("toolchain: a checkout without nvcc says that `make grade` installs it") {
    tests::ScratchDirectory s;
    ToolchainSearchPlaces where;
    where.root = s.path / "root";
    where.path = s.path.string();
    where.usual = s.path / "usual";
    s.write("root/Makefile", "");
    try {
      find_toolchain(where);
      FAIL("found");
    } catch (const MachineError& error) {
      CHECK(std::string(error.what()).find("): `make grade` installs it") != std::string::npos);
    }
  }

  TEST_CASE("toolchain: the error for a wrong LAB32_NVCC names it") {
    ToolchainSearchPlaces where{"/nonexistent", "/nonexistent/nvcc", "", "/usr/bin"};
    CHECK_THROWS_WITH_AS(find_toolchain(where),
                         "LAB32_NVCC=/nonexistent/nvcc is not a program: correct it or unset it",
                         Error);
  }

  TEST_CASE("toolchain: another nvcc has another identity") {
    tests::ScratchDirectory s;
    ToolchainSearchPlaces where{s.path / "root", program(s, "a/bin/nvcc").string(), "", "/usr/bin"};
    std::string before = find_toolchain(where).identity;
    CHECK(find_toolchain(where).identity == before);
    s.write("a/bin/nvcc", "#!/bin/sh\nexit 1\n");
    CHECK(find_toolchain(where).identity != before);
  }

  TEST_CASE(
      "toolchain: an nvcc or gcc whose directory contains the checkout does not make it readable") {
    tests::ScratchDirectory s;
    fs::create_directories(s.path / "lab32");
    program(s, "bin/gcc");
    ToolchainSearchPlaces where{s.path / "lab32", program(s, "cuda/bin/nvcc").string(), "",
                                (s.path / "bin").string()};
    CHECK(is_inside(find_toolchain(where).host_compiler, "/usr"));
    where.nvcc = program(s, "bin/nvcc").string();
    CHECK_THROWS_AS(find_toolchain(where), Error);
  }
}
