// Losses: src[0] is the prediction N x K, src[1] the target; dst N x 1 holds each sample's loss. The gradient is scaled
// by OarRun::loss_scale, so the network's loss is the mean over the true samples of the global batch. With
// OarRun::class_weights the softmax cross-entropy of each sample is multiplied by its class's weight. Given the shape
// of the prediction alone, output() returns the shape of the target.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

// Softmax and categorical cross-entropy; the target is N x 1, the class indices.
OpPtr softmax_cross_entropy();
// Sigmoid and binary cross-entropy, summed over K independent labels and divided by K; target N x K of 0 and 1.
// Binary classification is K = 1.
OpPtr sigmoid_cross_entropy();
// Mean over K of (prediction - target)^2; target N x K.
OpPtr squared_error();

OpRow softmax_cross_entropy_row();
OpRow sigmoid_cross_entropy_row();
OpRow squared_error_row();

}  // namespace trireme::ops
