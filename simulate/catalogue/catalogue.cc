// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/units.h"
#include "common/json/parse.h"
#include "simulate/catalogue/catalogue_texts.h"
#include "simulate/catalogue/description_reading.h"
#include "simulate/catalogue/published_errors.h"

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

// Without what people leave out: "RTX3090" is "rtx-3090".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

// The node whose description is the nearest to that of GPUs which the catalogue lacks, by their
// generation and kind.
std::string_view node_like(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kAlike{
      {{"quadro", "rtx-2080-ti-box"},
       {"h100", "dgx-h100"},
       {"h800", "dgx-h100"},
       {"gb200", "dgx-b200"},
       {"b300", "dgx-b200"},
       {"gh200", "hgx-h200"},
       {"h20", "hgx-h200"},
       {"rtx50", "rtx-4090-box"},
       {"rtx40", "rtx-4090-box"},
       {"l4", "rtx-4090-box"},
       {"rtx30", "rtx-3090-box"},
       {"a100", "dgx-a100"},
       {"a10", "rtx-3090-box"},
       {"a40", "rtx-a6000-box"},
       {"rtx20", "rtx-2080-ti-box"},
       {"t4", "rtx-2080-ti-box"},
       {"gtx", "titan-xp-box"}}};
  const std::string plain = plain_name(name);
  const auto found = std::ranges::find_if(
      kAlike, [&](const auto& pair) { return plain.find(pair.first) != std::string::npos; });
  return found == kAlike.end() ? "dgx-a100" : found->second;
}

// The known names with that beginning of a name in them, " (there are a100-sxm4 and a100-pcie)".
std::string known_with(std::string_view begin, std::vector<std::string_view> known) {
  constexpr std::size_t kShortest = 3;
  std::erase_if(known, [&](std::string_view one) { return one.find(begin) == one.npos; });
  if (known.empty() || begin.size() < kShortest) return "";
  return fmt::format(" (there are {})", fmt::join(known, ", "));
}

// `kin`: a list of names that may be meant as well.
JsonValue entry(const JsonValue& list, std::string_view name, std::string_view flag,
                const JsonValue& kin) {
  if (const auto found = list.find(name)) return *found;
  std::vector<std::string_view> known;
  for (const JsonValue& one : list) known.push_back(one.key());
  for (const JsonValue& one : kin) known.push_back(one.key());
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) hint = known_with(name.substr(0, name.find('-')), known);
  fail(ErrorKind::kUsage,
       "{}: '{}' is unknown{}; tandem list hardware names what there is; to describe another "
       "machine, put its datasheet's figures into what tandem list hardware {} prints, and give "
       "that .json file",
       flag, name, hint, node_like(name));
}

// Without what nvidia-smi adds: "NVIDIA A100-SXM4-80GB" is "a100sxm480gb".
std::string short_name(std::string name) {
  for (const std::string_view part : {"nvidia", "geforce", "tesla", "hbm3"}) {
    if (const std::size_t at = name.find(part); at != std::string::npos) {
      name.erase(at, part.size());
    }
  }
  return name;
}

// The name without the GPU's own memory at its end, "80gb" or "80g".
std::string_view without_memory(std::string_view name, const JsonValue& gpu) {
  const std::string memory = gpu.at("memory").at("value").line();  // "80GiB"
  const std::string size = memory.substr(0, memory.find_first_not_of("0123456789"));
  for (const char* const unit : {"gb", "g"}) {
    if (name.ends_with(size + unit)) name.remove_suffix(size.size() + std::strlen(unit));
  }
  return name;
}

// Whether what a GPU's name has more than the asked one is a form.
bool is_form(std::string_view rest) {
  return rest.empty() || rest.starts_with("sxm") || rest.starts_with("pcie");
}

// The first node whose GPU has that name, or one with another form; nothing where there is none.
std::optional<JsonValue> node_with_gpu(const Catalogue& catalogue, std::string_view name) {
  constexpr std::size_t kShortest = 4;  // "100" is no name of one
  const std::string given = short_name(plain_name(name));
  for (const bool is_whole : {true, false}) {
    for (const JsonValue& node : catalogue.machines("nodes")) {
      const JsonValue gpu = catalogue.gpus("gpus").at(node.at("gpu").text());
      const std::string kind = plain_name(kind_of_gpu(gpu.at("name").line()));
      const std::string_view wanted = without_memory(given, gpu);
      if (wanted.size() < kShortest) continue;
      const std::size_t at = kind.find(wanted);
      if (is_whole && kind == wanted) return node;
      if (is_whole || at == std::string::npos) continue;
      if (wanted.ends_with("sxm") || is_form(kind.substr(at + wanted.size()))) return node;
    }
  }
  return std::nullopt;
}

// The node that a GPU's name stands for, and the count beside the name, as in "a100x4" and
// "4xa100".
struct NamedGpus {
  std::optional<JsonValue> node{};
  std::optional<int> count{};
};

// No node for a machine's own name. The x of "rtx3090" stands before no count.
NamedGpus gpus_named(const Catalogue& catalogue, std::string_view name) {
  const JsonValue nodes = catalogue.machines("nodes");
  if (nodes.has(name)) return {};
  if (const auto node = node_with_gpu(catalogue, name)) return {.node = node};
  auto count = take_count_before(name);
  if (!count) count = take_count_behind(name);
  if (count.value_or(1) < 1 || nodes.has(name)) return {};
  return {.node = node_with_gpu(catalogue, name), .count = count};
}

void read_network(const Catalogue& catalogue, const MachineName& parts, std::string_view flag,
                  HardwareDescription& hardware) {
  if (!parts.nodes) return;
  const JsonValue networks = catalogue.machines("networks");
  NetworkDescription network;
  read_network_link(entry(networks, parts.network, flag, networks), network);
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

std::string machine_name(std::string_view name) {
  const Catalogue catalogue;
  const auto [node, asked] = gpus_named(catalogue, name);
  if (!node) return std::string(name);
  const int count = asked.value_or(1);
  SourcedFigure<int> gpus;
  read_gpu_count(node->at("gpus"), gpus);
  if (count <= gpus.value) return std::string(node->key());
  const std::string network = usual_network(node->key());
  if (network.empty()) return std::string(name);
  return fmt::format("{}x{}@{}", node->key(), (count + gpus.value - 1) / gpus.value, network);
}

std::optional<int> gpus_asked_for(std::string_view name) {
  const NamedGpus named = gpus_named(Catalogue(), name);
  return named.node ? named.count : std::nullopt;
}

HardwareDescription catalogued_hardware(std::string_view asked, std::string_view flag) {
  const Catalogue catalogue;
  const std::string name = machine_name(asked);
  const MachineName parts = parts_of(name, flag);
  const JsonValue node =
      entry(catalogue.machines("nodes"), parts.node, flag, catalogue.gpus("gpus"));
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
  if (!is_hardware_file(asked)) return catalogued_hardware(asked, flag);
  HardwareDescription hardware = read_hardware(asked);
  if (hardware.gpu.scatter) return hardware;
  const Catalogue catalogue;
  const JsonValue value = catalogue.gpus("common").at("scatter").at("value");
  hardware.gpu.scatter = {parse_percentage(value.line(), "scatter"), std::string(kAssumedScatter)};
  return hardware;
}

std::string with_figures(std::string_view name, std::string_view flag) {
  const HardwareDescription hardware = catalogued_hardware(name, flag);
  return fmt::format("{}#{}", hardware.name, checksum_of(hardware_text(hardware)));
}

}  // namespace tandem
