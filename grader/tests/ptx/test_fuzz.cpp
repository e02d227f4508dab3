// Damaged PTX gives an Error or a module, never a crash or a hang. The damage is the same in every
// run.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "base/environment.h"
#include "base/error.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/lexer.h"
#include "simulator/ptx/parser.h"
#include "simulator/ptx/print.h"
#include "tests/fixtures/ptx_support.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// A text with every construct of the grammar.
const std::string& sample() {
  static const std::string text = [] {
    std::ifstream file(lab32_root() / "grader/tests/fixtures/fuzz/ptx/grammar.ptx");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

// Tokens that replace another token or are inserted.
const char* const kPieces[] = {"{",
                               "}",
                               "(",
                               ")",
                               "[",
                               "]",
                               ";",
                               ",",
                               ":",
                               "|",
                               "!",
                               "@",
                               "-",
                               "+",
                               "=",
                               "<",
                               ">",
                               "\"",
                               "/*",
                               "//",
                               "_",
                               "0",
                               "1",
                               "-1",
                               "99999999999999999999",
                               "4294967295",
                               "0x",
                               "0f3F8",
                               "1e999",
                               ".reg",
                               ".b32",
                               ".pred",
                               ".param",
                               ".align",
                               ".loc",
                               ".file",
                               ".func",
                               ".entry",
                               "%r1",
                               "%rd1",
                               "%p1",
                               "%tid.x",
                               "%r98",
                               "x",
                               "f",
                               "$L1",
                               "ts",
                               "a0",
                               "ld.u32",
                               "bra",
                               "call",
                               "brx.idx",
                               "add.s32",
                               "ret",
                               "generic",
                               "x.y",
                               "..",
                               "::",
                               ".v4",
                               ".f64",
                               ".u8",
                               "<4000000000>",
                               "[1099511627776]",
                               ".branchtargets",
                               ".callprototype"};

std::string damage(std::mt19937& random) {
  const std::string text = sample();
  const auto tokens = ptx::lex(text);
  const auto place = [&] { return random() % (tokens.size() - 1); };
  const auto offset = [&](size_t token) {
    return static_cast<size_t>(tokens[token].text.data() - text.data());
  };
  std::string result = text;
  for (unsigned n = 1 + random() % 3; n > 0; --n) {
    const size_t a = place(), b = place();
    const std::string piece = kPieces[random() % std::size(kPieces)];
    const std::string first(tokens[a].text), second(tokens[b].text);
    // Offsets refer to the undamaged text, so a second change may hit the middle of a word.
    const size_t at = std::min(offset(a), result.size());
    switch (random() % 6) {
      case 0:
        result.erase(at, first.size());
        break;
      case 1:
        result.replace(at, first.size(), piece);
        break;
      case 2:
        result.insert(at, " " + piece + " ");
        break;
      case 3:
        result.replace(at, first.size(), second);
        break;
      case 4:
        result[std::min(at, result.size() - 1)] = static_cast<char>(random() % 256);
        break;
      case 5:
        if (random() % 8 == 0) {
          result.resize(at);
        } else {
          result.insert(at, text.substr(offset(b), random() % 200));
        }
        break;
    }
    if (result.empty()) result = " ";
  }
  return result;
}

}  // namespace

TEST_CASE("ptx: damaged text is refused or read and never fatal" * kSlow) {
  std::mt19937 random(32);
  int errors = 0, refusals = 0, modules = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = damage(random);
    CAPTURE(text);
    try {
      const ptx::Module module = ptx::parse(text);
      for (const ptx::Function& function : module.functions) {
        refusals += !function.refusal.empty();
        const ptx::ControlFlow flow = ptx::analyse_control_flow(function);
        ptx::assign_register_slots(function, flow);
      }
      // A module that was read can be printed, and the printed text can be read.
      const ptx::Module again = ptx::parse(ptx::print(module));
      CHECK(again.functions.size() == module.functions.size());
      ++modules;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).size() > 10);
      ++errors;
    }
  }
  // The damage must neither be harmless nor fatal in nearly all cases, or nothing is tested.
  CHECK(errors > 500);
  CHECK(refusals > 500);
  CHECK(modules > 500);
}

TEST_CASE("ptx: the undamaged sample is read completely") {
  const ptx::Module module = ptx::parse(sample());
  CHECK(ptx::require_kernel(module, "k").body.size() == 21);
}
