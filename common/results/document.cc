// SPDX-License-Identifier: Apache-2.0
#include "common/results/document.h"

#include <exception>
#include <utility>

#include "common/results/benchmark_entries.h"
#include "common/results/files.h"
#include "common/results/json_stream.h"
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
  writer.open("launches", '[');
  for (const LaunchRecord& record : document.launches) write(writer, "", record);
  writer.close();
  writer.close();
  writer.close();
  writer.finish();
}

// Takes a document in whatever order its keys stand. What a field holds is complained of at the
// end: a text that is no JSON comes first, then a schema that may mean something else by it.
class DocumentReader {
 public:
  DocumentReader(const TextParts& parts, std::string_view source)
      : source_(source), stream_(parts, source) {}

  Document read() {
    if (stream_.is_at('{')) {
      stream_.members([this](const std::string& key) { take(key); });
    } else {
      (void)stream_.value();
    }
    stream_.expect_end();
    if (!is_from_tandem_) {
      fail(ErrorKind::kFailure, "it has no key 'tandem'; give a results.json that tandem wrote");
    }
    check_schema_version(schema_version_, source_);
    if (complaint_) std::rethrow_exception(complaint_);
    document_.sweep.context = std::move(context_);
    return std::move(document_);
  }

 private:
  void take(const std::string& key) {
    if (key == "tandem") {
      take_tandem();
    } else if (key == "benchmarks" && stream_.is_at('[')) {
      stream_.elements([this] { take_entry(stream_.value()); });
    } else {
      const JsonValue value = stream_.value();
      if (key == "context") complain_later([&] { context_ = context_from(value); });
    }
  }

  void take_tandem() {
    is_from_tandem_ = true;
    if (stream_.is_at('{')) {
      stream_.members([this](const std::string& key) { take_of_tandem(key); });
    } else {
      (void)stream_.value();
    }
  }

  void take_of_tandem(const std::string& key) {
    if (key == "launches" && stream_.is_at('[')) {
      stream_.elements([this] { take_launch(stream_.value()); });
      return;
    }
    const JsonValue value = stream_.value();
    if (key == "schema_version" && !value.get(schema_version_)) schema_version_.clear();
    complain_later([&] {
      if (key == "launches") fail_value(key, value);
      if (key == "sweep") document_.sweep = sweep_from(value);
    });
  }

  void take_launch(const JsonValue& launch) {
    complain_later([&] { document_.launches.push_back(record_from(launch)); });
  }

  void take_entry(const JsonValue& entry) {
    complain_later([&] {
      const std::string measured_by = value_or(entry, "tandem_source", std::string());
      if (measured_by.empty()) return;
      const std::string json = dump(parse_json(entry.raw(), source_));
      document_.others.push_back({.source = measured_by, .json = json});
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
  JsonStream stream_;
  Document document_;
  Context context_;
  std::string schema_version_;
  bool is_from_tandem_ = false;
  std::exception_ptr complaint_;
};

Document read_from(const TextParts& parts, std::string_view source) {
  return reading(source, [&] { return DocumentReader(parts, source).read(); });
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
  FileReader file(path);
  const TextParts parts = [&file](std::string& to, std::size_t bytes) {
    return file.append_to(to, bytes);
  };
  return read_from(parts, path.string());
}

}  // namespace tandem::results
