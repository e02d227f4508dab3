#include "runtime/record/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.h"
#include "runtime/record/profile_fields.h"

namespace lab32::record {

template <class V>
void visit_fields(V& visit, Ref<V, LaunchProfile> r) {
  visit("id", r.id);
  visit("process_id", r.process_id);
  visit("process_name", r.process_name);
  visit("symbol", r.symbol);
  visit("context", r.context);
  visit("stream", r.stream);
  visit("device", r.device);
  visit("device_name", r.device_name);
  visit("compute_capability", r.compute_capability);
  visit("multiprocessors", r.multiprocessors);
  visit("shape", r.shape);
  visit("static_shared", r.static_shared);
  visit("registers", r.registers);
  visit("run", r.run);
}

template <class V>
void visit_fields(V& visit, Ref<V, RecordedLibraryCall::Finding> r) {
  visit("kind", r.kind);
  visit("text", r.text);
}

template <class V>
void visit_fields(V& visit, Ref<V, RecordedLibraryCall> r) {
  visit("name", r.name);
  visit("arguments", r.arguments);
  visit("launches", r.launches);
  visit("stream", r.stream);
  visit("device", r.device);
  visit("findings", r.findings);
}

template <class V>
void visit_fields(V& visit, Ref<V, HostFinding> r) {
  visit("kind", r.kind);
  visit("call", r.call);
  visit("launch", r.launch);
  visit("file", r.file);
  visit("line", r.line);
  visit("text", r.text);
}

constexpr std::array kLibraryFindings{"memory", "initialisation"};
constexpr std::array kHostFindings{"memory", "race", "initialisation"};
constexpr const auto& names(RecordedLibraryCall::Finding::Kind) { return kLibraryFindings; }
constexpr const auto& names(HostFinding::Kind) { return kHostFindings; }

namespace {

using Json = nlohmann::ordered_json;

// JsonFieldWriter and JsonFieldReader are the two visitors, V, of the functions in
// profile_fields.h.
class JsonFieldWriter {
 public:
  static constexpr bool kReads = false;
  template <class T>
  using Of = const T&;
  template <class T>
  void operator()(const char* name, const T& value);
  template <class T>
  void operator()(const char* name, const std::optional<T>& value);
  Json to = Json::object();
};

class JsonFieldReader {
 public:
  static constexpr bool kReads = true;
  template <class T>
  using Of = T&;
  explicit JsonFieldReader(const Json& from) : from_(from) {}
  template <class T>
  void operator()(const char* name, T& value);
  template <class T>
  void operator()(const char* name, std::optional<T>& value);

