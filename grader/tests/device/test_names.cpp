// Kernels are found by the names that people write, whatever their symbols are.

#include <doctest/doctest.h>

#include "base/error.h"
#include "device/names.h"
#include "gpu/device.h"

using namespace lab32;
using device::find_kernel;
using device::kernel_name;
using device::parameter_types;

TEST_SUITE("device names") {
  TEST_CASE("device: symbols become the names in the source") {
    CHECK(kernel_name("_Z4add1PKfS0_Pfi") == "add1");
    CHECK(parameter_types("_Z9reduce_v6ILj256EEvPKiPii") ==
          std::vector<std::string>{"int const*", "int*", "int"});
    CHECK(parameter_types("_Z4copyI6float4Li8ELb1EEvPKT_PS1_i") ==
          std::vector<std::string>{"float4 const*", "float4*", "int"});
    CHECK(parameter_types("_Z4nonev").empty());
    CHECK(parameter_types("plain_c").empty());
    CHECK(kernel_name("_Z9reduce_v6ILj256EEvPKiPii") == "reduce_v6<256>");
    CHECK(kernel_name("_Z4copyI6float4Li8ELb1EEvPKT_PS1_i") == "copy<float4, 8, true>");
    CHECK(kernel_name("_ZN4lab35scaleEPff") == "lab3::scale");
    CHECK(kernel_name("_ZN12_GLOBAL__N_16secretEPf") == "(anonymous namespace)::secret");
    CHECK(kernel_name("_Z4takeILc97ELin3EEvPi") == "take<97, -3>");
    CHECK(kernel_name("_Z4pairIPKfSt4pairIijEEvT_T0_") ==
          "pair<float const*, std::pair<int, unsigned int>>");
    CHECK(kernel_name("plain_c_name") == "plain_c_name");
    // The demangler would take these names for types: float, int*.
    CHECK(kernel_name("f") == "f");
    CHECK(kernel_name("Pi") == "Pi");
  }

  TEST_CASE("device: a kernel is found by every spelling of its name") {
    const std::vector<std::string> symbols{"_Z9reduce_v6ILj128EEvPKiPii",
                                           "_Z9reduce_v6ILj256EEvPKiPii",
                                           "_Z4add1PKfS0_Pfi",
                                           "_Z4copyI6float4Li8ELb1EEvPKT_PS1_i",
                                           "_ZN12_GLOBAL__N_16secretEPf",
                                           "plain_c_name",
                                           "_Z4viewIPKfjEvT_T0_",
                                           "_ZN3lab5scaleILi2EEEvPf"};
    struct {
      const char* wanted;
      int index;
    } const rows[] = {{"reduce_v6<256>", 1},
                      {"reduce_v6<256u>", 1},
                      {"reduce_v6< 128U >", 0},
                      {"reduce_v6<(unsigned int)128>", 0},
                      {"reduce_v6<0x100>", 1},
                      {"void reduce_v6<256u>(int const*, int*, int)", 1},
                      {"_Z9reduce_v6ILj128EEvPKiPii", 0},
                      {"reduce_v6", -1},
                      {"reduce_v6<512>", -1},
                      {"reduce_v6<25>", -1},
                      {"add1", 2},
                      {"add1(float const*, float const*, float*, int)", 2},
                      {"add", -1},
                      {"add11", -1},
                      {"copy<float4,(int)8,true>", 3},
                      {"copy<float4, 8, 1>", 3},
                      {"copy<float4, 8, false>", -1},
                      {"secret", 4},
                      {"(anonymous namespace)::secret", 4},
                      {"plain_c_name", 5},
                      {"view<const float*, unsigned>", 6},
                      {"view<const float *, uint32_t>", 6},
                      {"view<float*, unsigned>", -1},
                      {"lab::scale<2>", 7},
                      {"scale<2>", 7},
                      {"other::scale<2>", -1},
                      {"", -1}};
    for (const auto& row : rows) {
      CAPTURE(row.wanted);
      auto found = find_kernel(symbols, row.wanted);
      CHECK((found ? static_cast<int>(*found) : -1) == row.index);
    }
  }

  TEST_CASE("device: an ambiguous name is refused with the list of kernels") {
    const std::vector<std::string> symbols{"_Z4fillPf", "_Z4fillPi"};
    CHECK_THROWS_WITH_AS(find_kernel(symbols, "fill"),
                         "kernel 'fill' could be any of these; name one of them in full:\n"
                         "  _Z4fillPf  fill(float*)\n"
                         "  _Z4fillPi  fill(int*)",
                         Error);
    CHECK(*find_kernel(symbols, "_Z4fillPi") == 1);
    // A namespace decides.
    CHECK(*find_kernel({"_ZN1a4fillEPf", "_Z4fillPf"}, "fill") == 1);
  }

  TEST_CASE(
      "device: read_entries() lists the kernels of a PTX text and the sizes of their parameters") {
    auto entries = device::read_kernel_entry_points(
        "//\t.globl\t_Z1aPf\n"
        ".visible .entry _Z1aPf(\n"
        "\t.param .u64 .ptr .align 1 _Z1aPf_param_0,\n"
        "\t.param .u32 _Z1aPf_param_1,\n"
        "\t.param .align 8 .b8 _Z1aPf_param_2[24],\n"
        "\t.param .f64 _Z1aPf_param_3,\n"
        "\t.param .u8 _Z1aPf_param_4\n"
        ")\n.maxntid 256, 1, 1\n{\n\tret;\n}\n"
        "\t// .entry in_a_comment(\n"
        ".weak .entry none()\n{\n\tret;\n}\n"
        ".visible .func (.param .b32 r) no_kernel(.param .b32 x)\n{\n\tret;\n}\n");
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].symbol == "_Z1aPf");
    CHECK(entries[0].parameter_bytes == std::vector<uint32_t>{8, 4, 24, 8, 1});
    CHECK(entries[1].symbol == "none");
    CHECK(entries[1].parameter_bytes.empty());
  }
}
