#include "app/tools.h"

namespace lab32::commands {

const Tools*& linked_tools() {
  static const Tools* tools = nullptr;
  return tools;
}

}  // namespace lab32::commands
