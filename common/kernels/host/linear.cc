// SPDX-License-Identifier: Apache-2.0
//
// Weights stay in the plain (out, in) layout that the arena, the optimizer and the collectives see.
// The fastest of oneDNN's formulations on that layout were, measured alone:
// forward as a matrix product with the weight read as its transpose (bias and ReLU fused), backward
// as inner product (which also computes the bias gradient). Blocked weight layouts gain forward
// only.
#include "common/kernels/host/linear.h"

#include <compare>
#include <unordered_map>
#include <utility>

#include "common/kernels/host/primitive_cache.h"
#include "common/kernels/operations.h"

namespace tandem::host {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

memory::desc matrix(DType type, std::int64_t rows, std::int64_t columns, Tag tag = Tag::ab) {
  return {{rows, columns}, library_type(type), tag};
}
memory::desc vector(DType type, std::int64_t size) { return {{size}, library_type(type), Tag::a}; }

enum class Product { kForward, kBackwardInput, kBackwardWeight };
enum class Bias { kNone, kPresent };

struct ProductKey {
  Product product = Product::kForward;
  LinearShape shape;
  DType type = DType::kFloat32;  // type of all operands but the gradients of parameters
  Activation activation = Activation::kNone;
  Bias bias = Bias::kNone;
  std::int64_t padding = 0;  // behind rows of dy

  auto operator<=>(const ProductKey&) const = default;
};

std::string to_string(const ProductKey& key) {
  const LinearShape& s = key.shape;
  const char* name = key.product == Product::kForward         ? "linear_forward"
                     : key.product == Product::kBackwardInput ? "linear_backward_input"
                                                              : "linear_backward_weight";
  return fmt::format("{} of {} x {} -> {} in {}", name, s.batch, s.in, s.out, name_of(key.type));
}

struct Operand {
  int argument;
  void* address;
};

// A primitive and its memory objects, whose pointers each execution sets.
class PreparedProduct {
 public:
  PreparedProduct(const dnnl::engine& engine, const ProductKey& key);
  PreparedProduct(dnnl::primitive primitive, Arguments arguments, Bytes scratch)
      : primitive_(std::move(primitive)), arguments_(std::move(arguments)), scratch_(scratch) {}

  [[nodiscard]] Bytes scratch() const { return scratch_; }

  template <std::size_t count>
  void execute(const dnnl::stream& stream, const std::array<Operand, count>& operands,
               std::byte* scratch) {
    for (const Operand& operand : operands) {
      if (operand.address == nullptr) continue;  // no bias
      arguments_.at(operand.argument).set_data_handle(operand.address);
    }
    arguments_.at(DNNL_ARG_SCRATCHPAD).set_data_handle(scratch);
    primitive_.execute(stream, arguments_);
  }

 private:
  dnnl::primitive primitive_;
  Arguments arguments_;
  Bytes scratch_;
};

template <class Description>
PreparedProduct finish(const dnnl::engine& engine, const Description& description,
                       dnnl::primitive primitive,
                       std::initializer_list<std::pair<int, memory::desc>> operands) {
  Arguments arguments;
  for (const auto& [argument, desc] : operands) {
    if (desc.is_zero()) continue;  // oneDNN refuses arguments that it did not ask for
    arguments.emplace(argument, memory(desc, engine, nullptr));
  }
  const memory::desc scratch = description.scratchpad_desc();
  arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(scratch, engine, nullptr));
  return {std::move(primitive), std::move(arguments),
          Bytes{static_cast<std::int64_t>(scratch.get_size())}};
}

// The description where the bias is present, else an empty one.
memory::desc present(const ProductKey& key, const memory::desc& desc) {
  return key.bias == Bias::kPresent ? desc : memory::desc();
}

PreparedProduct make_forward(const dnnl::engine& engine, const ProductKey& key) {
  const LinearShape& s = key.shape;
  const memory::desc x = matrix(key.type, s.batch, s.in);
  const memory::desc weight_transposed = matrix(key.type, s.in, s.out, Tag::ba);
  const memory::desc bias = present(key, matrix(key.type, 1, s.out));
  const memory::desc y = matrix(key.type, s.batch, s.out);
  dnnl::primitive_attr attributes = library_attributes();
  if (key.activation == Activation::kRelu) append_relu(attributes);
  const auto description =
      describe_forward<dnnl::matmul>(engine, attributes, x, weight_transposed, bias, y);
  return finish(engine, description, dnnl::matmul(description),
                {{DNNL_ARG_SRC, x},
                 {DNNL_ARG_WEIGHTS, weight_transposed},
                 {DNNL_ARG_BIAS, bias},
                 {DNNL_ARG_DST, y}});
}

dnnl::inner_product_forward::primitive_desc forward_description(const dnnl::engine& engine,
                                                                const ProductKey& key) {
  const LinearShape& s = key.shape;
  return describe_forward<dnnl::inner_product_forward>(
      engine, library_attributes(), dnnl::prop_kind::forward_training,
      matrix(key.type, s.batch, s.in), matrix(key.type, s.out, s.in), vector(key.type, s.out),
      matrix(key.type, s.batch, s.out));
}

