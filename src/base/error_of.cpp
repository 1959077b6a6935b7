#include "base/error_of.h"

#include <new>
#include <system_error>

namespace trireme::base {
namespace {

Error internal(const char* what) {
  return {ErrorKind::internal, fmt::format("internal error (please report it): {}", what)};
}

}  // namespace

Error error_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::run,
            "out of memory; try a smaller --batch or fewer --threads, or allow more memory (ulimit -v)"};
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return internal(error.what());
    return {ErrorKind::run,
            "the system allows no more threads; use fewer --threads, or allow more threads (ulimit -u, or pids.max of "
            "the control group) and memory for their stacks (ulimit -v)"};
  } catch (const std::exception& error) {
    return internal(error.what());
  } catch (...) {
    return internal("an exception of an unknown kind");
  }
}

}  // namespace trireme::base
