// SPDX-License-Identifier: Apache-2.0
//
// A function of any type in a fixed room. std::function allocates for all but the smallest
// functions, which shows where work is queued some hundred nanoseconds apart.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tandem {

template <class Signature, std::size_t kRoom>
class InlineFunction;

// Holds a function of at most `kRoom` bytes in place, and a larger one on the heap. Moved, never
// copied. Calling an empty one is undefined.
template <class Result, class... Arguments, std::size_t kRoom>
class InlineFunction<Result(Arguments...), kRoom> {
 public:
  InlineFunction() = default;

  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, InlineFunction>)
      InlineFunction(Function&& function) {  // NOLINT: converts, as std::function does
    emplace(std::forward<Function>(function));
  }

  InlineFunction(InlineFunction&& other) noexcept { take(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this == &other) return *this;
    reset();
    take(other);
    return *this;
  }
  ~InlineFunction() { reset(); }

  explicit operator bool() const { return actions_ != nullptr; }

  Result operator()(Arguments... arguments) {
    return actions_->call(room(), std::forward<Arguments>(arguments)...);
  }

  // Holds `function` from now on, constructed in its place.
  template <class Function>
  void emplace(Function&& function) {
    using Kept = Held<std::decay_t<Function>>;
    reset();
    ::new (room()) Kept(std::forward<Function>(function));
    actions_ = &kActionsOf<Kept>;
  }

  // Destroys the function and its captures.
  void reset() noexcept {
    if (actions_ != nullptr) std::exchange(actions_, nullptr)->destroy(room());
  }

 private:
  struct Actions {
    Result (*call)(void* held, Arguments&&... arguments);
    void (*move)(void* from, void* to) noexcept;  // leaves nothing at `from`
    void (*destroy)(void* held) noexcept;
  };

  template <class Function>
  class OnHeap {
   public:
    template <class From>
    explicit OnHeap(From&& from)
        : function_(std::make_unique<Function>(std::forward<From>(from))) {}
    Result operator()(Arguments... arguments) {
      return (*function_)(std::forward<Arguments>(arguments)...);
    }

   private:
    std::unique_ptr<Function> function_;
  };

  template <class Function>
  static constexpr bool kFits = sizeof(Function) <= kRoom &&
                                alignof(Function) <= alignof(std::max_align_t) &&
                                std::is_nothrow_move_constructible_v<Function>;
  template <class Function>
  using Held = std::conditional_t<kFits<Function>, Function, OnHeap<Function>>;

  template <class Kept>
  static constexpr Actions kActionsOf{
      .call = [](void* held, Arguments&&... arguments) -> Result {
        return (*static_cast<Kept*>(held))(std::forward<Arguments>(arguments)...);
      },
      .move =
          [](void* from, void* to) noexcept {
            ::new (to) Kept(std::move(*static_cast<Kept*>(from)));
            static_cast<Kept*>(from)->~Kept();
          },
      .destroy = [](void* held) noexcept { static_cast<Kept*>(held)->~Kept(); }};

  [[nodiscard]] void* room() { return static_cast<void*>(room_); }

  void take(InlineFunction& other) noexcept {
    if (other.actions_ == nullptr) return;
    other.actions_->move(other.room(), room());
    actions_ = std::exchange(other.actions_, nullptr);
  }

  const Actions* actions_ = nullptr;
  alignas(std::max_align_t) std::byte room_[kRoom];
};

}  // namespace tandem