PreparedProduct make_backward_input(const dnnl::engine& engine, const ProductKey& key) {
  const LinearShape& s = key.shape;
  const memory::desc dx = matrix(key.type, s.batch, s.in);
  const memory::desc weight = matrix(key.type, s.out, s.in);
  const memory::desc dy = matrix(key.type, s.batch, s.out);
  using Primitive = dnnl::inner_product_backward_data;
  const auto description =
      describe_backward<Primitive>(engine, forward_description(engine, key), dx, weight, dy);
  return finish(engine, description, Primitive(description),
                {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, dx}});
}

PreparedProduct make_backward_weight(const dnnl::engine& engine, const ProductKey& key) {
  const LinearShape& s = key.shape;
  const memory::desc x = matrix(key.type, s.batch, s.in);
  const memory::desc dweight = matrix(DType::kFloat32, s.out, s.in);
  const memory::desc dbias = present(key, vector(DType::kFloat32, s.out));
  const memory::dims strides{s.out + key.padding, 1};
  const memory::desc dy({s.batch, s.out}, library_type(key.type), strides);
  using Primitive = dnnl::inner_product_backward_weights;
  const auto description =
      describe_backward<Primitive>(engine, forward_description(engine, key), x, dweight, dbias, dy);
  return finish(engine, description, Primitive(description),
                {{DNNL_ARG_SRC, x},
                 {DNNL_ARG_DIFF_DST, dy},
                 {DNNL_ARG_DIFF_WEIGHTS, dweight},
                 {DNNL_ARG_DIFF_BIAS, dbias}});
}

PreparedProduct make(const dnnl::engine& engine, const ProductKey& key) {
  switch (key.product) {
    case Product::kForward:
      return make_forward(engine, key);
    case Product::kBackwardInput:
      return make_backward_input(engine, key);
    case Product::kBackwardWeight:
      return make_backward_weight(engine, key);
  }
  fail(ErrorKind::kLogic, "no such product");
}

PreparedProduct::PreparedProduct(const dnnl::engine& engine, const ProductKey& key)
    : PreparedProduct(make(engine, key)) {}

Bias bias_of(ConstAnySpan bias) { return bias.empty() ? Bias::kNone : Bias::kPresent; }

}  // namespace

class LinearProducts::Library : public PrimitiveCache<ProductKey, PreparedProduct> {
  using PrimitiveCache::PrimitiveCache;
};

LinearProducts::LinearProducts(Scratch& scratch) : library_(std::make_unique<Library>(scratch)) {}
LinearProducts::~LinearProducts() = default;

// GELU and its gradient are separate loops, after a product whose result is kept.
PreparedWork LinearProducts::prepare(const LinearForward& op) {
  const bool is_gelu = op.activation == Activation::kGelu;
  const Activation fused = is_gelu ? Activation::kNone : op.activation;
  const AnySpan result = is_gelu ? op.before : op.y;
  PreparedWork work =
      library_->work(ProductKey{Product::kForward, op.shape, op.x.dtype(), fused, bias_of(op.bias)},
                     std::array{Operand{DNNL_ARG_SRC, library_address(op.x)},
                                Operand{DNNL_ARG_WEIGHTS, library_address(op.weight)},
                                Operand{DNNL_ARG_BIAS, library_address(op.bias)},
                                Operand{DNNL_ARG_DST, result.data()}});
  if (!is_gelu) return work;
  return {work.scratch, [product = std::move(work.body), op] {
            product();
            gelu(op.before, op.y);
          }};
}

PreparedWork LinearProducts::prepare(const LinearBackwardInput& op) {
  PreparedWork work =
      library_->work(ProductKey{Product::kBackwardInput, op.shape, op.dy.dtype()},
                     std::array{Operand{DNNL_ARG_DIFF_DST, library_address(op.dy)},
                                Operand{DNNL_ARG_WEIGHTS, library_address(op.weight)},
                                Operand{DNNL_ARG_DIFF_SRC, op.dx.data()}});
  if (op.before.empty()) return work;
  return {work.scratch, [product = std::move(work.body), op] {
            product();
            gelu_backward(op.before, op.dx);
          }};
}

PreparedWork LinearProducts::prepare(const LinearBackwardWeight& op) {
  return library_->work(ProductKey{Product::kBackwardWeight, op.shape, op.x.dtype(),
                                   Activation::kNone, bias_of(op.dbias), op.padding},
                        std::array{Operand{DNNL_ARG_SRC, library_address(op.x)},
                                   Operand{DNNL_ARG_DIFF_DST, library_address(op.dy)},
                                   Operand{DNNL_ARG_DIFF_WEIGHTS, op.dweight.data()},
                                   Operand{DNNL_ARG_DIFF_BIAS, data_or_null(op.dbias)}});
}

std::int64_t LinearProducts::count() const { return library_->count(); }

}  // namespace tandem::host
