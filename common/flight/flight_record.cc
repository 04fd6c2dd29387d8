// SPDX-License-Identifier: Apache-2.0
#include "common/flight/flight_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "common/base/units.h"

namespace tandem {

namespace {

constexpr const char* kPrefix = "rank.";

template <std::size_t size>
std::string text_of(const std::array<char, size>& text) {
  return std::string(text.data(), ::strnlen(text.data(), size));
}

std::string name_of(const FlightPage::Slot& slot) {
  std::array<char, FlightPage::kNameBytes> text{};
  for (std::size_t word = 0; word < slot.name.size(); ++word) {
    const std::uint64_t value = slot.name[word].load(std::memory_order_relaxed);
    std::memcpy(text.data() + word * sizeof(value), &value, sizeof(value));
  }
  return text_of(text);
}

FlightRecord::Place place_in(const FlightPage& page, std::uint64_t place) {
  const std::size_t phase = place & 0xff;
  if (phase >= FlightPage::kMostPhases) return {};
  return {static_cast<std::int64_t>(place >> 8), text_of(page.phases[phase])};
}

std::vector<FlightRecord::Collective> collectives_in(const FlightPage& page) {
  std::vector<FlightRecord::Collective> found;
  for (const FlightPage::Slot& slot : page.ring) {
    const std::uint64_t sequence = slot.sequence.load(std::memory_order_acquire);
    if (sequence == 0) continue;
    found.push_back(
        {sequence, name_of(slot), slot.bytes, slot.enqueued, slot.started, slot.finished});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  return found;
}

std::vector<int> ranks_in(const std::array<std::int32_t, FlightPage::kMostNamed>& ranks,
                          std::uint32_t count) {
  return {ranks.begin(), ranks.begin() + std::min<std::size_t>(count, ranks.size())};
}

FlightRecord::Failure failure_in(const FlightPage& page) {
  return {.kind = static_cast<FailureKind>(page.failure),
          .text = text_of(page.error),
          .at = page.failed,
          .waited = page.waited,
          .awaited = ranks_in(page.awaited, page.awaited_count),
          .stopped = ranks_in(page.stopped, page.stopped_count),
          .call = text_of(page.in_call),
          .sequence = page.in_sequence};
}

FlightRecord record_of(const FlightPage& page) {
  FlightRecord record{.rank = page.rank,
                      .world = page.world,
                      .pid = page.pid,
                      .host = text_of(page.host),
                      .enqueued = place_in(page, page.enqueued_place),
                      .device = {},
                      .started = page.started,
                      .finished = page.finished,
                      .collectives = collectives_in(page),
                      .failure = {},
                      .ended = false,
                      .ended_job = 0};
  if (page.device_place != 0) record.device = place_in(page, page.device_place);
  const auto outcome =
      static_cast<FlightPage::Outcome>(page.outcome.load(std::memory_order_acquire));
  record.ended = outcome == FlightPage::Outcome::kEnded;
  if (outcome == FlightPage::Outcome::kFailed) {
    record.failure = failure_in(page);
  }
  record.ended_job = page.ended_job;
  return record;
}

// Reads a page from the file and returns the number of bytes read.
std::size_t read_into(FlightPage& page, const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(&page), sizeof(FlightPage));
  return static_cast<std::size_t>(stream.gcount());
}

// The version in the head of a page of any length; 0 where the page has no valid head.
std::uint32_t version_in(const FlightPage& page, std::size_t count) {
  const bool has_head = count >= offsetof(FlightPage, rank) && page.magic == FlightPage::kMagic;
  return has_head ? page.version : 0;
}

std::vector<std::filesystem::path> flight_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(kPrefix)) files.push_back(entry.path());
  }
  return files;
}

}  // namespace

const FlightRecord::Collective* FlightRecord::find(std::uint64_t sequence) const {
  const auto found = std::find_if(collectives.begin(), collectives.end(),
                                  [&](const auto& c) { return c.sequence == sequence; });
  return found == collectives.end() ? nullptr : &*found;
}

const FlightRecord::Collective* FlightRecord::in_hand() const {
  return started > finished ? find(started) : nullptr;
}

const FlightRecord::Place& FlightRecord::place() const {
  const bool thrown_while_enqueuing = failure && failure->is_own() && enqueued.phase != "idle";
  return thrown_while_enqueuing || device.phase.empty() ? enqueued : device;
}

std::optional<FlightRecord> read_flight_record(const std::filesystem::path& file) {
  const auto page = std::make_unique<FlightPage>();
  const std::size_t count = read_into(*page, file);
  if (version_in(*page, count) != FlightPage::kVersion || count != sizeof(FlightPage))
    return std::nullopt;
  return record_of(*page);
}

std::string foreign_flight_records(const std::filesystem::path& folder) {
  for (const auto& file : flight_files(folder)) {
    const auto page = std::make_unique<FlightPage>();
    const std::uint32_t version = version_in(*page, read_into(*page, file));
    if (version == 0 || version == FlightPage::kVersion) continue;
    return fmt::format(
        "its flight records are of version {}, and this program reads version {}: take all "
        "programs from one build",
        version, FlightPage::kVersion);
  }
  return "";
}

std::vector<FlightRecord> read_flight_records(const std::filesystem::path& folder) {
  std::vector<FlightRecord> records;
  for (const auto& file : flight_files(folder)) {
    if (auto record = read_flight_record(file)) records.push_back(*std::move(record));
  }
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return records;
}

std::filesystem::path flight_file(const std::filesystem::path& folder, int rank) {
  return folder / fmt::format("{}{}", kPrefix, rank);
}

std::string to_string(const FlightRecord::Collective& collective) {
  return fmt::format("{} #{} ({})", collective.name, collective.sequence,
                     to_string(Bytes{collective.bytes}));
}

std::string to_string(const FlightRecord::Place& place) {
  return fmt::format("step {}, phase {}", place.step, place.phase);
}

std::string describe(const FlightRecord& record) {
  std::string text = fmt::format("rank {} (pid {} on {}) ", record.rank, record.pid, record.host);
  if (record.ended) return text + "ended well";
  text += "was in " + to_string(record.place());
  if (const auto* const collective = record.in_hand()) {
    text += fmt::format("; {} started, not finished", to_string(*collective));
  } else if (const auto* const last = record.find(record.finished)) {
    text += fmt::format("; {} finished", to_string(*last));
  }
  if (record.failure) text += "; " + record.failure->text;
  return text;
}

}  // namespace tandem
