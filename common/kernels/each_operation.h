// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/kernels/operations.h"

namespace tandem {

// Operations that are all passed to one template of `Derived`, with a literal name, such as
// "linear_forward" for LinearForward:
//   template <class Op> void take(Stream& stream, const Op& op, const char* name);
template <class Derived>
class EachOperation : public Operations {
 public:
#define TANDEM_TAKE(Op, name)                             \
  void enqueue(Stream& stream, const Op& op) final {      \
    static_cast<Derived*>(this)->take(stream, op, #name); \
  }
  TANDEM_EACH_OPERATION(TANDEM_TAKE)
#undef TANDEM_TAKE
};

// Operations that are each handed on in the end to other operations, which outlive this object:
// take() calls operations().enqueue(stream, op).
template <class Derived>
class EachOperationHandedOn : public EachOperation<Derived> {
 public:
  explicit EachOperationHandedOn(Operations& operations) : operations_(operations) {}

  [[nodiscard]] std::map<std::string, std::string> implementations() const final {
    return operations_.implementations();
  }

 protected:
  [[nodiscard]] Operations& operations() { return operations_; }

 private:
  Operations& operations_;
};

// The parameter of an operation's layer, the parameter's copy or its gradient; null where the
// operation belongs to no layer, as an optimizer's update does.
template <class Op>
[[nodiscard]] const void* parameter_of(const Op& op) {
  if constexpr (requires { op.dweight; }) {
    return op.dweight.data();
  } else if constexpr (requires { op.dtokens; }) {
    return op.dtokens.data();
  } else if constexpr (requires { op.tokens; }) {
    return op.tokens.data();
  } else if constexpr (requires { op.shape, op.weight; }) {
    return op.weight.data();
  } else if constexpr (requires { op.shape, op.gain; }) {
    return op.gain.data();
  } else {
    return nullptr;
  }
}

}  // namespace tandem
