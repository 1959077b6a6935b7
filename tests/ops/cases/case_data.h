// The numbers of a case: inputs, weights and gradient as floats held in doubles, and the reference's answer to them. A
// pure function of the case.
#pragma once

#include "ops/cases/op_case.h"

namespace trireme::optest {

struct CaseData {
  Reference exact;               // after forward and, in training, backward
  std::vector<double> diff_dst;  // as given; the reference may change its own
};

CaseData make_data(const OpCase& c, bool training);

// The random numbers of the run: sample indices, seed, loss scale.
ops::OarRun oar_run(std::int64_t samples);

}  // namespace trireme::optest
