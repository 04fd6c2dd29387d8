// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_site.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tests/support/scratch_folder.h"

namespace tandem::cli {
namespace {

using Ints = std::vector<int>;

// The usage error of a call; "" where there is none.
template <class Call>
std::string refusal(Call&& call) {
  const auto error = capture_error([&] { call(); });
  EXPECT_TRUE(!error || error->kind() == ErrorKind::kUsage) << error->what();
  return error ? error->what() : "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string step_name() { return "tandem." + std::to_string(::getpid()); }

results::Cell cell_of(const std::string& launch, int devices) {
  results::Cell cell;
  cell.strategy = launch == "threads" ? "dp" : "ddp";
  cell.launch = launch;
  cell.devices = devices;
  return cell;
}

std::string started_by(const LaunchSite& site, const results::Cell& cell, bool oversubscribe) {
  return fmt::format("{}", fmt::join(launcher_words(site, cell, oversubscribe), " "));
}

LaunchSite slurm(const Ints& slots) {
  return {
      .launcher = LaunchSite::Launcher::kSrun, .hosts = {}, .mpi_plugin = "pmix", .slots = slots};
}

Ints slots_of_hosts(const std::string& hosts) {
  return checked_site({.launcher = "mpirun", .hosts = hosts}).slots;
}

TEST(LaunchSiteTest, Hosts_HaveOneSlotWhereTheySayNone) {
  EXPECT_EQ(slots_of_hosts("node1:2,root@10.0.0.7:16,node3"), (Ints{2, 16, 1}));
}

TEST(LaunchSiteTest, Hosts_ThatCannotBeRead_AreNamed) {
  for (const std::string bad : {"node1:", "node1:x", "node1:0", ":2", "node1:2:3", "a b", "-x:2"}) {
    EXPECT_TRUE(has(refusal([&] { (void)slots_of_hosts("n:1," + bad); }), "'" + bad + "'")) << bad;
  }
}

// An allocation of Slurm, with programs of Slurm's that answer as the test sets them.
class FakeSlurm {
 public:
  explicit FakeSlurm(const std::string& cpus_per_node, const std::string& plugins = "pmix") {
    add("srun", "echo '" + plugins + "'");
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    ::setenv("SLURM_JOB_ID", "7", 1);
    ::setenv("SLURM_JOB_CPUS_PER_NODE", cpus_per_node.c_str(), 1);
  }
  ~FakeSlurm() {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("SLURM_JOB_ID");
    ::unsetenv("SLURM_JOB_CPUS_PER_NODE");
  }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  void add(const std::string& program, const std::string& script) const {
    std::ofstream(folder_ / program) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(folder_ / program, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] static LaunchSite site() { return checked_site({"srun", ""}); }

 private:
  const test::ScratchFolder folder_;
  const std::string path_ = std::getenv("PATH");
};

TEST(LaunchSiteTest, Slurm_CountsCpusByNode) {
  const auto slots = [](const std::string& cpus) {
    const FakeSlurm slurm(cpus);
    return FakeSlurm::site().slots;
  };
  EXPECT_EQ(slots("2(x3),1"), (Ints{2, 2, 2, 1}));
  EXPECT_EQ(slots("4"), (Ints{4}));
  EXPECT_EQ(slots("many"), Ints{});
  EXPECT_EQ(slots("2(xmany)"), Ints{});
}

TEST(LaunchSiteTest, Plugin_IsPmixBeforePmi2) {
  const auto plugin = [](const std::string& list) {
    const FakeSlurm slurm("1", list);
    return FakeSlurm::site().mpi_plugin;
  };
  EXPECT_EQ(plugin("MPI plugin types are...\n\tpmi2\n\tpmix\n"), "pmix");
  EXPECT_EQ(plugin("srun: MPI types are...\nsrun: none\nsrun: pmi2\n"), "pmi2");
  EXPECT_TRUE(has(refusal([&] { (void)plugin("none\ncray_shasta\n"); }), "neither pmix nor"));
}

TEST(LaunchSiteTest, Options_ThatContradictThemselves_AreRefused) {
  const auto refused = [](const SiteOptions& options) {
    return refusal([&] { (void)checked_site(options); });
  };
  EXPECT_TRUE(has(refused({"ssh", ""}), "'ssh' is unknown; known are mpirun, srun"));
  EXPECT_TRUE(has(refused({"srun", "a:1"}), "leave out --hosts"));
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_TRUE(has(refused({"srun", ""}), "no Slurm allocation"));
}

TEST(LaunchSiteTest, Words_OnThisMachine) {
  EXPECT_EQ(started_by({}, cell_of("threads", 2), false), "");
  EXPECT_EQ(started_by({}, cell_of("processes", 2), false),
            "mpirun -np 2 --bind-to none --oversubscribe --mca btl vader,self");
}

TEST(LaunchSiteTest, Words_OnHosts_ThreadsRunOnTheFirst) {
  LaunchSite site;
  site.hosts = "a:2,b:2";
  EXPECT_EQ(started_by(site, cell_of("processes", 4), false),
            "mpirun -np 4 --bind-to none --map-by slot --host a:2,b:2");
  EXPECT_EQ(started_by(site, cell_of("threads", 2), true),
            "mpirun -np 1 --bind-to none --map-by slot --host a:2,b:2 --oversubscribe");
}

TEST(LaunchSiteTest, Words_OfSrun_FillNodesInOrder) {
  EXPECT_EQ(started_by(slurm({2, 2}), cell_of("processes", 3), false),
            "srun --ntasks=3 --nodes=2 --cpus-per-task=1 --distribution=block --cpu-bind=none "
            "--kill-on-bad-exit=1 --job-name=" +
                step_name() + " --mpi=pmix");
  EXPECT_EQ(started_by(slurm({2, 2}), cell_of("threads", 2), true),
            "srun --ntasks=1 --nodes=1 --cpus-per-task=2 --distribution=block --cpu-bind=none "
            "--kill-on-bad-exit=1 --job-name=" +
                step_name() + " --mpi=pmix --overcommit");
}

TEST(LaunchSiteTest, Steps_AreCancelledByTheirNameAlone) {
  const FakeSlurm slurm("1");
  const std::string name = step_name();
  slurm.add("squeue",
            "printf '7.0 bash\\n7.3 " + name + "\\n7.batch batch\\n7.4 " + name + "0\\n'");
  slurm.add("scancel", "echo \"$1\" >> " + (slurm.folder() / "cancelled").string());
  cancel_own_steps();
  std::ifstream cancelled(slurm.folder() / "cancelled");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(cancelled), {}), "7.3\n");
}

TEST(LaunchSiteTest, Text_TellsSitesApart) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of(slurm({2, 2})), "srun on 2 nodes");
  LaunchSite site;
  site.hosts = "a:2";
  EXPECT_EQ(text_of(site), "hosts a:2");
}

