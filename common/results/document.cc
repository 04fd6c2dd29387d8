// SPDX-License-Identifier: Apache-2.0
#include "common/results/document.h"

#include "common/results/benchmark_entries.h"
#include "common/results/files.h"
#include "common/results/record_json.h"
#include "common/results/schema.h"
#include "common/results/sweep_json.h"

namespace tandem::results {
namespace {

// Writes JSON a piece at a time, indented as dump_pretty() has it: of many launches the whole would
// need several times the memory of the text.
class Writer {
 public:
  explicit Writer(const TextSink& sink) : sink_(sink) {}

  void open(std::string_view key, char bracket) {
    begin(key);
    text_ += bracket;
    closing_ += bracket == '{' ? '}' : ']';
    is_empty_ = true;
  }

  void close() {
    const char bracket = closing_.back();
    closing_.pop_back();
    if (!is_empty_) new_line();
    text_ += bracket;
    is_empty_ = false;
  }

  // An element of a list has no key.
  void value(std::string_view key, const Json& json) {
    begin(key);
    for (const char c : json.dump(2, ' ', false, Json::error_handler_t::replace)) {
      if (c == '\n') {
        new_line();
      } else {
        text_ += c;
      }
    }
  }

  void finish() {
    text_ += '\n';
    flush();
  }

 private:
  void begin(std::string_view key) {
    constexpr std::size_t kEnough = 1 << 20;
    if (text_.size() > kEnough) flush();
    if (closing_.empty()) return;
    if (!is_empty_) text_ += ',';
    new_line();
    if (!key.empty()) text_.append("\"").append(key).append("\": ");
    is_empty_ = false;
  }

  void new_line() { text_.append(1, '\n').append(2 * closing_.size(), ' '); }

  void flush() {
    sink_(text_);
    text_.clear();
  }

  const TextSink& sink_;
  std::string text_;     // not handed over yet
  std::string closing_;  // brackets that are open, the innermost last
  bool is_empty_ = true;
};

void write_to(const TextSink& sink, const Document& document) {
  Writer writer(sink);
  writer.open("", '{');
  writer.value("context", to_json(document.sweep.context));
  writer.open("benchmarks", '[');
  for_each_benchmark_entry(document.launches, [&](const Json& entry) { writer.value("", entry); });
  for (const OtherEntry& other : document.others) {
    writer.value("", parse_json(other.json, other.source));
  }
  writer.close();
  writer.open("tandem", '{');
  writer.value("schema_version", kSchemaVersion);
  writer.value("sweep", to_json(document.sweep));
  writer.open("launches", '[');
  for (const LaunchRecord& record : document.launches) writer.value("", to_json(record));
  writer.close();
  writer.close();
  writer.close();
  writer.finish();
}

Document document_from(const Json& json, std::string_view source) {
  const auto found = json.find("tandem");
  if (found == json.end()) {
    fail(ErrorKind::kFailure, "it has no key 'tandem'; give a results.json that tandem wrote");
  }
  check_schema_version(value_or(*found, "schema_version", std::string{}), source);
  Document document;
  document.sweep = sweep_from(value_or(*found, "sweep", Json::object()));
  document.sweep.context = context_from(value_or(json, "context", Json::object()));
  for (const Json& launch : value_or(*found, "launches", Json::array())) {
    document.launches.push_back(record_from(launch));
  }
  for (const Json& entry : value_or(json, "benchmarks", Json::array())) {
    const std::string measured_by = value_or(entry, "tandem_source", std::string());
    if (!measured_by.empty())
      document.others.push_back({.source = measured_by, .json = dump(entry)});
  }
  return document;
}

}  // namespace

std::string to_json_text(const Document& document) {
  std::string text;
  write_to([&text](std::string_view part) { text += part; }, document);
  return text;
}

Document parse_document(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, source);
  return reading(source, "a result", [&] { return document_from(json, source); });
}

void write_document(const std::filesystem::path& path, const Document& document) {
  replace_file(path, [&](const TextSink& sink) { write_to(sink, document); });
}

Document read_document(const std::filesystem::path& path) {
  return parse_document(read_file(path), path.string());
}

}  // namespace tandem::results