 private:
  const Json& from_;
};

// The number of elements of these arrays of numbers or texts is known from their type.
template <class T>
constexpr bool kArray = false;
template <class T, size_t n>
constexpr bool kArray<std::array<T, n>> = true;

template <class T>
constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string> || kArray<T>;

template <class T>
Json to_json_value(const T& value) {
  if constexpr (kPlain<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return names(value).at(static_cast<size_t>(value));
  } else {
    JsonFieldWriter writer;
    visit_fields(writer, value);
    return writer.to;
  }
}

template <class T>
Json to_json_value(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_json_value(value));
  return list;
}

// The JSON library would convert any number. A value that does not fit is not from lab32's own
// record.
template <class T>
void read_number_that_fits(const Json& from, T& value) {
  const auto fits = [&](auto number) {
    return number >= std::numeric_limits<T>::lowest() && number <= std::numeric_limits<T>::max();
  };
  bool good;
  if constexpr (std::is_same_v<T, bool>)
    good = from.is_boolean();
  else if constexpr (std::is_floating_point_v<T>)
    good = from.is_number();
  else if constexpr (std::is_unsigned_v<T>)
    good = from.is_number_unsigned() && fits(from.get<uint64_t>());
  else if (from.is_number_unsigned())
    good = from.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  else
    good = from.is_number_integer() && fits(from.get<int64_t>());
  if (!good) throw Error("not a record of a launch: a number that does not fit, " + from.dump());
  value = from.get<T>();
}

template <class T>
void read_value(const Json& from, T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    read_number_that_fits(from, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    from.get_to(value);
  } else if constexpr (kArray<T>) {
    for (size_t i = 0; i < value.size(); ++i) read_value(from.at(i), value[i]);
  } else if constexpr (std::is_enum_v<T>) {
    const auto& all = names(value);
    const auto at = std::find(all.begin(), all.end(), from.get<std::string>());
    if (at == all.end()) throw Error("not a record of a launch: the unknown word " + from.dump());
    value = static_cast<T>(at - all.begin());
  } else {
    JsonFieldReader reader(from);
    visit_fields(reader, value);
  }
}

template <class T>
void read_value(const Json& from, std::vector<T>& values) {
  values.clear();
  for (const Json& one : from) read_value(one, values.emplace_back());
}

template <class T>
void JsonFieldWriter::operator()(const char* name, const T& value) {
  to[name] = to_json_value(value);
}
template <class T>
void JsonFieldWriter::operator()(const char* name, const std::optional<T>& value) {
  if (value) to[name] = to_json_value(*value);
}
template <class T>
void JsonFieldReader::operator()(const char* name, T& value) {
  read_value(from_.at(name), value);
}
template <class T>
void JsonFieldReader::operator()(const char* name, std::optional<T>& value) {
  value.reset();
  if (const auto at = from_.find(name); at != from_.end()) read_value(*at, value.emplace());
}

// Paths and messages may contain any bytes of a source. Bytes that are not UTF-8 are replaced.
std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json_record_line(const LaunchProfile& record) {
  return json_line({{"launch", to_json_value(record)}});
}

std::string to_json_record_line(const RecordedLibraryCall& call) {
  return json_line({{"library", to_json_value(call)}});
}

std::string to_json_record_line(const HostFinding& finding) {
  return json_line({{"host", to_json_value(finding)}});
}

std::string unsupported_record_line(const std::string& what) {
  return json_line({{"unsupported", what}});
}

void append_line(const std::string& path, const std::string& line) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const auto fail = [&] {
    throw Error(fmt::format("{}: the record of a launch cannot be written: {}", path,
                            std::strerror(errno)));
  };
  if (fd < 0) fail();
  ssize_t written;
  do written = write(fd, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  const bool whole = written == static_cast<ssize_t>(line.size());
  if (!whole && written >= 0) errno = ENOSPC;
  const int reason = errno;
  close(fd);
  errno = reason;
  if (!whole) fail();
}

std::string to_text(const counters::DetailFilter& choice) { return to_json_value(choice).dump(); }

counters::DetailFilter read_detail_filter(const std::string& text) {
  counters::DetailFilter choice;
  try {
    read_value(Json::parse(text), choice);
  } catch (const Json::exception& e) {
    throw Error(
        fmt::format("{}: not a choice of accesses to record in detail ({})", text, e.what()));
  }
  return choice;
}

RecordedProgramRun read_recording(std::istream& in, const std::string& name) {
  RecordedProgramRun recording;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      const Json json = Json::parse(line);
      if (const auto launch = json.find("launch"); launch != json.end())
        read_value(*launch, recording.launches.emplace_back());
      else if (const auto call = json.find("library"); call != json.end())
        read_value(*call, recording.library_calls.emplace_back());
      else if (const auto finding = json.find("host"); finding != json.end())
        read_value(*finding, recording.host_findings.emplace_back());
      else
        recording.unsupported.push_back(json.at("unsupported").get<std::string>());
    } catch (const Error& e) {
      throw Error(fmt::format("{}:{}: {}", name, number, e.what()));
    } catch (const Json::exception& e) {
      if (in.eof()) break;  // no end of line: the program was killed while it wrote
      throw Error(fmt::format("{}:{}: not a record of a launch ({})", name, number, e.what()));
    }
  }
  return recording;
}

}  // namespace lab32::record
