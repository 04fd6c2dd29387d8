// SPDX-License-Identifier: Apache-2.0
#include "pretend/cublaslt/descriptors.h"

#include <cstring>
#include <new>
#include <string>

#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/cublaslt/attributes.h"

using namespace tandem::pretend;

namespace {

constexpr int kInvalidValue = 7;   // CUBLAS_STATUS_INVALID_VALUE
constexpr int kAllocFailed = 3;    // CUBLAS_STATUS_ALLOC_FAILED
constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED

// Where a descriptor keeps the attribute. Another attribute is refused by its name, once.
template <typename Descriptor>
KeptValue value_of(const char* call, Descriptor* descriptor, int number) {
  const Attribute<Descriptor>* const attribute = attribute_of(descriptor, number);
  if (attribute == nullptr) {
    refuse(TANDEM_PRETEND_LIBRARY, ("attribute " + std::to_string(number) + " of " + call).c_str());
    return {};
  }
  if (attribute->value == nullptr) {
    refuse(TANDEM_PRETEND_LIBRARY, attribute->name);
    return {};
  }
  return attribute->value(*descriptor);
}

template <typename Descriptor>
int set(const char* call, Descriptor* to, int attribute, const void* value, uint64_t bytes) {
  const KeptValue kept = value_of(call, to, attribute);
  if (kept.address == nullptr) return kNotSupported;
  if (value == nullptr || bytes != kept.bytes) return kInvalidValue;
  std::memcpy(kept.address, value, bytes);
  return 0;
}

// With no bytes the caller asks for the size alone.
template <typename Descriptor>
int get(const char* call, Descriptor* of, int attribute, void* value, uint64_t bytes,
        uint64_t* written) {
  const KeptValue kept = value_of(call, of, attribute);
  if (kept.address == nullptr) return kNotSupported;
  const bool is_question = bytes == 0;
  if (is_question ? written == nullptr : value == nullptr || bytes != kept.bytes) {
    return kInvalidValue;
  }
  if (written != nullptr) *written = kept.bytes;
  if (!is_question) std::memcpy(value, kept.address, bytes);
  return 0;
}

// In storage that the caller brings.
template <typename Descriptor>
int place(void* storage, uint64_t bytes, const Descriptor& descriptor) {
  if (bytes < sizeof descriptor) return kAllocFailed;
  new (storage) Descriptor(descriptor);
  return 0;
}

template <typename Descriptor>
int make(Descriptor** made, const Descriptor& descriptor) {
  return put(made, new Descriptor(descriptor));
}

Layout layout_of(int type, uint64_t rows, uint64_t columns, int64_t leading) {
  return {.type = type, .rows = rows, .columns = columns, .leading = leading};
}

}  // namespace

extern "C" {

int cublasLtMatmulDescCreate(Operation** made, int compute_type, int scale_type) {
  return make(made, {.compute_type = compute_type, .scale_type = scale_type});
}

int cublasLtMatmulDescInit_internal(void* storage, uint64_t bytes, int compute_type,
                                    int scale_type) {
  return place(storage, bytes, Operation{.compute_type = compute_type, .scale_type = scale_type});
}

int cublasLtMatmulDescDestroy(Operation* made) { return destroy(made); }

int cublasLtMatmulDescSetAttribute(Operation* to, int attribute, const void* value,
                                   uint64_t bytes) {
  return set(__func__, to, attribute, value, bytes);
}

int cublasLtMatmulDescGetAttribute(Operation* of, int attribute, void* value, uint64_t bytes,
                                   uint64_t* written) {
  return get(__func__, of, attribute, value, bytes, written);
}

int cublasLtMatrixLayoutCreate(Layout** made, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  return make(made, layout_of(type, rows, columns, leading));
}

int cublasLtMatrixLayoutInit_internal(void* storage, uint64_t bytes, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading) {
  return place(storage, bytes, layout_of(type, rows, columns, leading));
}

int cublasLtMatrixLayoutDestroy(Layout* made) { return destroy(made); }

int cublasLtMatrixLayoutSetAttribute(Layout* to, int attribute, const void* value, uint64_t bytes) {
  return set(__func__, to, attribute, value, bytes);
}

int cublasLtMatrixLayoutGetAttribute(Layout* of, int attribute, void* value, uint64_t bytes,
                                     uint64_t* written) {
  return get(__func__, of, attribute, value, bytes, written);
}

int cublasLtMatmulPreferenceCreate(Preference** made) { return make(made, {}); }

int cublasLtMatmulPreferenceInit_internal(void* storage, uint64_t bytes) {
  return place(storage, bytes, Preference{});
}

int cublasLtMatmulPreferenceDestroy(Preference* made) { return destroy(made); }

int cublasLtMatmulPreferenceSetAttribute(Preference* to, int attribute, const void* value,
                                         uint64_t bytes) {
  return set(__func__, to, attribute, value, bytes);
}

int cublasLtMatmulPreferenceGetAttribute(Preference* of, int attribute, void* value, uint64_t bytes,
                                         uint64_t* written) {
  return get(__func__, of, attribute, value, bytes, written);
}
}
