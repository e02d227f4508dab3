#include "runtime/cudart/user_objects.h"

namespace lab32::cudart {

cudaUserObject_t UserObjects::make(void* pointer, cudaHostFn_t destroy, uint64_t references) {
  auto made = std::make_unique<CUuserObject_st>(CUuserObject_st{pointer, destroy, references});
  cudaUserObject_t const object = made.get();
  objects_[object] = std::move(made);
  return object;
}

bool UserObjects::release(cudaUserObject_t object, uint64_t count) {
  if (count > object->references) return false;
  object->references -= count;
  if (object->references != 0) return true;
  dead_.emplace_back(object->destroy, object->pointer);
  objects_.erase(object);
  return true;
}

void UserObjects::retain(const OwnedObjects& owned) {
  for (const auto& [object, count] : owned) retain(object, count);
}

void UserObjects::release(const OwnedObjects& owned) {
  for (const auto& [object, count] : owned)
    if (knows(object)) release(object, count);
}

}  // namespace lab32::cudart
