// SPDX-License-Identifier: Apache-2.0
#include "common/results/link_json.h"

namespace tandem::results {
namespace {

Json to_json(const Link& link) {
  Json json{{"from", link.from}, {"to", link.to}};
  if (link.gigabytes_per_second) {
    json["gigabytes_per_second"] = finite(*link.gigabytes_per_second, "gigabytes_per_second");
  }
  if (link.latency_us) json["latency_us"] = finite(*link.latency_us, "latency_us");
  return json;
}

Link link_from(const JsonValue& json) {
  return {.from = value_or(json, "from", std::string()),
          .to = value_or(json, "to", std::string()),
          .gigabytes_per_second = value_if_any<double>(json, "gigabytes_per_second"),
          .latency_us = value_if_any<double>(json, "latency_us")};
}

}  // namespace

Json to_json(const LinkMatrix& matrix) {
  Json links = Json::array();
  for (const Link& link : matrix.links) links.push_back(to_json(link));
  return Json{{"reason", matrix.reason},
              {"devices", matrix.devices},
              {"of_devices", matrix.of_devices},
              {"copy_bytes", matrix.copy_bytes},
              {"latency_bytes", matrix.latency_bytes},
              {"samples", matrix.samples},
              {"oversubscribed", matrix.oversubscribed},
              {"links", links}};
}

LinkMatrix links_from(const JsonValue& json) {
  return {.reason = value_or(json, "reason", std::string()),
          .devices = value_or(json, "devices", 0),
          .of_devices = value_or(json, "of_devices", 0),
          .copy_bytes = value_or<std::int64_t>(json, "copy_bytes", 0),
          .latency_bytes = value_or<std::int64_t>(json, "latency_bytes", 0),
          .samples = value_or(json, "samples", 0),
          .oversubscribed = value_or(json, "oversubscribed", false),
          .links = list_from<Link>(json, "links", link_from)};
}

}  // namespace tandem::results
