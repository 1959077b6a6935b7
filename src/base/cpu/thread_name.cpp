#include "base/cpu/thread_name.h"

#include <pthread.h>

namespace trireme::base {

void name_this_thread(const std::string& name) {
  constexpr std::size_t kLongest = 15;
  (void)::pthread_setname_np(::pthread_self(), name.substr(0, kLongest).c_str());
}

}  // namespace trireme::base
