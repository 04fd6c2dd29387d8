// SPDX-License-Identifier: Apache-2.0
#include "common/results/document.h"

#include <exception>
#include <utility>

#include "common/base/error.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "common/results/record_fields.h"

namespace tandem::results {
namespace {

void write_to(const TextSink& sink, const Document& document) {
  JsonWriter writer(sink, 2);
  writer.open("", '{');
  write_json(writer, "context", document.sweep.context);
  writer.open("benchmarks", '[');
  for (const OtherEntry& other : document.others) {
    writer.copy("", JsonDocument(JsonAuthor::kProgram, other.json, other.source).root());
  }
  writer.close();
  writer.open("tandem", '{');
  writer.value("schema_version", kSchemaVersion);
  write_json(writer, "sweep", document.sweep);
  write_json(writer, "launches", document.launches);
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
      fail(ErrorKind::kFailure,
           "reading {}: it has no key 'tandem'; give a results.json that tandem wrote", source_);
    }
    check_schema_version(schema_version_, source_);
    if (complaint_) std::rethrow_exception(complaint_);
    document_.sweep.context = std::move(context_);
    return std::move(document_);
  }

 private:
  bool enters(std::string_view path, JsonKind kind) {
    is_from_tandem_ |= path == "tandem";
    if (kind == JsonKind::kList) return path == "benchmarks" || path == "tandem.launches";
    return path.empty() || path == "tandem";
  }

  void take(std::string_view path, const JsonValue& value) {
    is_from_tandem_ |= path == "tandem";
    if (path == "tandem.schema_version") schema_version_ = value.is_text() ? value.text() : "";
    complain_later([&] {
      if (path == "tandem.launches[]") read_json(value, document_.launches.emplace_back());
      if (path == "benchmarks[]") take_entry(value);
      if (path == "context") read_json(value, context_);
      if (path == "tandem.launches") read_json(value, document_.launches);
      if (path == "tandem.sweep") read_json(value, document_.sweep);
    });
  }

  void take_entry(const JsonValue& entry) {
    const auto measured_by = value_or(entry, "tandem_source", std::string());
    if (measured_by.empty()) return;
    document_.others.push_back({.source = measured_by, .json = json_line(entry)});
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

  std::string source_;
  Document document_;
  Context context_;
  std::string schema_version_;
  bool is_from_tandem_ = false;
  std::exception_ptr complaint_;
};

}  // namespace

std::string_view schema_version() { return kSchemaVersion; }

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
  return DocumentReader(source).read(whole);
}

void write_document(const std::filesystem::path& path, const Document& document) {
  replace_file(path, [&](const TextSink& sink) { write_to(sink, document); });
}

Document read_document(const std::filesystem::path& path) {
  InputReader file(results_file(path));
  const TextParts parts = [&file](std::string& to, std::size_t bytes) {
    return file.append_to(to, bytes);
  };
  return DocumentReader(path.string()).read(parts);
}

}  // namespace tandem::results
