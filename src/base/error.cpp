#include "base/error.h"

namespace trireme::base {

void throw_error(ErrorKind kind, std::string sentence) {
  if (kind == ErrorKind::internal) sentence = "internal error (please report it): " + sentence;
  throw Error(kind, sentence);
}

}  // namespace trireme::base
