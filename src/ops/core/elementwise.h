// Layout choice for ops that work in any activation layout. Thread-safe.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

// The offered layout when its memory is [N][C / block][spatial][block], else plain.
inline Layout channel_layout(const Layout& offered) {
  return offered.channel_block() == 0 ? Layout::plain(offered.shape, offered.type) : offered;
}

// A layout of the same form and element type for another shape. REQUIRES: `layout` comes from channel_layout().
inline Layout same_form(const Layout& layout, const Shape& shape) {
  if (layout.is_plain()) return Layout::plain(shape, layout.type);
  return layout.inner.empty() ? Layout::channels_last(shape, 0, layout.type)
                              : Layout::channels_blocked(shape, layout.inner[0].size, layout.type);
}

}  // namespace trireme::ops
