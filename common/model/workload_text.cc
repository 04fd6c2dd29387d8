// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/json/fields.h"
#include "common/model/workload_file.h"

namespace tandem {

constexpr auto json_fields(const CalibratedProducts*) {
  return std::tuple(field("width", &CalibratedProducts::width),
                    field("rows", &CalibratedProducts::rows));
}

constexpr auto json_fields(const WorkloadTiming*) {
  return std::tuple(field("precision", &WorkloadTiming::precision),
                    field("device", &WorkloadTiming::device),
                    field("batches", &WorkloadTiming::batches));
}

namespace {

void write(JsonWriter& writer, std::string_view key, const LayerPass& pass) {
  writer.open(key, '{');
  writer.value("operations", pass.operations);
  write_json(writer, "flops", pass.flops);
  if (!pass.seconds.empty()) write_json(writer, "seconds", pass.seconds);
  write_json(writer, "products", pass.products);
  writer.close();
}

void write_members(JsonWriter& writer, const WorkloadLayer& layer) {
  writer.value("name", layer.name);
  write(writer, "forward", layer.forward);
  write(writer, "backward", layer.backward);
  writer.value("activation_bytes", layer.activation_bytes);
  writer.value("calls", layer.calls);
}

void write_members(JsonWriter& writer, const WorkloadBuffer& buffer) {
  writer.value("name", buffer.name);
  write_json(writer, "shape", buffer.shape.dims());
}

void write_input(JsonWriter& writer, const Workload& workload) {
  writer.value("width", workload.input_width);
  if (workload.input_classes > 0) writer.value("classes", workload.input_classes);
}

void write_output(JsonWriter& writer, const Workload& workload) {
  writer.value("width", workload.output_width);
  if (workload.objective.kind != ObjectiveKind::kCrossEntropy) return;
  writer.value("objective", "cross-entropy");
  writer.value("classes", workload.objective.classes);
}

// An object in one line, of the members that `write` writes.
template <class Write>
std::string object(Write write) {
  std::string text;
  JsonWriter writer(text);
  writer.open("", '{');
  write(writer);
  writer.close();
  return text;
}

std::string member(std::string_view key, std::string_view value) {
  return fmt::format("  \"{}\": {},\n", key, value);
}

// A list with one object per line, so that people can read the file and compare two files.
template <class Element, class Write>
std::string lines_of(const std::vector<Element>& list, Write write) {
  std::string text = "[";
  for (const Element& element : list) {
    text += text.size() > 1 ? ",\n    " : "\n    ";
    text += object([&](JsonWriter& writer) { write(writer, element); });
  }
  return text + "\n  ]";
}

std::string tensors_of(const Workload& workload) {
  return lines_of(workload.tensors, [&](JsonWriter& writer, const WorkloadTensor& tensor) {
    writer.value("name", tensor.name);
    write_json(writer, "shape", tensor.shape.dims());
    writer.value("layer", workload.layers.at(tensor.layer).name);
    writer.value("registered", tensor.registered);
  });
}

// The members of a file before its lists.
std::string head_of(const Workload& workload) {
  std::string text = member("tandem_workload", std::to_string(kWorkloadVersion));
  text += member("name", json_text(workload.name));
  if (!workload.origin.empty()) text += member("origin", json_text(workload.origin));
  text += member("modules", std::to_string(workload.modules));
  text += member("input", object([&](JsonWriter& writer) { write_input(writer, workload); }));
  text += member("output", object([&](JsonWriter& writer) { write_output(writer, workload); }));
  if (workload.timing) text += member("measured", json_line(*workload.timing));
  return text;
}

}  // namespace

bool Workload::is_calibrated() const {
  return std::ranges::all_of(layers, [](const WorkloadLayer& layer) {
    return layer.forward.products.has_value() && layer.backward.products.has_value();
  });
}

std::string to_text(const Workload& workload) {
  const auto write = [](JsonWriter& writer, const auto& element) {
    write_members(writer, element);
  };
  std::string text = "{\n" + head_of(workload) + member("tensors", tensors_of(workload));
  if (!workload.buffers.empty()) text += member("buffers", lines_of(workload.buffers, write));
  return text + fmt::format("  \"layers\": {}\n}}\n", lines_of(workload.layers, write));
}

}  // namespace tandem
