#include "simulator/observers/counters.h"

namespace lab32::counters {
namespace {

void add(GlobalTraffic& to, const GlobalTraffic& from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
}

void add(SharedTraffic& to, const SharedTraffic& from) {
  to.requests += from.requests;
  to.lanes += from.lanes;
  to.wavefronts += from.wavefronts;
  to.ideal += from.ideal;
}

void add(OtherWays::Bulk& to, const OtherWays::Bulk& from) {
  to.instructions += from.instructions;
  to.sectors += from.sectors;
  to.ideal += from.ideal;
  to.lines += from.lines;
}

}  // namespace

void OtherWays::add(const OtherWays& from) {
  counters::add(texture, from.texture);
  counters::add(surface_load, from.surface_load);
  counters::add(surface_store, from.surface_store);
  counters::add(bulk_load, from.bulk_load);
  counters::add(bulk_store, from.bulk_store);
  counters::add(remote_load, from.remote_load);
  counters::add(remote_store, from.remote_store);
  counters::add(remote_atom, from.remote_atom);
  remote_atom_wavefronts += from.remote_atom_wavefronts;
  counters::add(remote_banks, from.remote_banks);
  texture_unknown += from.texture_unknown;
  bulk_unknown += from.bulk_unknown;
}

void Counters::add(const Counters& other) {
  warp_instructions += other.warp_instructions;
  lane_instructions += other.lane_instructions;
  counters::add(load, other.load);
  counters::add(store, other.store);
  counters::add(red, other.red);
  counters::add(atom, other.atom);
  l2_sectors += other.l2_sectors;
  l2_sectors_ideal += other.l2_sectors_ideal;
  global_bytes += other.global_bytes;
  load_ideal += other.load_ideal;
  store_ideal += other.store_ideal;
  counters::add(shared_load, other.shared_load);
  counters::add(shared_store, other.shared_store);
  counters::add(shared_atom, other.shared_atom);
  counters::add(copy, other.copy);
  counters::add(shared_copy, other.shared_copy);
  matrix_loads += other.matrix_loads;
  matrix_stores += other.matrix_stores;
  this->other.add(other.other);
  block_barriers += other.block_barriers;
  ptx_level = ptx_level || other.ptx_level;
  global_ptx_level = global_ptx_level || other.global_ptx_level;
  shared_ptx_level = shared_ptx_level || other.shared_ptx_level;
}

uint64_t Counters::shared_wavefronts() const {
  return shared_load.wavefronts + shared_store.wavefronts + shared_atom.wavefronts;
}

uint64_t Counters::shared_ideal() const {
  return shared_load.ideal + shared_store.ideal + shared_atom.ideal;
}

}  // namespace lab32::counters
