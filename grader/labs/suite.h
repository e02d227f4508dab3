// What a lab's suite includes. See coalescing_build.cpp for one; README.md for how to add one.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "base/error.h"
#include "labs/compare.h"
#include "labs/describe.h"
#include "labs/launch.h"
#include "labs/memory.h"
#include "labs/points.h"
#include "labs/session.h"
#include "labs/verdict.h"
