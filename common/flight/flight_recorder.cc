// SPDX-License-Identifier: Apache-2.0
#include "common/flight/flight_recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/error.h"
#include "common/base/this_process.h"
#include "common/base/units.h"

namespace tandem {

namespace {

namespace fs = std::filesystem;

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kRelease = std::memory_order_release;

std::int64_t now() { return Nanoseconds(Clock::now().time_since_epoch()).count(); }

std::uint64_t place_of(std::int64_t step, std::size_t phase) {
  return static_cast<std::uint64_t>(step) << 8 | static_cast<std::uint64_t>(phase);
}

template <std::size_t size>
void copy_text(std::array<char, size>& to, std::string_view text) {
  const std::size_t count = std::min(text.size(), size - 1);
  std::memcpy(to.data(), text.data(), count);
  to[count] = '\0';
}

// Copies as many ranks as there is room for, and returns their number.
std::uint32_t copy_ranks(std::array<std::int32_t, FlightPage::kMostNamed>& to,
                         const std::vector<int>& ranks) {
  const std::size_t count = std::min(ranks.size(), to.size());
  std::copy_n(ranks.begin(), count, to.begin());
  return static_cast<std::uint32_t>(count);
}

// The file's blocks are reserved, since a full disk is then an error here and not a signal at a
// later store. The file is a new one, since emptying the old file would raise a signal in a process
// that has mapped it: a rank that does not see its launcher takes itself for rank 0, and so opens
// rank 0's file.
void* map_file(const fs::path& file) {
  ::unlink(file.c_str());
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  int code = descriptor < 0 ? errno : ::posix_fallocate(descriptor, 0, sizeof(FlightPage));
  void* address = MAP_FAILED;
  if (code == 0) {
    address = ::mmap(nullptr, sizeof(FlightPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     descriptor, 0);
    if (address == MAP_FAILED) code = errno;
  }
  if (descriptor >= 0) ::close(descriptor);
  if (address != MAP_FAILED) return address;
  fail(ErrorKind::kFailure, "making the flight recorder's file {}: {}; choose another folder",
       file.string(), std::strerror(code));
}

void set_name(FlightPage::Slot& slot, const char* name) {
  std::array<char, FlightPage::kNameBytes> text{};
  copy_text(text, name);
  for (std::size_t word = 0; word < slot.name.size(); ++word) {
    std::uint64_t value = 0;
    std::memcpy(&value, text.data() + word * sizeof(value), sizeof(value));
    slot.name[word].store(value, kRelaxed);
  }
}

FailureKind kind_of(const Error& error) {
  if (error.kind() == ErrorKind::kOutOfMemory) return FailureKind::kOutOfMemory;
  if (error.kind() != ErrorKind::kCommunication) return FailureKind::kOwn;
  switch (error.peer_failure().kind) {
    case PeerFailure::Kind::kWaited:
      return FailureKind::kWaited;
    case PeerFailure::Kind::kDiverged:
      return FailureKind::kDiverged;
    case PeerFailure::Kind::kLost:
      return FailureKind::kLost;
    case PeerFailure::Kind::kAborted:
      return FailureKind::kAborted;
    case PeerFailure::Kind::kUnknown:
      break;
  }
  return FailureKind::kOther;
}

// The process's state, the field after the program's name; the name stands in parentheses and may
// contain parentheses itself: proc(5).
char state_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

// Whether a signal or a debugger has stopped the process.
bool is_stopped(int pid) {
  const char state = state_of(fmt::format("/proc/{}", pid));
  return (state == 'T' || state == 't') && runs_this_program(pid);
}

// The ranks with a record in `folder` whose processes, on this host, the kernel has stopped
// (SIGSTOP, a debugger): such a rank is known to be stopped and not only late. Only processes of
// the caller's own program count, since another process may have taken over a number. Throws
// nothing: empty where processes cannot be inspected.
std::vector<int> stopped_ranks(const fs::path& folder) noexcept {
  std::vector<int> stopped;
  static_cast<void>(capture_error([&] {
    for (const FlightRecord& record : read_flight_records(folder)) {
      if (record.host == host_name() && is_stopped(record.pid)) stopped.push_back(record.rank);
    }
  }));
  return stopped;
}

}  // namespace

FlightRecorder::FlightRecorder(const fs::path& file, const Identity& identity)
    : folder_(file.parent_path()) {
  TANDEM_CHECK(identity.phases.size() <= FlightPage::kMostPhases, "{} phases",
               identity.phases.size());
  page_ = new (map_file(file)) FlightPage();
  page_->version = FlightPage::kVersion;
  page_->rank = identity.rank;
  page_->world = identity.world;
  page_->pid = static_cast<std::int32_t>(::getpid());
  copy_text(page_->host, host_name());
  for (std::size_t i = 0; i < identity.phases.size(); ++i) {
    copy_text(page_->phases[i], identity.phases[i]);
  }
  page_->magic.store(FlightPage::kMagic, kRelease);
}

FlightRecorder::~FlightRecorder() { ::munmap(page_, sizeof(FlightPage)); }

void FlightRecorder::enqueued(std::int64_t step, std::size_t phase) noexcept {
  page_->enqueued_place.store(place_of(step, phase), kRelaxed);
}

void FlightRecorder::reached(std::int64_t step, std::size_t phase) noexcept {
  page_->device_place.store(place_of(step, phase), kRelaxed);
}

FlightPage::Slot& FlightRecorder::slot_of(std::uint64_t sequence) noexcept {
  return page_->ring[sequence % FlightPage::kRing];
}

void FlightRecorder::collective_enqueued(std::uint64_t sequence, const char* name,
                                         std::int64_t bytes) noexcept {
  FlightPage::Slot& slot = slot_of(sequence);
  slot.sequence.store(0, kRelaxed);
  set_name(slot, name);
  slot.bytes.store(bytes, kRelaxed);
  slot.enqueued.store(now(), kRelaxed);
  slot.started.store(0, kRelaxed);
  slot.finished.store(0, kRelaxed);
  slot.sequence.store(sequence, kRelease);
  page_->enqueued.store(sequence, kRelaxed);
}

void FlightRecorder::collective_started(std::uint64_t sequence, const char* name,
                                        std::int64_t bytes) noexcept {
  FlightPage::Slot& slot = slot_of(sequence);
  // The caller may be a whole ring ahead: a running collective replaces the queued one in its slot.
  if (slot.sequence.load(kRelaxed) != sequence) {
    set_name(slot, name);
    slot.bytes.store(bytes, kRelaxed);
    slot.finished.store(0, kRelaxed);
  }
  slot.started.store(now(), kRelaxed);
  slot.sequence.store(sequence, kRelease);
  page_->started.store(sequence, kRelaxed);
}

void FlightRecorder::collective_finished(std::uint64_t sequence) noexcept {
  FlightPage::Slot& slot = slot_of(sequence);
  if (slot.sequence.load(kRelaxed) == sequence) slot.finished.store(now(), kRelaxed);
  page_->finished.store(sequence, kRelaxed);
}

void FlightRecorder::failed(const Error& error) noexcept {
  if (page_->claimed.exchange(1, std::memory_order_acquire) != 0) return;
  const PeerFailure& between = error.peer_failure();
  copy_text(page_->error, error.what());
  page_->failure = static_cast<std::uint32_t>(kind_of(error));
  page_->failed = now();
  page_->waited = between.waited.count();
  page_->in_sequence = between.sequence;
  copy_text(page_->in_call, between.call);
  page_->awaited_count = copy_ranks(page_->awaited, between.awaited);
  page_->outcome.store(static_cast<std::uint32_t>(FlightPage::Outcome::kFailed), kRelease);
  if (error.kind() != ErrorKind::kCommunication) return;
  page_->stopped_count.store(copy_ranks(page_->stopped, stopped_ranks(folder_)), kRelease);
}

void FlightRecorder::ends_job() noexcept { page_->ended_job.store(now(), kRelease); }

void FlightRecorder::ended() noexcept {
  if (page_->claimed.exchange(1, std::memory_order_acquire) != 0) return;
  page_->outcome.store(static_cast<std::uint32_t>(FlightPage::Outcome::kEnded), kRelease);
}

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
                      .started = page.started,
                      .finished = page.finished,
                      .collectives = collectives_in(page)};
  if (page.device_place != 0) record.device = place_in(page, page.device_place);
  const auto outcome =
      static_cast<FlightPage::Outcome>(page.outcome.load(std::memory_order_acquire));
  record.ended = outcome == FlightPage::Outcome::kEnded;
  if (outcome == FlightPage::Outcome::kFailed) record.failure = failure_in(page);
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
