// Pictures of a check's launches: of the one that wasted most, or that went wrong.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "grading/launch/launch_spec.h"
#include "pictures/picture.h"
#include "report/result.h"

namespace lab32::grading {

// Before a launch: what the session wants to see of it. What a lab's file marks as given is not the
// student's, and is not looked at but where it calls what is, or where the check `draws_given`.
void look_closely(const Launch& launch, device::LaunchOptions& options);

// After it, whatever came of it: in session().last_pictures, and in session().pictures if it has
// wasted more than the check's launches until now. Where it `answers`, only what ended it is drawn.
void keep_pictures(const Launch& launch, const device::Run& run);
// Those of a launch that another check has made.
void offer_pictures(const std::shared_ptr<const pictures::Launch>& pictures);

// To the result of the check that has ended, the access that it speaks of first. Withheld as long
// as a question is open that they would answer.
void add_pictures(report::Test& test);

}  // namespace lab32::grading
