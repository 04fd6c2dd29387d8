// SPDX-License-Identifier: Apache-2.0
#include "pretend/cublaslt/descriptors.h"

#include <cstring>
#include <new>

using namespace tandem::pretend;

namespace {

constexpr int kInvalidValue = 7;   // CUBLAS_STATUS_INVALID_VALUE
constexpr int kAllocFailed = 3;    // CUBLAS_STATUS_ALLOC_FAILED
constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED

// Where a descriptor keeps an attribute; nowhere if it drops it.
struct Place {
  void* address = nullptr;
  uint64_t bytes = 0;
};

template <typename Value>
Place at(Value& value) {
  return {&value, sizeof value};
}

// By cublasLtMatmulDescAttributes_t.
Place place_of(Operation& operation, int attribute) {
  switch (attribute) {
    case 0:
      return at(operation.compute_type);
    case 1:
      return at(operation.scale_type);
    case 3:
      return at(operation.a);
    case 4:
      return at(operation.b);
    default:
      return {};
  }
}

// By cublasLtMatrixLayoutAttribute_t.
Place place_of(Layout& layout, int attribute) {
  switch (attribute) {
    case 0:
      return at(layout.type);
    case 2:
      return at(layout.rows);
    case 3:
      return at(layout.columns);
    case 4:
      return at(layout.leading);
    case 5:
      return at(layout.batch);
    default:
      return {};
  }
}

template <typename Descriptor>
int set(Descriptor* to, int attribute, const void* value, uint64_t bytes) {
  const Place place = place_of(*to, attribute);
  if (place.address == nullptr) {
    return 0;
  }
  if (value == nullptr || bytes != place.bytes) {
    return kInvalidValue;
  }
  std::memcpy(place.address, value, bytes);
  return 0;
}

template <typename Descriptor>
int get(Descriptor* of, int attribute, void* value, uint64_t bytes, uint64_t* written) {
  const Place place = place_of(*of, attribute);
  if (place.address == nullptr) {
    return kNotSupported;
  }
  if (written != nullptr) {
    *written = place.bytes;
  }
  if (value == nullptr || bytes < place.bytes) {
    return kInvalidValue;
  }
  std::memcpy(value, place.address, place.bytes);
  return 0;
}

// In storage that the caller brings.
template <typename Descriptor>
int put(void* storage, uint64_t bytes, const Descriptor& descriptor) {
  if (bytes < sizeof descriptor) {
    return kAllocFailed;
  }
  new (storage) Descriptor(descriptor);
  return 0;
}

template <typename Descriptor>
int make(Descriptor** made, const Descriptor& descriptor) {
  *made = new Descriptor(descriptor);
  return 0;
}

template <typename Descriptor>
int destroy(Descriptor* made) {
  delete made;
  return 0;
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
  return put(storage, bytes, Operation{.compute_type = compute_type, .scale_type = scale_type});
}

int cublasLtMatmulDescDestroy(Operation* made) { return destroy(made); }

int cublasLtMatmulDescSetAttribute(Operation* to, int attribute, const void* value,
                                   uint64_t bytes) {
  return set(to, attribute, value, bytes);
}

int cublasLtMatmulDescGetAttribute(Operation* of, int attribute, void* value, uint64_t bytes,
                                   uint64_t* written) {
  return get(of, attribute, value, bytes, written);
}

int cublasLtMatrixLayoutCreate(Layout** made, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  return make(made, layout_of(type, rows, columns, leading));
}

int cublasLtMatrixLayoutInit_internal(void* storage, uint64_t bytes, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading) {
  return put(storage, bytes, layout_of(type, rows, columns, leading));
}

int cublasLtMatrixLayoutDestroy(Layout* made) { return destroy(made); }

int cublasLtMatrixLayoutSetAttribute(Layout* to, int attribute, const void* value, uint64_t bytes) {
  return set(to, attribute, value, bytes);
}

int cublasLtMatrixLayoutGetAttribute(Layout* of, int attribute, void* value, uint64_t bytes,
                                     uint64_t* written) {
  return get(of, attribute, value, bytes, written);
}

int cublasLtMatmulPreferenceCreate(Preference** made) { return make(made, {}); }

int cublasLtMatmulPreferenceInit_internal(void* storage, uint64_t bytes) {
  return put(storage, bytes, Preference{});
}

int cublasLtMatmulPreferenceDestroy(Preference* made) { return destroy(made); }

// The one algorithm that there is fits every preference.
int cublasLtMatmulPreferenceSetAttribute(Preference*, int, const void*, uint64_t) { return 0; }
}
