// FunctionRef: a reference to a callable, for the duration of a call. Unlike std::function it never allocates or
// copies; the callable must outlive it.
#pragma once

#include <type_traits>
#include <utility>

namespace trireme::base {

template <class Signature>
class FunctionRef;

template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
      FunctionRef(const F& f)  // NOLINT(google-explicit-constructor): callers pass lambdas
      : object_(&f),
        call_([](const void* object, A... a) -> R { return (*static_cast<const F*>(object))(std::forward<A>(a)...); }) {
  }

  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

 private:
  const void* object_;
  R (*call_)(const void*, A...);
};

}  // namespace trireme::base
