// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/support/build_folder.h"

namespace tandem::test {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::kFailure, "cannot read {}", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// Little-endian fp32, on any machine.
std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> values;
  values.reserve(bytes.size() / 4);
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t bits = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      bits = bits << 8 | static_cast<unsigned char>(bytes[at + byte]);
    }
    values.push_back(std::bit_cast<float>(bits));
  }
  return values;
}

GoldenTensor tensor_of(const Json& entry, const std::vector<float>& values) {
  GoldenTensor tensor{.shape = Shape(entry.at("shape").get<std::vector<std::int64_t>>()),
                      .extent = entry.at("extent"),
                      .stride = entry.at("stride")};
  const std::int64_t at = entry.at("at");
  const std::int64_t end = at + (tensor.extent + tensor.stride - 1) / tensor.stride;
  if (end > std::ssize(values)) {
    fail(ErrorKind::kFailure, "the values end before {} does", entry.at("name").dump());
  }
  tensor.kept.assign(values.begin() + at, values.begin() + end);
  if (entry.contains("left_out")) {
    tensor.left_out_first = entry["left_out"].at(0);
    tensor.left_out_count = entry["left_out"].at(1);
  }
  return tensor;
}

}  // namespace

std::vector<float> GoldenTensor::all() const {
  TANDEM_CHECK(stride == 1 || extent == 0, "the file keeps each {}th element alone", stride);
  std::vector<float> values = kept;
  values.resize(static_cast<std::size_t>(shape.count()));
  return values;
}

double GoldenTensor::distance(const std::vector<float>& found) const {
  TANDEM_CHECK(std::ssize(found) == shape.count(), "{} elements of {}", found.size(),
               shape.count());
  double square = 0;
  double difference = 0;
  const auto compare = [&](std::int64_t place, double expected) {
    if (place >= left_out_first && place < left_out_first + left_out_count) return;
    const double off = found[static_cast<std::size_t>(place)] - expected;
    square += expected * expected;
    difference += off * off;
  };
  for (std::size_t i = 0; i < kept.size(); ++i) {
    compare(static_cast<std::int64_t>(i) * stride, kept[i]);
  }
  for (std::int64_t place = extent; place < shape.count(); ++place) compare(place, 0);
  const double distance = std::sqrt(square == 0 ? difference : difference / square);
  return std::isfinite(distance) ? distance : HUGE_VAL;
}

const GoldenTensor& Golden::tensor(const std::string& name) const {
  const auto found = tensors.find(name);
  TANDEM_CHECK(found != tensors.end(), "no tensor {} in the golden file of {}", name, model);
  return found->second;
}

Golden read_golden(const std::string& name) {
  const std::filesystem::path folder = build_folder() / "tests" / "golden";
  const Json header = Json::parse(read_file(folder / (name + ".json")));
  if (header.at("format") != kFormat) {
    fail(ErrorKind::kFailure, "{}.json has format {}, this reads {}", name,
         header.at("format").dump(), kFormat);
  }
  const std::vector<float> values = floats_of(read_file(folder / (name + ".bin")));
  Golden golden{.model = header.at("model"),
                .torch = header.at("torch"),
                .batch = header.at("batch"),
                .steps = header.at("steps")};
  header.at("optimizers").get_to(golden.optimizers);
  for (const Json& entry : header.at("tensors")) {
    golden.tensors.emplace(entry.at("name"), tensor_of(entry, values));
  }
  return golden;
}

}  // namespace tandem::test
