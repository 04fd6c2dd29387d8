// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/collective_costs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "bench/calibrate/size_times.h"
#include "bench/step/measured_peak.h"
#include "common/comm/transports/transport_registry.h"
#include "common/runtime/copy.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr int kCollectiveRows = 9;
constexpr Bytes kSmallestCollective = kib(1);
constexpr Bytes kLargestCollective = mib(16);
constexpr std::int64_t kCollectiveStep = 4;
constexpr Bytes kRowOfCollectives = mib(16);

constexpr std::int64_t kProductSize = 1024;
constexpr int kContentionPairs = 9;
constexpr Seconds kProductRow{0.02};  // long beside a collective

// One rank's calls of a collective of one size; the median seconds of one call.
template <class Enqueue>
double time_calls(Device& device, Stream& stream, Bytes size, const Enqueue& enqueue) {
  const auto calls =
      static_cast<int>(std::clamp<std::int64_t>(kRowOfCollectives.value / size.value, 4, 64));
  EventPair row(device);
  std::vector<double> seconds;
  for (int i = 0; i <= kCollectiveRows; ++i) {
    row.around(stream, [&] {
      for (int call = 0; call < calls; ++call) enqueue();
    });
    stream.synchronize();
    if (i > 0) seconds.push_back(Seconds(row.time()).count() / calls);
  }
  return stats::median(seconds);
}

// The collectives of one rank, which calls what all ranks call.
std::vector<MeasuredCollective> collectives_of(Bootstrap& bootstrap, Device& device) {
  const auto ranks = make_communicator(Transport::kAuto, bootstrap, device);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  std::vector<MeasuredCollective> all;
  for (Bytes size = kSmallestCollective; size <= kLargestCollective;
       size = size * kCollectiveStep) {
    const auto buffer = ranks->allocate(size);
    const Span<float> values = buffer->as<float>();
    enqueue_zero(*stream, values);
    const auto add = [&](const char* name, const auto& enqueue) {
      all.push_back({name, ranks->size(), size.value, time_calls(device, *stream, size, enqueue)});
    };
    add("all_reduce", [&] { ranks->all_reduce(*stream, values, ReduceOp::kSum); });
    add("broadcast", [&] { ranks->broadcast(*stream, values, 0); });
    stream->synchronize();
    ranks->barrier();  // nobody frees what others still read
  }
  return all;
}

// One rank that multiplies, alone and while all ranks reduce on other streams.
class ProductsBesideAllReduces {
 public:
  ProductsBesideAllReduces(Bootstrap& bootstrap, Device& device, Precision precision)
      : ranks_(make_communicator(Transport::kAuto, bootstrap, device)),
        compute_(device.make_stream(StreamPriority::kNormal)),
        communication_(device.make_stream(StreamPriority::kHigh)),
        operations_(make_operations(device, precision)),
        product_(device, *operations_, *compute_, storage_of(precision), kProductSize),
        buffer_(ranks_->allocate(kLargestCollective)),
        products_row_(device),
        reduces_row_(device) {
    enqueue_zero(*communication_, buffer_->as<float>());
    communication_->synchronize();
    static_cast<void>(seconds_of_products());  // the first launches
    products_ =
        most_of_all(static_cast<int>(std::ceil(kProductRow.count() / seconds_of_products())));
    static_cast<void>(seconds_of_reduce());
    reduces_ = most_of_all(
        static_cast<int>(std::ceil(2 * seconds_of_products() / seconds_of_reduce())) + 1);
  }

  // The share by which a row of products takes longer beside all-reduces: the median of pairs. An
  // all-reduce that ends first leaves the rest of the row alone, so twice the row's time is
  // reduced.
  [[nodiscard]] double share() {
    std::vector<double> shares;
    for (int pair = 0; pair < kContentionPairs; ++pair) {
      ranks_->barrier();
      const double alone = seconds_of_products();
      ranks_->barrier();
      enqueue_reduces();
      shares.push_back(seconds_of_products() / alone - 1);
      communication_->synchronize();
    }
    ranks_->barrier();  // nobody frees what others still read
    return stats::median(shares);
  }

 private:
  // Ranks call the same number of collectives.
  int most_of_all(int mine) {
    int most = mine;
    for (const std::string& text : ranks_->all_gather(std::to_string(mine))) {
      most = std::max(most, std::stoi(text));
    }
    return most;
  }

  double seconds_of_products() {
    products_row_.around(*compute_, [this] {
      for (int i = 0; i < products_; ++i) product_.enqueue();
    });
    compute_->synchronize();
    return std::max(1e-9, Seconds(products_row_.time()).count());
  }

  void enqueue_reduces() {
    for (int i = 0; i < reduces_; ++i) {
      ranks_->all_reduce(*communication_, buffer_->as<float>(), ReduceOp::kSum);
    }
  }

  double seconds_of_reduce() {
    reduces_row_.around(*communication_, [this] { enqueue_reduces(); });
    communication_->synchronize();
    return std::max(1e-9, Seconds(reduces_row_.time()).count());
  }

  const std::unique_ptr<Communicator> ranks_;
  const std::unique_ptr<Stream> compute_;
  const std::unique_ptr<Stream> communication_;
  const std::unique_ptr<Operations> operations_;
  SquareProduct product_;
  const std::unique_ptr<Buffer> buffer_;
  EventPair products_row_;
  EventPair reduces_row_;
  int products_ = 1;  // of a row
  int reduces_ = 1;
};

}  // namespace

std::vector<MeasuredCollective> time_collectives(Platform& platform) {
  return on_each_device(platform, collectives_of).front();
}

double measure_contention_share(Platform& platform, Precision precision) {
  const std::vector<double> shares =
      on_each_device(platform, [precision](Bootstrap& ranks, Device& device) {
        return ProductsBesideAllReduces(ranks, device, precision).share();
      });
  return std::max(0.0, *std::ranges::max_element(shares));
}

}  // namespace tandem::bench
