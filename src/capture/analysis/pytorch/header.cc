#include "capture/analysis/pytorch/header.h"

#include "codec/json_read.h"

namespace sonde::capture::pytorch {
namespace {

int64_t whole(const JsonValue& object, std::string_view key, int64_t otherwise) {
  const JsonValue* value = object.find(key);
  return value ? value->integer().value_or(otherwise) : otherwise;
}

}  // namespace

void read_header(Capture& c) {
  c.is_rocm = !c.trace.metadata("roctracer_version").empty() ||
              !c.trace.metadata("hip_runtime_version").empty() ||
              !c.trace.metadata("rocprofiler-sdk_version").empty();
  if (const auto list = read_json(c.trace.metadata("deviceProperties")); list) {
    for (const JsonValue& entry : list->items) {
      DeviceInfo info;
      info.id = whole(entry, "id", static_cast<int64_t>(c.devices.size()));
      if (const JsonValue* name = entry.find("name")) info.name = name->text;
      info.memory_bytes = static_cast<uint64_t>(whole(entry, "totalGlobalMem", 0));
      info.major = whole(entry, "computeMajor", -1);
      info.minor = whole(entry, "computeMinor", -1);
      info.multiprocessors = whole(entry, "numSms", 0);
      c.devices.push_back(std::move(info));
    }
  }
  if (const auto info = read_json(c.trace.metadata("distributedInfo")); info) {
    c.rank = whole(*info, "rank", -1);
    c.world_size = whole(*info, "world_size", 0);
    if (const JsonValue* backend = info->find("backend")) c.backend = backend->text;
  }
}

}  // namespace sonde::capture::pytorch
