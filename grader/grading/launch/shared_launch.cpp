#include "grading/launch/shared_launch.h"

#include "grading/launch/launch_pictures.h"

namespace lab32::grading {

std::shared_ptr<const device::Run> shared_launch(const std::string& key, const std::string& kernel,
                                                 const std::function<device::Run()>& make) {
  Session& s = session();
  if (s.other_order.judging()) return std::make_shared<const device::Run>(make());
  if (const auto known = s.shared_launches.find(key); known != s.shared_launches.end()) {
    s.module.find(kernel);
    s.launched = known->second.launched;
    offer_pictures(known->second.pictures);
    return known->second.run;
  }
  s.sharing_launch = true;
  const auto run = std::make_shared<const device::Run>(make());
  s.sharing_launch = false;
  s.shared_launches[key] = {run, s.launched, s.last_pictures};
  return run;
}

}  // namespace lab32::grading
