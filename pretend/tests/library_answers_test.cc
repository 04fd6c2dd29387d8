// SPDX-License-Identifier: Apache-2.0
//
// What the pretended cuBLASLt and cuDNN answer to the queries that lead torch on its way.
#include <array>
#include <set>
#include <string>
#include <vector>

#include "pretend/tests/pretended.h"

namespace tandem::test::pretended {
namespace {

template <typename... Arguments>
int cudnn(const char* name, Arguments... arguments) {
  return call("libcudnn.so.9", name, arguments...);
}

TEST(PretendedProducts, HaveOneAlgorithm) {
  std::vector<char> results(96 * 4, 1);
  int found = 0;
  void* const none = nullptr;
  EXPECT_EQ(call("libcublasLt.so.13", "cublasLtMatmulAlgoGetHeuristic", none, none, none, none,
                 none, none, none, 4, static_cast<void*>(results.data()), &found),
            0);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(results[64], 0) << "no workspace";
}

template <typename... Arguments>
int cublaslt(const char* name, Arguments... arguments) {
  return call("libcublasLt.so.13", name, arguments...);
}

// As a program does that keeps its descriptors in a table of its own.
TEST(PretendedProducts, DescriptorsInOwnStorage_AreCopiedAsBytes) {
  constexpr int kColumns = 3;  // CUBLASLT_MATRIX_LAYOUT_COLS
  std::array<uint64_t, 8> made{};
  EXPECT_EQ(cublaslt("cublasLtMatrixLayoutInit_internal", static_cast<void*>(made.data()),
                     uint64_t{64}, 0, uint64_t{128}, uint64_t{256}, int64_t{128}),
            0);
  std::array<uint64_t, 8> copied = made;
  made = {};
  uint64_t columns = 0;
  uint64_t written = 0;
  EXPECT_EQ(cublaslt("cublasLtMatrixLayoutGetAttribute", static_cast<void*>(copied.data()),
                     kColumns, static_cast<void*>(&columns), uint64_t{8}, &written),
            0);
  EXPECT_EQ(columns, 256U);
  EXPECT_EQ(written, 8U);
}

TEST(PretendedProducts, DescriptorsInOwnStorage_NeedRoom) {
  constexpr int kAllocFailed = 3;  // CUBLAS_STATUS_ALLOC_FAILED
  std::array<uint64_t, 8> storage{};
  EXPECT_EQ(cublaslt("cublasLtMatmulDescInit_internal", static_cast<void*>(storage.data()),
                     uint64_t{8}, 68, 0),
            kAllocFailed);
}

TEST(PretendedProducts, AttributeOfAnotherSize_IsRefused) {
  constexpr int kInvalidValue = 7;  // CUBLAS_STATUS_INVALID_VALUE
  constexpr int kTransposeA = 3;    // CUBLASLT_MATMUL_DESC_TRANSA
  void* operation = nullptr;
  EXPECT_EQ(cublaslt("cublasLtMatmulDescCreate", &operation, 68, 0), 0);
  const int64_t transposed = 1;
  EXPECT_EQ(cublaslt("cublasLtMatmulDescSetAttribute", operation, kTransposeA,
                     static_cast<const void*>(&transposed), uint64_t{8}),
            kInvalidValue);
  EXPECT_EQ(cublaslt("cublasLtMatmulDescDestroy", operation), 0);
}

int set_int(void* descriptor, const char* call, int attribute) {
  const int32_t value = 1;
  return cublaslt(call, descriptor, attribute, static_cast<const void*>(&value), uint64_t{4});
}

TEST(PretendedProducts, AttributesThatAreNotKnown_AreRefusedByNameOnce) {
  constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED
  constexpr int kOrder = 1;          // CUBLASLT_MATRIX_LAYOUT_ORDER
  constexpr int kTransposeC = 5;     // CUBLASLT_MATMUL_DESC_TRANSC
  std::array<void*, 2> made{};
  EXPECT_EQ(
      cublaslt("cublasLtMatrixLayoutCreate", made.data(), 0, uint64_t{2}, uint64_t{3}, int64_t{2}),
      0);
  EXPECT_EQ(cublaslt("cublasLtMatmulDescCreate", &made[1], 68, 0), 0);
  ::testing::internal::CaptureStderr();
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(set_int(made[0], "cublasLtMatrixLayoutSetAttribute", kOrder), kNotSupported);
    EXPECT_EQ(set_int(made[1], "cublasLtMatmulDescSetAttribute", kTransposeC), kNotSupported);
    EXPECT_EQ(set_int(made[1], "cublasLtMatmulDescSetAttribute", 1234), kNotSupported);
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const char* name : {"CUBLASLT_MATRIX_LAYOUT_ORDER", "CUBLASLT_MATMUL_DESC_TRANSC",
                           "attribute 1234 of cublasLtMatmulDescSetAttribute"}) {
    EXPECT_EQ(said.find(name), said.rfind(name)) << said;
    EXPECT_NE(said.find(name), std::string::npos) << said;
  }
}

TEST(PretendedProducts, AttributesThatAreKnown_TellSizeAndValue) {
  constexpr int kEpilogue = 7;  // CUBLASLT_MATMUL_DESC_EPILOGUE
  void* operation = nullptr;
  void* const nothing = nullptr;
  uint64_t written = 0;
  int32_t epilogue = 0;
  EXPECT_EQ(cublaslt("cublasLtMatmulDescCreate", &operation, 68, 0), 0);
  EXPECT_EQ(set_int(operation, "cublasLtMatmulDescSetAttribute", kEpilogue), 0);
  EXPECT_EQ(cublaslt("cublasLtMatmulDescGetAttribute", operation, kEpilogue, nothing, uint64_t{0},
                     &written),
            0);
  EXPECT_EQ(written, 4U);
  EXPECT_EQ(cublaslt("cublasLtMatmulDescGetAttribute", operation, kEpilogue,
                     static_cast<void*>(&epilogue), written, &written),
            0);
  EXPECT_EQ(epilogue, 1);
  EXPECT_EQ(cublaslt("cublasLtMatmulDescDestroy", operation), 0);
}

TEST(PretendedProducts, PartsOfTheVersion_MakeUpTheVersion) {
  std::array<int, 3> parts{};
  for (int part = 0; part < 3; ++part) {
    EXPECT_EQ(cublaslt("cublasLtGetProperty", part, &parts[static_cast<size_t>(part)]), 0);
  }
  const auto version =
      reinterpret_cast<uint64_t (*)()>(::dlsym(library("libcublasLt.so.13"), "cublasLtGetVersion"));
  EXPECT_EQ(static_cast<uint64_t>(parts[0] * 10000 + parts[1] * 100 + parts[2]), version());
}

constexpr int kElementDescriptor = 15;  // CUDNN_TYPE_BACKEND_DESCRIPTOR
constexpr int kElementInt64 = 3;        // CUDNN_TYPE_INT64

void* make_backend(int type) {
  void* made = nullptr;
  EXPECT_EQ(cudnn("cudnnBackendCreateDescriptor", type, &made), 0);
  return made;
}

void set_child(void* descriptor, int attribute, void* child) {
  EXPECT_EQ(cudnn("cudnnBackendSetAttribute", descriptor, attribute, kElementDescriptor, int64_t{1},
                  static_cast<const void*>(&child)),
            0);
}

// The configuration that the heuristic offers for an empty graph.
void* offered_configuration() {
  void* const graph = make_backend(15);
  void* const heuristic = make_backend(4);
  set_child(heuristic, 201, graph);
  EXPECT_EQ(cudnn("cudnnBackendFinalize", heuristic), 0);
  void* configuration = make_backend(3);
  int64_t count = 0;
  EXPECT_EQ(cudnn("cudnnBackendGetAttribute", heuristic, 202, kElementDescriptor, int64_t{8},
                  &count, static_cast<void*>(&configuration)),
            0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudnn("cudnnBackendDestroyDescriptor", heuristic), 0);
  EXPECT_EQ(cudnn("cudnnBackendDestroyDescriptor", graph), 0);
  return configuration;
}

TEST(PretendedGraphs, LeadFromTheHeuristicToAPlanWithoutWorkspace) {
  void* const configuration = offered_configuration();
  void* const plan = make_backend(5);
  set_child(plan, 401, configuration);
  EXPECT_EQ(cudnn("cudnnBackendFinalize", plan), 0);
  int64_t workspace = -1;
  int64_t count = 0;
  EXPECT_EQ(cudnn("cudnnBackendGetAttribute", plan, 402, kElementInt64, int64_t{1}, &count,
                  static_cast<void*>(&workspace)),
            0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(workspace, 0);
}

// torch's attention leaves out a configuration that takes more than a limit, or does not say.
TEST(PretendedGraphs, OfferAConfigurationThatTakesNoSharedMemory) {
  constexpr int kSharedMemory = 304;  // CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED
  constexpr int kElementInt32 = 23;   // CUDNN_TYPE_INT32
  int32_t bytes = -1;
  int64_t count = 0;
  EXPECT_EQ(cudnn("cudnnBackendGetAttribute", offered_configuration(), kSharedMemory, kElementInt32,
                  int64_t{1}, &count, static_cast<void*>(&bytes)),
            0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(bytes, 0);
}

TEST(PretendedGraphs, TellAnAttributeThatWasNeverSetAsNone) {
  int64_t count = -1;
  EXPECT_EQ(cudnn("cudnnBackendGetAttribute", make_backend(2), 1303, 11, int64_t{4}, &count,
                  static_cast<void*>(nullptr)),
            0);
  EXPECT_EQ(count, 0);
}

struct Recurrent {
  void* layers = nullptr;
  uint64_t bytes = 0;
};

// Two layers in both directions, an LSTM of 3 inputs and 5 hidden values, in floats.
Recurrent make_recurrent() {
  Recurrent made;
  EXPECT_EQ(cudnn("cudnnCreateRNNDescriptor", &made.layers), 0);
  EXPECT_EQ(cudnn("cudnnSetRNNDescriptor_v8", made.layers, 0, 2, 2, 1, 0, 0, 0, 0, 3, 5, 5, 2,
                  static_cast<void*>(nullptr), 0U),
            0);
  EXPECT_EQ(
      cudnn("cudnnGetRNNWeightSpaceSize", static_cast<void*>(nullptr), made.layers, &made.bytes),
      0);
  return made;
}

// Where each part of the weights begins: eight matrices and eight biases of each pseudo-layer.
std::set<uint64_t> part_offsets(const Recurrent& recurrent, uint64_t& elements) {
  std::set<uint64_t> offsets;
  static char space[1 << 16];
  void* tensors[2] = {};
  for (void*& tensor : tensors) EXPECT_EQ(cudnn("cudnnCreateTensorDescriptor", &tensor), 0);
  for (int part = 0; part < 4 * 8; ++part) {
    void* at[2] = {};
    EXPECT_EQ(
        cudnn("cudnnGetRNNWeightParams", static_cast<void*>(nullptr), recurrent.layers, part / 8,
              recurrent.bytes, &space[0], part % 8, tensors[0], &at[0], tensors[1], &at[1]),
        0);
    for (int kind = 0; kind < 2; ++kind) {
      int type = 0;
      int count = 0;
      int shape[3] = {};
      int strides[3] = {};
      EXPECT_EQ(cudnn("cudnnGetTensorNdDescriptor", tensors[kind], 3, &type, &count, &shape[0],
                      &strides[0]),
                0);
      EXPECT_EQ(count, 3);
      elements += static_cast<uint64_t>(shape[0]) * static_cast<uint64_t>(shape[1] * shape[2]);
      offsets.insert(static_cast<uint64_t>(static_cast<char*>(at[kind]) - space));
    }
  }
  return offsets;
}

TEST(PretendedRecurrentLayers, DivideTheWeightSpaceWithoutGapOrOverlap) {
  const Recurrent recurrent = make_recurrent();
  uint64_t elements = 0;
  const std::set<uint64_t> offsets = part_offsets(recurrent, elements);
  // Per direction: 4 gates of 5x3 and 5x5 in the first layer, of 5x10 and 5x5 in the second.
  const uint64_t expected = 2 * (4 * (15 + 25) + 4 * (50 + 25)) + 4 * 8 * 5;
  EXPECT_EQ(recurrent.bytes, expected * 4);
  EXPECT_EQ(elements, expected);
  EXPECT_EQ(offsets.size(), 64U);
  EXPECT_EQ(*offsets.begin(), 0U);
  EXPECT_EQ(*offsets.rbegin(), (expected - 5) * 4);
}

TEST(PretendedRecurrentLayers, LeaveOutWhatTheCallerDoesNotAskFor) {
  const Recurrent recurrent = make_recurrent();
  static char space[1 << 12];
  void* address = nullptr;
  void* const none = nullptr;
  EXPECT_EQ(cudnn("cudnnGetRNNWeightParams", none, recurrent.layers, 0, recurrent.bytes, &space[0],
                  1, none, &address, none, static_cast<void**>(nullptr)),
            0);
  EXPECT_EQ(static_cast<char*>(address) - space, 5 * 3 * 4);
}

}  // namespace
}  // namespace tandem::test::pretended
