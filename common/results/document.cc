// SPDX-License-Identifier: Apache-2.0
#include "common/results/document.h"

#include <exception>
#include <utility>

#include "common/results/benchmark_entries.h"
#include "common/results/files.h"
#include "common/results/json_parts.h"
#include "common/results/json_writer.h"
#include "common/results/record_json.h"
#include "common/results/schema.h"
#include "common/results/sweep_json.h"

namespace tandem::results {
namespace {

void write_to(const TextSink& sink, const Document& document) {
  JsonWriter writer(JsonWriter::Layout::kPretty, sink);
  writer.open("", '{');
  writer.tree("context", to_json(document.sweep.context));
  writer.open("benchmarks", '[');
  write_benchmark_entries(writer, document.launches);
  for (const OtherEntry& other : document.others) {
    writer.tree("", parse_json(other.json, other.source));
  }
  writer.close();
  writer.open("tandem", '{');
  writer.value("schema_version", kSchemaVersion);
  writer.tree("sweep", to_json(document.sweep));
  writer.tree("machine", machine_to_json(document.sweep));
  writer.open("launches", '[');
  for (const LaunchRecord& record : document.launches) write(writer, "", record);
  writer.close();
  writer.close();
  writer.close();
  writer.finish();
}

// Reads a document whose keys stand in any order. An error in a field's content is reported at the
// end, after broken JSON and after a schema version in which the field may have another meaning.
class DocumentReader {
 public:
  explicit DocumentReader(std::string_view source) : source_(source) {}

  Document read(const TextParts& text) {
    read_parts(
        text, source_,
        {.enters = [this](std::string_view path, JsonKind kind) { return enters(path, kind); },
         .take = [this](std::string_view path, const JsonValue& value) { take(path, value); }});
    if (!is_from_tandem_) {
      fail(ErrorKind::kFailure, "it has no key 'tandem'; give a results.json that tandem wrote");
    }
    check_schema_version(schema_version_, source_);
    if (complaint_) std::rethrow_exception(complaint_);
    document_.sweep.context = std::move(context_);
    document_.sweep.links = std::move(links_);
    return std::move(document_);
  }

 private:
  bool enters(std::string_view path, JsonKind kind) {
    is_from_tandem_ |= path == "/tandem";
    if (kind == JsonKind::kList) return path == "/benchmarks" || path == "/tandem/launches";
    return path.empty() || path == "/tandem";
  }

  void take(std::string_view path, const JsonValue& value) {
    is_from_tandem_ |= path == "/tandem";
    if (path == "/tandem/launches/") return take_launch(value);
    if (path == "/benchmarks/") return take_entry(value);
    if (path == "/tandem/schema_version" && !value.get(schema_version_)) schema_version_.clear();
    complain_later([&] {
      if (path == "/context") context_ = context_from(value);
      if (path == "/tandem/launches") fail_value("launches", value);
      if (path == "/tandem/sweep") document_.sweep = sweep_from(value);
      if (path == "/tandem/machine") links_ = links_of_machine(value);
    });
  }

  void take_launch(const JsonValue& launch) {
    complain_later([&] { document_.launches.push_back(record_from(launch)); });
  }

  void take_entry(const JsonValue& entry) {
    complain_later([&] {
      const std::string measured_by = value_or(entry, "tandem_source", std::string());
      if (measured_by.empty()) return;
      document_.others.push_back({.source = measured_by, .json = dump(entry.tree())});
    });
  }

  template <class Convert>
  void complain_later(Convert convert) {
    if (complaint_) return;
    try {
      convert();
    } catch (const Error&) {
      complaint_ = std::current_exception();
    }
  }

  std::string_view source_;
  Document document_;
  std::optional<LinkMatrix> links_;
  Context context_;
  std::string schema_version_;
  bool is_from_tandem_ = false;
  std::exception_ptr complaint_;
};

Document read_from(const TextParts& parts, std::string_view source) {
  return reading(source, [&] { return DocumentReader(source).read(parts); });
}

}  // namespace

std::string to_json_text(const Document& document) {
  std::string text;
  write_to([&text](std::string_view part) { text += part; }, document);
  return text;
}

Document parse_document(std::string_view text, std::string_view source) {
  const TextParts whole = [&text](std::string& to, std::size_t) {
    to += text;
    return !std::exchange(text, {}).empty();
  };
  return read_from(whole, source);
}

void write_document(const std::filesystem::path& path, const Document& document) {
  replace_file(path, [&](const TextSink& sink) { write_to(sink, document); });
}

Document read_document(const std::filesystem::path& path) {
  InputReader file(results_file(path));
  const TextParts parts = [&file](std::string& to, std::size_t bytes) {
    return file.append_to(to, bytes);
  };
  return read_from(parts, path.string());
}

}  // namespace tandem::results
