// Program: the whole of trireme (train, eval, predict, bench, list ...) with networks, ops, data and optimizers of your
// own beside those that it comes with.
//
//   #include <trireme/network.h>
//   #include <trireme/program.h>
//
//   int main(int argc, char** argv) {
//     trireme::Program program;
//     program.add_model({.name = "mine", .summary = "what it is", .inputs = {{1, 28, 28}}, .make = make_mine});
//     return program.run(argc, argv);
//   }
//
//   ./program train --model mine --data fashion-mnist --workers 3 --strategy ps:mode=sync
//
// One thread fills it. run() reads the rows from all threads, and every process of a run starts this program again:
// what main() adds must not depend on where and when it runs. Include network.h, op.h, data.h or optimizer.h for the
// rows.
#pragma once

#include <memory>

namespace trireme {

namespace data {
struct CodecRow;
struct DatasetRow;
struct FormatRow;
}  // namespace data
namespace models {
struct ModelRow;
}
namespace ops {
struct OpRow;
}
namespace optim {
struct OptimizerRow;
}

class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_model(models::ModelRow row);         // --model NAME
  void add_op(ops::OpRow row);                  // named in lists and by op text
  void add_dataset(data::DatasetRow row);       // --data NAME
  void add_format(data::FormatRow row);         // --data PATH; asked after those that Trireme comes with
  void add_codec(data::CodecRow row);           // packed files; likewise
  void add_optimizer(optim::OptimizerRow row);  // --optimizer NAME:...

  // The program: parses, runs a verb, prints what went wrong; returns the exit code. A row that is incomplete, or whose
  // name is taken, ends it with a sentence.
  int run(int argc, char** argv);

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace trireme