TEST(LaunchSiteTest, Program_StartsEveryCell_AndKnowsNoSlots) {
  EXPECT_THROW(checked_site({.launcher = "/usr/bin/mpirun", .hosts = {}}), Error);
  ::setenv("TANDEM_RELAY", "socket", 1);
  const LaunchSite site = checked_site({.launcher = "/opt/relay", .hosts = {}});
  ::unsetenv("TANDEM_RELAY");
  EXPECT_EQ(started_by(site, cell_of("processes", 3), false), "/opt/relay 3");
  EXPECT_EQ(started_by(site, cell_of("threads", 3), false), "/opt/relay 1");
  EXPECT_EQ(text_of(site), "launcher relay");
  EXPECT_FALSE(
      why_too_large({.site = site, .cores = 2, .oversubscribe = false}, cell_of("processes", 9)));
}

TEST(LaunchSiteTest, Limit_IsTheCoresHere_AndTheSlotsElsewhere) {
  const DeviceLimit here{.site = {}, .cores = 2, .oversubscribe = false};
  EXPECT_FALSE(why_too_large(here, cell_of("threads", 2)));
  EXPECT_TRUE(has(*why_too_large(here, cell_of("processes", 3)), "3 devices, but only 2 cores"));
  const DeviceLimit there{.site = slurm({2, 2}), .cores = 1, .oversubscribe = false};
  EXPECT_FALSE(why_too_large(there, cell_of("processes", 4)));
  EXPECT_TRUE(has(*why_too_large(there, cell_of("processes", 5)), "only 4 slots on all nodes"));
  EXPECT_TRUE(has(*why_too_large(there, cell_of("threads", 3)), "only 2 slots on the first node"));
}

TEST(LaunchSiteTest, Limit_IsOffWithOversubscribe_AndWhereSlotsAreNotKnown) {
  EXPECT_FALSE(
      why_too_large({.site = {}, .cores = 2, .oversubscribe = true}, cell_of("processes", 9)));
  LaunchSite site;
  site.launcher = LaunchSite::Launcher::kSrun;
  EXPECT_FALSE(
      why_too_large({.site = site, .cores = 2, .oversubscribe = false}, cell_of("processes", 9)));
}

}  // namespace
}  // namespace tandem::cli
