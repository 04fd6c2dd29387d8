// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/catalogue.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/units.h"
#include "common/json/parse.h"
#include "simulate/catalogue/catalogue_texts.h"
#include "simulate/catalogue/description_reading.h"

namespace tandem {
namespace {

constexpr int kMostNodes = 1 << 20;
constexpr int kMostLinks = 64;

class Catalogue {
 public:
  [[nodiscard]] JsonValue machines(std::string_view key) const { return machines_.root().at(key); }
  [[nodiscard]] JsonValue gpus(std::string_view key) const { return gpus_.root().at(key); }

 private:
  // As a program's: no person who asks for a machine can mend it.
  JsonDocument gpus_{JsonAuthor::kProgram, catalogue_gpus(), "the catalogue's gpus.json"};
  JsonDocument machines_{JsonAuthor::kProgram, catalogue_machines(),
                         "the catalogue's machines.json"};
};

// The parts of a name: "dgx-a100x4@8xib-200g".
struct MachineName {
  std::string_view node;
  std::optional<int> nodes{};
  std::string_view network{};
  int links = 1;
};

// The dash of a name such as "dgx-1" is no sign.
std::optional<int> unsigned_number(std::string_view digits) {
  return digits.starts_with('-') ? std::nullopt : parse_number<int>(digits);
}

// "4" in "dgx-a100x4", which loses it; nothing where no number stands behind the last "x".
std::optional<int> take_count_behind(std::string_view& name) {
  const std::size_t mark = name.rfind('x');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto count = unsigned_number(name.substr(mark + 1));
  if (count) name = name.substr(0, mark);
  return count;
}

// "8" in "8xib-200g", which loses it.
std::optional<int> take_count_before(std::string_view& name) {
  const std::size_t mark = name.find('x');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto count = unsigned_number(name.substr(0, mark));
  if (count) name = name.substr(mark + 1);
  return count;
}

void check_count(std::string_view flag, std::string_view name, int count, int most) {
  if (count >= 1 && count <= most) return;
  fail(ErrorKind::kUsage, "{}={}: {} are not from 1 to {}", flag, name, count, most);
}

MachineName parts_of(std::string_view name, std::string_view flag) {
  const std::size_t at = name.find('@');
  MachineName parts{.node = name.substr(0, at)};
  if (at == std::string_view::npos) {
    std::string_view node = parts.node;
    if (take_count_behind(node)) {
      const Catalogue catalogue;
      if (catalogue.machines("nodes").has(node)) {
        fail(ErrorKind::kUsage, "{}={}: what joins the nodes? add a network, such as {}@ib-200g",
             flag, name, name);
      }
    }
    return parts;
  }
  parts.nodes = take_count_behind(parts.node);
  if (!parts.nodes) {
    fail(ErrorKind::kUsage, "{}={}: how many nodes does the network join? such as {}x2@{}", flag,
         name, parts.node, name.substr(at + 1));
  }
  parts.network = name.substr(at + 1);
  parts.links = take_count_before(parts.network).value_or(1);
  check_count(flag, name, *parts.nodes, kMostNodes);
  check_count(flag, name, parts.links, kMostLinks);
  return parts;
}

JsonValue entry(const JsonValue& list, std::string_view name, std::string_view flag) {
  if (const auto found = list.find(name)) return *found;
  std::vector<std::string_view> known;
  for (const JsonValue& one : list) known.push_back(one.key());
  fail(ErrorKind::kUsage,
       "{}: '{}' is unknown{}; tandem list hardware names what there is, or give the path of a "
       ".json file",
       flag, name, did_you_mean(name, known));
}

void read_network(const Catalogue& catalogue, const MachineName& parts, std::string_view flag,
                  HardwareDescription& hardware) {
  if (!parts.nodes) return;
  NetworkDescription network;
  read_network_link(entry(catalogue.machines("networks"), parts.network, flag), network);
  SourcedFigure<double>& bandwidth = network.link.bandwidth;
  bandwidth.value *= parts.links;
  if (parts.links > 1) bandwidth.source += fmt::format("; {} links a node", parts.links);
  network.nodes = {*parts.nodes, "asked for"};
  hardware.network = network;
}

std::vector<CatalogueEntry> entries_of(const JsonValue& list) {
  std::vector<CatalogueEntry> entries;
  for (const JsonValue& one : list) {
    entries.push_back({std::string(one.key()), one.at("what").line()});
  }
  return entries;
}

}  // namespace

std::vector<CatalogueEntry> catalogue_nodes() { return entries_of(Catalogue().machines("nodes")); }

std::vector<CatalogueEntry> catalogue_networks() {
  const Catalogue catalogue;
  std::vector<CatalogueEntry> entries;
  for (const JsonValue& one : catalogue.machines("networks")) {
    NetworkDescription network;
    read_network_link(one, network);
    const LinkDescription& link = network.link;
    entries.push_back(
        {std::string(one.key()),
         fmt::format(
             "{:.4g} GB/s and {} us a link", link.bandwidth.value / 1e9,
             std::chrono::duration_cast<std::chrono::microseconds>(link.latency.value).count())});
  }
  return entries;
}

HardwareDescription catalogued_hardware(std::string_view name, std::string_view flag) {
  const Catalogue catalogue;
  const MachineName parts = parts_of(name, flag);
  const JsonValue node = entry(catalogue.machines("nodes"), parts.node, flag);
  const JsonValue links = catalogue.machines("links");
  HardwareDescription hardware;
  hardware.name = name;
  read_gpu(JsonPart(catalogue.gpus("gpus").at(node.at("gpu").text()), catalogue.gpus("common")),
           hardware.gpu);
  read_gpu_count(node.at("gpus"), hardware.node.gpus);
  read_link(links.at(node.at("host_link").text()), hardware.node.host_link);
  const std::string staged = "staged-" + std::string(node.at("host_link").text());
  read_staged_link(links.at(staged), hardware.node.staged_link.emplace());
  if (const auto peers = node.find("peer_link")) {
    read_link(links.at(peers->text()), hardware.node.peer_link.emplace());
  }
  if (const auto nccl = node.find("nccl")) read_nccl(*nccl, hardware.node.nccl.emplace());
  read_network(catalogue, parts, flag, hardware);
  read_host(catalogue.machines("host"), hardware.host);
  check_links(node, hardware);
  return hardware;
}

std::string usual_network(std::string_view node) {
  const Catalogue catalogue;
  const auto found = catalogue.machines("nodes").find(node);
  const auto network = found ? found->find("usual_network") : std::nullopt;
  return network ? network->line() : "";
}

HardwareDescription find_hardware(const std::string& asked, std::string_view flag) {
  return is_hardware_file(asked) ? read_hardware(asked) : catalogued_hardware(asked, flag);
}

std::string with_figures(std::string_view name, std::string_view flag) {
  const std::string text = hardware_text(catalogued_hardware(name, flag));
  return fmt::format("{}#{}", name, checksum_of(text));
}

}  // namespace tandem
