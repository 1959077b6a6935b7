// Ops of your own: an Op says what it is (shape rule, parameters), its Kernel runs it forward and backward on given
// memory, and its OpRow gives it a name. examples/own_op is a complete one.
//
//   class Scale : public trireme::Op {
//    public:
//     std::string_view kind() const override { return "scale"; }
//     trireme::Shape output(std::span<const trireme::Shape> src) const override { return src[0]; }
//     std::unique_ptr<trireme::Kernel> compile(const trireme::KernelRequest& request) const override;
//   };
//
// An Op is immutable and shared by all threads. So is a Kernel: forward() and backward() are const and run on several
// threads at once, each with memory of its own. Results must not depend on threads, time or addresses.
#pragma once

#include "base/cpu/math.h"
#include "base/rng.h"
#include "ops/core/elementwise.h"
#include "ops/core/gradient_check.h"
#include "ops/core/op.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"

namespace trireme {

using ops::Cost;
using ops::Kernel;
using ops::KernelArgs;
using ops::KernelPlan;
using ops::KernelRequest;
using ops::KernelState;
using ops::OarRun;
using ops::Op;
using ops::OpPtr;
using ops::OpRow;
using ops::ParameterSpec;
using ops::Role;
using tensor::ConstView;
using tensor::ElementType;
using tensor::Layout;
using tensor::Shape;
using tensor::View;

// The form of memory for an op that works in any: the offered one where it is plain or blocked by channels.
using ops::channel_layout;
using ops::same_form;

// Reading and writing an op's options as text.
using base::Spec;
using base::SpecOption;
using ops::optional_sizes;
using ops::OptionsText;
using ops::required_integer;
using ops::required_number;
using ops::required_sizes;

// The largest relative error of an op's gradients against differences; below 1e-3 where they are right.
using ops::gradient_error;

// Loops over sixteen lanes, compiled for every instruction set and with the same bits on all: a struct with a static
// TRIREME_INLINE run(), called through dispatch<Struct>(...). std::exp and the like differ between machines; these do
// not.
using base::dispatch;
using base::exp;
using base::fma;
using base::kLanes;
using base::Lanes;
using base::load;
using base::load_part;
using base::log;
using base::sigmoid;
using base::splat;
using base::store;
using base::store_part;
using base::tanh;

// Random numbers: a pure function of seed, purpose, epoch, sample and position.
using base::CounterRng;
using base::Purpose;

}  // namespace trireme
