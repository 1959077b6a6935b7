// Match: combines lambdas into one visitor of a std::variant: std::visit(Match{[](int) {...}, [](const auto&) {...}},
// v).
#pragma once

namespace trireme::base {

template <class... F>
struct Match : F... {
  using F::operator()...;
};
template <class... F>
Match(F...) -> Match<F...>;

}  // namespace trireme::base
