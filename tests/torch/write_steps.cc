// SPDX-License-Identifier: Apache-2.0
//
// write_steps STEP_BENCH-OPTION... --record=FILE: some training steps of a strategy of processes or
// of one device, as rank 0 sees them, for comparison with another implementation. FILE begins with
// one line, "steps NUMBER" and then NAME COUNT of each parameter; floats follow: of each step all
// weights that it begins with, the loss of the rank's own share, and all gradients that the
// optimizer saw; then the weights after the last step.
#include <fstream>
#include <string>
#include <vector>

#include "bench/driver/ranks_main.h"
#include "bench/job/job.h"
#include "bench/step/step_command.h"
#include "bench/step/step_options.h"
#include "bench/step/strategy_factory.h"
#include "bench/step/workload_source.h"
#include "common/model/tensor_values.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/runtime/copy.h"

namespace tandem::bench {
namespace {

constexpr int kSteps = 3;

class File {
 public:
  File(const std::string& path, const Model& model) : file_(path, std::ios::binary) {
    file_ << "steps " << kSteps;
    for (const ParameterLayout::Segment& segment : model.layout().segments()) {
      file_ << ' ' << segment.name << ' ' << segment.count;
    }
    file_ << '\n';
  }

  void add(const std::vector<float>& values) {
    file_.write(reinterpret_cast<const char*>(values.data()),
                static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  void add(const TensorValues& tensors) {
    for (const std::vector<float>& values : tensors) add(values);
  }
  void close() {
    file_.close();
    if (!file_) fail(ErrorKind::kFailure, "writing steps: the file could not be written");
  }

 private:
  std::ofstream file_;
};

// The loss of this rank's share, by the same replica that strategies train.
class OwnLoss {
 public:
  OwnLoss(Job& job, const StepOptions& options, const Model& model)
      : piece_(shards_of(options).at(static_cast<std::size_t>(job.communicator->rank()))),
        batch_(*job.platform, *job.device, model, piece_, options.variant.training),
        loss_(job.device->allocate(bytes_of<float>(1))),
        replica_(*job.device, model, piece_.count, options.variant.training) {}

  std::vector<float> at(const TensorList& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      enqueue_copy(replica_.stream(), replica_.parameters().tensors[i],
                   Span<const float>(weights[i]));
    }
    batch_.load(replica_, interpreter_);
    replica_.forward(batch_.inputs(), interpreter_);
    replica_.compute_loss(batch_.targets(), loss_->as<float>(), interpreter_);
    replica_.stream().synchronize();
    return read_back<float>(replica_.device(), loss_->as<float>());
  }

 private:
  const Shard piece_;
  Interpreter interpreter_{DispatchCosts{}};
  LocalBatch batch_;
  const std::unique_ptr<Buffer> loss_;
  Replica replica_;
};

int write(const StepCommand& command, Bootstrap& bootstrap) {
  const StepOptions& options = command.step;
  Job job = open_job(bootstrap, options.job);
  const auto model = make_model_for(options);
  const auto strategy = make_strategy_together(bootstrap, job, *model, options.variant);
  OwnLoss loss(job, options, *model);
  const bool writes = bootstrap.rank() == 0;
  File file(writes ? command.sampling.record_file : "/dev/null", *model);
  for (int step = 0; step < kSteps; ++step) {
    file.add(values_of(*job.platform, strategy->weights()));
    file.add(loss.at(strategy->weights()));
    strategy->step();
    strategy->synchronize();
    file.add(values_of(*job.platform, strategy->gradients()));
  }
  file.add(values_of(*job.platform, strategy->weights()));
  file.close();
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  const auto command = parse_step_command(argc, argv);
  if (!command) return 0;
  return run_ranks_main({.program = "write_steps"}, argc, argv,
                        [&](tandem::Bootstrap& bootstrap) { return write(*command, bootstrap); });
}
