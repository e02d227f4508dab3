#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/text.h"
#include "pictures/picture.h"

namespace lab32::pictures {
namespace {

using Json = nlohmann::ordered_json;

Json to_record(const PicturedRequest& r) {
  Json address = Json::array(), name = Json::array();
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool active = (r.mask >> lane & 1) != 0;
    address.push_back(active ? Json(r.address[lane]) : Json(nullptr));
    name.push_back(active ? Json(visible(r.name[lane])) : Json(nullptr));
  }
  return {{"warp", r.warp},     {"request", r.number}, {"kind", r.kind},   {"bytes", r.bytes},
          {"matrix", r.matrix}, {"cost", r.cost},      {"ideal", r.ideal}, {"address", address},
          {"name", name},       {"degree", r.degree}};
}

template <class T>
Json to_records(const std::vector<T>& all);

Json to_record(const PicturedLineRequests& a) {
  return {{"line", a.line},
          {"source", visible(a.source)},
          {"space", a.shared ? "shared" : "global"},
          {"block", a.block},
          {"requests_in_block", a.requests_in_block},
          {"ptx_level", a.ptx_level},
          {"waste", a.waste},
          {"worst", a.worst},
          {"requests", to_records(a.requests)}};
}

Json to_record(const BarrierInterval& s) {
  return {{"line", s.line},
          {"source", visible(s.source)},
          {"warp_barrier", s.warp_barrier},
          {"working", s.working}};
}

Json to_record(const BarrierIntervalsOfBlock& s) {
  return {
      {"block", s.block}, {"threads", s.threads}, {"more", s.more}, {"steps", to_records(s.steps)}};
}

Json to_record(const PicturedShuffle& s) {
  return {{"line", s.line},         {"source", visible(s.source)}, {"mask", s.mask},
          {"in_range", s.in_range}, {"absent", s.absent},          {"from", s.from}};
}

Json to_record(const PicturedShuffles& s) {
  return {
      {"block", s.block}, {"warp", s.warp}, {"more", s.more}, {"shuffles", to_records(s.shuffles)}};
}

Json to_record(const TextureBulkClusterTraffic& w) {
  return {{"texture_requests", w.texture_requests},
          {"texture_sectors", w.texture_sectors},
          {"bulk_sectors", w.bulk_sectors},
          {"ideal_bulk_sectors", w.ideal_bulk_sectors},
          {"cluster_requests", w.cluster_requests},
          {"cluster_sectors", w.cluster_sectors},
          {"unknown", w.unknown}};
}

Json to_record(const PicturedTraffic& t) {
  Json caches = nullptr;
  if (t.caches)
    caches = {{"l1_percent", t.caches->l1_percent},
              {"l2_percent", t.caches->l2_percent},
              {"l2_read_sectors", t.caches->l2_read_sectors},
              {"l2_write_sectors", t.caches->l2_write_sectors},
              {"dram_read", t.caches->dram_read},
              {"dram_written", t.caches->dram_written}};
  return {{"requests", t.requests},
          {"sectors", t.sectors},
          {"ideal_sectors", t.ideal_sectors},
          {"asked_bytes", t.asked_bytes},
          {"shared_requests", t.shared_requests},
          {"wavefronts", t.wavefronts},
          {"ideal_wavefronts", t.ideal_wavefronts},
          {"caches", caches},
          {"other", t.other ? to_record(*t.other) : Json(nullptr)}};
}

Json to_record(const PicturedRace::Party& p) {
  return {{"thread", p.thread},
          {"warp", p.warp},
          {"use", p.use},
          {"line", p.line},
          {"source", visible(p.source)}};
}

Json to_record(const PicturedRace& r) {
  return {{"place", visible(r.place)},
          {"missing", r.missing},
          {"first", to_record(r.first)},
          {"second", to_record(r.second)}};
}

Json to_record(const PicturedKernelFault& f) {
  return {{"kind", f.kind},     {"words", visible(f.words)},
          {"line", f.line},     {"source", visible(f.source)},
          {"thread", f.thread}, {"object", visible(f.object)},
          {"offset", f.offset}, {"size", f.size},
          {"bytes", f.bytes}};
}

Json to_record(const LineCost& l) {
  return {{"line", l.line},
          {"instructions", l.instructions},
          {"lanes", l.lanes},
          {"sectors", l.sectors},
          {"ideal_sectors", l.ideal_sectors},
          {"wavefronts", l.wavefronts},
          {"ideal_wavefronts", l.ideal_wavefronts},
          {"other", l.other ? to_record(*l.other) : Json(nullptr)},
          {"share", l.share}};
}

Json to_record(const SwizzleMapping& m) {
  return {{"name", m.name},
          {"rows", m.rows},
          {"columns", m.columns},
          {"all_rows", m.all_rows},
          {"all_columns", m.all_columns},
          {"unit", m.unit},
          {"turned", m.turned},
          {"to", m.to}};
}

template <class T>
Json to_records(const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& one : all) list.push_back(to_record(one));
  return list;
}

template <class T>
Json record_or_null(const std::optional<T>& value) {
  return value ? to_record(*value) : Json(nullptr);
}

}  // namespace

Json to_json(const PicturedLaunch& l) {
  return {{"kernel", visible(l.kernel)},
          {"setting", visible(l.setting)},
          {"shape", l.shape},
          {"bound", l.bound},
          {"seconds", l.seconds ? Json(*l.seconds) : Json(nullptr)},
          {"accesses", to_records(l.accesses)},
          {"steps", record_or_null(l.steps)},
          {"shuffles", record_or_null(l.shuffles)},
          {"traffic", record_or_null(l.traffic)},
          {"reference", record_or_null(l.reference)},
          {"race", record_or_null(l.race)},
          {"fault", record_or_null(l.fault)},
          {"mappings", to_records(l.mappings)},
          {"lines", to_records(l.lines)}};
}

std::string json(const PicturedCheck& shown) {
  const nlohmann::ordered_json record = {{"schema", "lab32-pictures/1"},
                                         {"lab", shown.lab},
                                         {"check", shown.check},
                                         {"file", visible(shown.file)},
                                         {"message", visible(shown.message)},
                                         {"device", shown.device},
                                         {"passed", shown.passed},
                                         {"figures", shown.figures},
                                         {"missing", visible(shown.missing)},
                                         {"launch", to_json(shown.launch)}};
  return record.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lab32::pictures
