// Match: functions that together visit a std::variant, as in std::visit(Match{[](int) {...}, [](const auto&) {...}},
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
