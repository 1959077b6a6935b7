// The residual blocks of ResNet v1 as in torchvision: convolutions without bias, each followed by batch norm; where the
// shape changes, the shortcut is a projection (1x1 convolution and batch norm).
// One thread at a time per LayerBuilder.
#pragma once

#include "models/layer_builder.h"

namespace trireme::models {

// Adds a block. `name`: e.g. "layer1.0"; `width`: channels of the 3x3 convolutions.
using ResidualBlock = Value (*)(LayerBuilder& layers, const std::string& name, Value x, std::int64_t width,
                                std::int64_t stride);

// Two 3x3 convolutions; `width` channels out.
Value basic_block(LayerBuilder& layers, const std::string& name, Value x, std::int64_t width, std::int64_t stride);
// 1x1, 3x3 (with the stride), 1x1 convolutions; 4 * `width` channels out.
Value bottleneck_block(LayerBuilder& layers, const std::string& name, Value x, std::int64_t width, std::int64_t stride);

// Adds `blocks` blocks named "<name>.0", "<name>.1", ...; the first has the stride.
Value residual_stage(LayerBuilder& layers, ResidualBlock block, const std::string& name, Value x, std::int64_t width,
                     int blocks, std::int64_t stride);

}  // namespace trireme::models
