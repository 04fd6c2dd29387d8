// SPDX-License-Identifier: Apache-2.0
#include "common/model/workload.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/json/parse.h"

namespace tandem {
namespace {

// Bounds that keep products of a batch with a width, and sums over layers, within 64 bits.
constexpr std::int64_t kWidest = std::int64_t{1} << 30;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::int64_t kMostOperations = 1'000'000;  // includes calls: takes seconds to dispatch
// The limit per sample: backward through all of a model of 2e10 parameters, which 150 GB hold, on
// 8192 tokens.
constexpr double kMostFlops = 1e15;
constexpr double kLargestSize = 1e18;  // of a listed kernel
constexpr int kMostClasses = 1 << 24;  // floats hold smaller ids exactly

std::vector<JsonValue> elements_of(const JsonValue& list) {
  std::vector<JsonValue> elements = list.elements();
  if (elements.empty()) list.complain("the list is empty: give one element or more");
  return elements;
}

Shape shape_of(const JsonValue& list) {
  const auto extents = list.elements();
  if (extents.size() > 16) list.complain("a shape of more than 16 extents: use fewer");
  std::vector<std::int64_t> dims;
  std::int64_t count = 1;
  for (const JsonValue& extent : extents) {
    dims.push_back(extent.whole(1, kMostElements));
    if (dims.back() > kMostElements / count) {
      list.complain(
          fmt::format("a tensor of more than {} elements: use a smaller shape", kMostElements));
    }
    count *= dims.back();
  }
  return Shape(dims);
}

// The value of an enumeration by its name.
template <class Enum, std::size_t kCount>
Enum named(const JsonValue& json, const std::array<std::string_view, kCount>& names,
           std::string_view what) {
  const auto found = std::ranges::find(names, json.line());
  if (found == names.end()) {
    json.complain(fmt::format("there is no such {}: use one of {}", what, fmt::join(names, ", ")));
  }
  return static_cast<Enum>(found - names.begin());
}

DType output_type_of(const JsonValue& json) {
  const auto type = named<NumberType>(json, kNumberTypes, "type");
  if (type == NumberType::kFp32) return DType::kFloat32;
  if (type == NumberType::kFp16 || type == NumberType::kBf16) return DType::kBFloat16;
  json.complain("outputs of this type are not simulated: use fp32, fp16 or bf16");
}

void read_ends(const JsonValue& document, Workload& workload) {
  const JsonValue input = document.at("input");
  input.allow({"width", "classes"});
  workload.input_width = input.at("width").whole(1, kWidest);
  if (const auto classes = input.find("classes")) {
    workload.input_classes = classes->whole(1, kMostClasses);
  }
  const JsonValue output = document.at("output");
  output.allow({"width", "type", "objective", "classes"});
  workload.output_width = output.at("width").whole(1, kWidest);
  if (const auto type = output.find("type")) workload.output_type = output_type_of(*type);
  const auto objective = output.find("objective");
  const std::string kind = objective ? objective->line() : "squared-error";
  if (kind == "squared-error") {
    if (const auto classes = output.find("classes")) {
      classes->complain("squared error has no classes: leave the key out");
    }
    workload.objective = {.target_width = workload.output_width};
    return;
  }
  if (kind != "cross-entropy") {
    objective->complain(
        fmt::format("unknown objective '{}': use squared-error or cross-entropy", kind));
  }
  const JsonValue classes = output.at("classes");
  const std::int64_t count = classes.whole(2, kMostClasses);
  if (workload.output_width % count != 0) {
    classes.complain(fmt::format("a width of {} holds no whole rows of {} classes",
                                 workload.output_width, count));
  }
  workload.objective = {.kind = ObjectiveKind::kCrossEntropy,
                        .target_width = workload.output_width / count,
                        .classes = count};
}

// A number, or [fixed, per sample]. The fixed part of what grows in steps may be below zero.
SizeByBatch size_of(const JsonValue& json) {
  if (!json.is_list()) return {.fixed = json.number({0, kLargestSize})};
  const auto parts = json.elements();
  if (parts.size() != 2) json.complain("a size is a number, or [fixed, per sample]");
  return {.fixed = parts[0].number({-kLargestSize, kLargestSize}),
          .per_sample = parts[1].number({-kLargestSize, kLargestSize})};
}

WorkloadKernel kernel_of(const JsonValue& json) {
  const auto parts = json.elements();
  if (parts.size() != 5) json.complain("a kernel is [kind, type, layout, sizes, count]");
  WorkloadKernel kernel{.kind = named<KernelKind>(parts[0], kKernelKinds, "kind of kernel"),
                        .type = named<NumberType>(parts[1], kNumberTypes, "type"),
                        .layout = named<KernelLayout>(parts[2], kKernelLayouts, "layout"),
                        .count = parts[4].whole(1, kMostOperations)};
  const auto names = sizes_of(kernel.kind);
  const auto sizes = parts[3].elements();
  if (sizes.size() != names.size()) {
    parts[3].complain(fmt::format("the sizes of this kind are {}", fmt::join(names, ", ")));
  }
  std::ranges::transform(sizes, kernel.sizes.begin(), size_of);
  return kernel;
}

LayerPass pass_of(const JsonValue& json) {
  json.allow({"operations", "flops", "kernels"});
  LayerPass pass{.operations = json.at("operations").whole(0, kMostOperations),
                 .flops = json.at("flops").number({0, kMostFlops})};
  const auto kernels = json.find("kernels");
  if (!kernels) return pass;
  std::int64_t count = 0;
  for (const JsonValue& one : kernels->elements()) {
    pass.kernels.push_back(kernel_of(one));
    count += pass.kernels.back().count;
  }
  if (count > kMostOperations) kernels->complain("too many kernels: use fewer");
  return pass;
}

// The index of each layer by its name.
using LayerNames = std::map<std::string, std::size_t>;

LayerNames read_layers(const JsonValue& document, Workload& workload) {
  const JsonValue list = document.at("layers");
  const auto layers = elements_of(list);
  LayerNames names;
  std::int64_t operations = 0;
  for (const JsonValue& json : layers) {
    json.allow({"name", "forward", "backward", "activation_bytes", "calls", "operation_calls"});
    WorkloadLayer layer{.name = json.at("name").line()};
    if (!names.emplace(layer.name, workload.layers.size()).second) {
      json.at("name").complain(fmt::format("a second layer '{}': rename one", layer.name));
    }
    layer.forward = pass_of(json.at("forward"));
    layer.backward = pass_of(json.at("backward"));
    layer.activation_bytes = json.at("activation_bytes").whole(0, kMostElements);
    const auto calls = json.find("calls");
    layer.calls = calls ? calls->whole(0, kMostOperations) : layer.forward.operations;
    const auto operation_calls = json.find("operation_calls");
    layer.operation_calls = operation_calls ? operation_calls->whole(0, layer.calls) : 0;
    operations += layer.forward.operations + layer.backward.operations + layer.calls;
    if (operations > kMostOperations) json.complain("too many operations and calls: use fewer");
    workload.layers.push_back(std::move(layer));
  }
  return names;
}

// Backward goes through the layers from the last to the first, and makes gradients in that order.
void check_order(const JsonValue& json, const Workload& workload, std::size_t layer) {
  if (workload.tensors.empty() || layer <= workload.tensors.back().layer) return;
  json.complain(fmt::format(
      "layer '{}' comes after '{}' of the tensor before it, so that backward is past it: list "
      "tensors in the order in which their gradients become ready",
      workload.layers[layer].name, workload.layers[workload.tensors.back().layer].name));
}

std::size_t layer_of(const JsonValue& json, const LayerNames& names) {
  const JsonValue name = json.at("layer");
  const auto found = names.find(name.line());
  if (found == names.end()) {
    name.complain(fmt::format("there is no layer '{}': use the name of one", name.line()));
  }
  return found->second;
}

// Checks that the tensors have distinct places; without places in the file, parameters are
// registered in the order of forward.
void check_registered(const JsonValue& list, const Workload& workload, std::size_t given) {
  if (given != 0 && given != workload.tensors.size()) {
    list.complain("some tensors have a key 'registered' and some have none: give all or none");
  }
  std::set<std::size_t> places;
  for (const WorkloadTensor& tensor : workload.tensors) {
    if (tensor.registered < workload.tensors.size() && places.insert(tensor.registered).second) {
      continue;
    }
    list.complain(
        fmt::format("'registered' of '{}' is {}: number the tensors from 0 to {}, each once",
                    tensor.name, tensor.registered, workload.tensors.size() - 1));
  }
}

void read_tensors(const JsonValue& document, const LayerNames& layers, Workload& workload) {
  const JsonValue list = document.at("tensors");
  const auto tensors = elements_of(list);
  std::set<std::string> names;
  std::int64_t elements = 0;
  std::size_t registered = 0;
  for (const JsonValue& json : tensors) {
    json.allow({"name", "shape", "layer", "registered"});
    WorkloadTensor tensor{.name = json.at("name").line(), .shape = shape_of(json.at("shape"))};
    if (!names.insert(tensor.name).second) {
      json.at("name").complain(fmt::format("a second tensor '{}': rename one", tensor.name));
    }
    elements += tensor.shape.count();
    if (elements > kMostElements) {
      json.complain(fmt::format("more than {} parameters: no machine holds them", kMostElements));
    }
    tensor.layer = layer_of(json, layers);
    check_order(json.at("layer"), workload, tensor.layer);
    tensor.registered = tensors.size() - 1 - workload.tensors.size();
    if (const auto place = json.find("registered")) {
      tensor.registered = static_cast<std::size_t>(place->whole(0, kMostOperations));
      ++registered;
    }
    workload.tensors.push_back(std::move(tensor));
  }
  check_registered(list, workload, registered);
}

void read_buffers(const JsonValue& document, Workload& workload) {
  const auto list = document.find("buffers");
  if (!list) return;
  std::set<std::string> names;
  std::int64_t elements = 0;
  for (const JsonValue& json : list->elements()) {
    json.allow({"name", "shape"});
    workload.buffers.push_back({json.at("name").line(), shape_of(json.at("shape"))});
    if (!names.insert(workload.buffers.back().name).second) {
      json.at("name").complain("a second buffer of that name: rename one");
    }
    elements += workload.buffers.back().shape.count();
    if (elements > kMostElements) json.complain("more than any machine holds: use smaller shapes");
  }
}

void check_version(const JsonValue& document) {
  const JsonValue version = document.at("tandem_workload");
  const std::int64_t given = version.whole(1, INT64_MAX);
  if (given <= kWorkloadVersion) return;
  version.complain(
      fmt::format("version {} is newer than {}, which this program reads: use a newer "
                  "Tandem, or export the file anew",
                  given, kWorkloadVersion));
}

}  // namespace

std::int64_t size_at(const SizeByBatch& size, std::int64_t batch) {
  const double all = size.fixed + size.per_sample * static_cast<double>(batch);
  return std::llround(std::clamp(all, 0.0, kLargestSize));
}

ListedKernel kernel_at(const WorkloadKernel& kernel, std::int64_t batch) {
  ListedKernel listed{
      .kind = kernel.kind, .type = kernel.type, .layout = kernel.layout, .count = kernel.count};
  std::ranges::transform(kernel.sizes, listed.sizes.begin(),
                         [batch](const SizeByBatch& size) { return size_at(size, batch); });
  return listed;
}

Workload parse_workload(std::string_view text, const std::string& source) {
  const JsonDocument json(JsonAuthor::kPerson, text, source);
  const JsonValue document = json.root();
  if (document.is_object() && !document.has("tandem_workload")) {
    document.complain("key 'tandem_workload' is missing: it is no workload file");
  }
  // The version comes first, as only a newer version may know some keys.
  if (document.is_object()) check_version(document);
  document.allow({"tandem_workload", "name", "origin", "modules", "input", "output", "held_bytes",
                  "tensors", "buffers", "layers"});
  Workload workload;
  workload.name = document.at("name").line();
  if (const auto origin = document.find("origin")) workload.origin = origin->line();
  if (const auto modules = document.find("modules")) {
    workload.modules = static_cast<int>(modules->whole(1, kMostOperations));
  }
  read_ends(document, workload);
  if (const auto held = document.find("held_bytes")) workload.held = size_of(*held);
  const LayerNames layers = read_layers(document, workload);
  read_tensors(document, layers, workload);
  read_buffers(document, workload);
  return workload;
}

}  // namespace tandem
