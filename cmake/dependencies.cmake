# What the engine is built on: Debian packages alone; the Makefile installs what is missing. The installed package
# (trireme-config.cmake) reads this file too, so a user's project finds the same libraries.

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(PkgConfig REQUIRED)
if(NOT TARGET PkgConfig::PANGOCAIRO)
  pkg_check_modules(PANGOCAIRO REQUIRED IMPORTED_TARGET pangocairo)  # libpango1.0-dev
endif()

# Libraries without a usable CMake package become imported targets here. oneDNN is one of them: its own package file
# insists on the OpenCL headers, which a CPU engine does not need.
function(trireme_find_library target header library debian_package)
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER ${library} id)
  find_path(TRIREME_${id}_INCLUDE ${header})
  find_library(TRIREME_${id}_LIBRARY ${library})
  mark_as_advanced(TRIREME_${id}_INCLUDE TRIREME_${id}_LIBRARY)
  if(NOT TRIREME_${id}_INCLUDE OR NOT TRIREME_${id}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${library} was not found; install the package ${debian_package}")
  endif()
  add_library(${target} UNKNOWN IMPORTED)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${TRIREME_${id}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${TRIREME_${id}_INCLUDE})
endfunction()

trireme_find_library(DNNL::dnnl     oneapi/dnnl/dnnl.hpp dnnl   libdnnl-dev)
trireme_find_library(xxhash::xxhash xxhash.h             xxhash libxxhash-dev)
trireme_find_library(hwloc::hwloc   hwloc.h              hwloc  libhwloc-dev)
trireme_find_library(zstd::zstd     zstd.h               zstd   libzstd-dev)
trireme_find_library(httplib::httplib httplib.h     cpp-httplib libcpp-httplib-dev)
