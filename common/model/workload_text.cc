// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/model/workload_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const LayerPass& pass) {
  Json json{{"operations", pass.operations}};
  if (pass.flops) json["flops"] = *pass.flops;
  if (!pass.seconds.empty()) json["seconds"] = pass.seconds;
  if (pass.products) {
    json["products"] = Json{{"width", pass.products->width}, {"rows", pass.products->rows}};
  }
  return json;
}

Json json_of(const WorkloadLayer& layer) {
  return Json{{"name", layer.name},
              {"forward", json_of(layer.forward)},
              {"backward", json_of(layer.backward)},
              {"activation_bytes", layer.activation_bytes},
              {"calls", layer.calls}};
}

Json ends_of(const Workload& workload) {
  Json input{{"width", workload.input_width}};
  if (workload.input_classes > 0) input["classes"] = workload.input_classes;
  Json output{{"width", workload.output_width}};
  if (workload.objective.kind == ObjectiveKind::kCrossEntropy) {
    output["objective"] = "cross-entropy";
    output["classes"] = workload.objective.classes;
  }
  return Json{{"input", input}, {"output", output}};
}

// A list with one element per line, so that people can read the file and compare two files.
std::string lines_of(const Json& list) {
  std::string text = "[";
  for (const Json& element : list) {
    text += fmt::format("{}\n    {}", text.size() > 1 ? "," : "", element.dump());
  }
  return text + "\n  ]";
}

Json tensors_of(const Workload& workload) {
  Json tensors = Json::array();
  for (const WorkloadTensor& tensor : workload.tensors) {
    tensors.push_back(Json{{"name", tensor.name},
                           {"shape", tensor.shape.dims()},
                           {"layer", workload.layers.at(tensor.layer).name},
                           {"registered", tensor.registered}});
  }
  return tensors;
}

}  // namespace

bool Workload::is_calibrated() const {
  return std::ranges::all_of(layers, [](const WorkloadLayer& layer) {
    return layer.forward.products.has_value() && layer.backward.products.has_value();
  });
}

std::string to_text(const Workload& workload) {
  Json head{{"tandem_workload", kWorkloadVersion}, {"name", workload.name}};
  if (!workload.origin.empty()) head["origin"] = workload.origin;
  head["modules"] = workload.modules;
  head.update(ends_of(workload));
  if (const auto& timing = workload.timing) {
    head["measured"] = Json{
        {"precision", timing->precision}, {"device", timing->device}, {"batches", timing->batches}};
  }
  Json buffers = Json::array();
  for (const WorkloadBuffer& buffer : workload.buffers) {
    buffers.push_back(Json{{"name", buffer.name}, {"shape", buffer.shape.dims()}});
  }
  Json layers = Json::array();
  for (const WorkloadLayer& layer : workload.layers) layers.push_back(json_of(layer));
  std::string text = "{\n";
  for (const auto& [key, value] : head.items()) {
    text += fmt::format("  \"{}\": {},\n", key, value.dump());
  }
  text += fmt::format("  \"tensors\": {},\n", lines_of(tensors_of(workload)));
  if (!buffers.empty()) text += fmt::format("  \"buffers\": {},\n", lines_of(buffers));
  return text + fmt::format("  \"layers\": {}\n}}\n", lines_of(layers));
}

}  // namespace tandem
