# One folder under src/ = one library = one namespace.

# With precompiled headers, ccache looks up objects only when it may ignore macros and times of the headers in them.
find_program(TRIREME_CCACHE ccache)
if(TRIREME_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TRIREME_CCACHE})
endif()
include(cmake/precompiled.cmake)
include(cmake/unity.cmake)

# What every target is compiled with. Same bits on every machine: a generic x86-64 build (kernels choose their
# instruction set at run time), no contraction of a*b+c behind our back, never -ffast-math. Users of the installed
# package inherit what makes bits, not our warnings.
add_library(trireme_flags INTERFACE)
set_target_properties(trireme_flags PROPERTIES EXPORT_NAME flags)
# GCC 12's -Wrestrict, -Wstringop-overflow, -Wstringop-overread and -Warray-bounds are wrong about std::string; -Wpsabi talks about
# vectors that are always inlined.
target_compile_options(trireme_flags INTERFACE -ffp-contract=off -fno-math-errno -Wno-psabi)
foreach(warning -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  target_compile_options(trireme_flags INTERFACE $<BUILD_INTERFACE:${warning}>)
endforeach()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  foreach(warning -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
    target_compile_options(trireme_flags INTERFACE $<BUILD_INTERFACE:${warning}>)
  endforeach()
endif()
target_include_directories(trireme_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(trireme_flags INTERFACE cxx_std_20)
if(TRIREME_FUZZ)
  target_compile_options(trireme_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TRIREME_SANITIZE)  # GCC 12 sees uninitialized values in instrumented standard headers
  target_compile_options(trireme_flags INTERFACE -Wno-maybe-uninitialized
    -fsanitize=${TRIREME_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  target_link_options(trireme_flags INTERFACE -fsanitize=${TRIREME_SANITIZE})
endif()

# trireme_part(NAME [CONTROL] [TOGETHER] DEPENDS parts... LINK libraries...): the library of src/NAME, as trireme_NAME here and
# trireme::NAME in the installed package. CONTROL parts decide and report but do not compute: a release builds them for
# quick compilation, since the JSON, TOML and command-line headers take most of the time. TOGETHER: see unity.cmake.
function(trireme_part name)
  cmake_parse_arguments(PART "CONTROL;TOGETHER" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/mpi/module/")  # a module that is loaded at run time, cmake/mpi.cmake
  list(TRANSFORM PART_DEPENDS PREPEND trireme_)
  add_library(trireme_${name} STATIC ${sources})
  target_link_libraries(trireme_${name} PUBLIC trireme_flags ${PART_DEPENDS} ${PART_LINK})
  if(PART_CONTROL)
    target_compile_options(trireme_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    trireme_precompile(trireme_${name} control)
  else()
    trireme_precompile(trireme_${name} compute)
  endif()
  set(together)
  if(PART_TOGETHER)
    set(together TOGETHER)
  endif()
  trireme_unite(trireme_${name} ${together})
  add_library(trireme::${name} ALIAS trireme_${name})
  set_target_properties(trireme_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY TRIREME_PARTS ${name})
endfunction()
