// The facts of pictures as JSON, schema lab32-pictures/1 (README.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pictures/picture.h"

namespace lab32::pictures {

nlohmann::ordered_json to_json(const Launch& launch);

}  // namespace lab32::pictures
