# The version of this build: base/version.cpp is made from src/base/version.cpp.in at build time, because the revision
# changes without CMake being configured again; files are touched only when their content changes. The installed
# package's version file is made with it.
# Included from CMakeLists.txt it declares the step; run as a script (cmake -P) it is the step.
#
# The version comes from the last tag vX.Y.Z: 0.2.0 at v0.2.0, 0.2.0+5.gabcdef five commits later. A source archive
# (git archive) says the same through cmake/archive.txt, which git fills in. Without a tag the version is that of
# project() in CMakeLists.txt.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(version_source ${PROJECT_BINARY_DIR}/generated/base/version.cpp)
  add_custom_target(trireme_version
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTARGET=${version_source}
            -DPACKAGE_FILE=${PROJECT_BINARY_DIR}/trireme-config-version.cmake
            -DCMAKE_SIZEOF_VOID_P=${CMAKE_SIZEOF_VOID_P}
            -P ${CMAKE_CURRENT_LIST_FILE}
    BYPRODUCTS ${version_source} ${PROJECT_BINARY_DIR}/trireme-config-version.cmake
    COMMENT "Asking git for the revision")
  target_sources(trireme_base PRIVATE ${version_source})
  add_dependencies(trireme_base trireme_version)
  return()
endif()

# Lines "name: value" of cmake/archive.txt; empty where git has not filled the file in.
function(read_archive name result)
  file(STRINGS ${SOURCE}/cmake/archive.txt line REGEX "^${name}: [^$%]*$")
  string(REGEX REPLACE "^${name}: *" "" value "${line}")
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

function(ask_git result)
  execute_process(COMMAND git -C ${SOURCE} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

if(EXISTS ${SOURCE}/.git)  # a source archive inside somebody else's checkout is not that checkout
  ask_git(SOURCE_REVISION describe --tags "--match=v[0-9]*" --always --dirty)
  ask_git(SOURCE_DATE log -1 --format=%cs)
else()
  read_archive(describe SOURCE_REVISION)
  read_archive(date SOURCE_DATE)
  if(NOT SOURCE_REVISION)
    read_archive(commit SOURCE_REVISION)
  endif()
endif()
if(NOT SOURCE_REVISION)
  set(SOURCE_REVISION "unknown revision")
endif()

file(STRINGS ${SOURCE}/CMakeLists.txt PROJECT_VERSION REGEX "^project\\(trireme VERSION ")
string(REGEX REPLACE "^.* VERSION ([0-9.]+).*$" "\\1" PROJECT_VERSION "${PROJECT_VERSION}")
set(VERSION_NUMBER ${PROJECT_VERSION})
if(SOURCE_REVISION MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)(-([0-9]+)-(g[0-9a-f]+))?(-dirty)?$")
  set(VERSION_NUMBER ${CMAKE_MATCH_1})
  set(PROJECT_VERSION ${CMAKE_MATCH_1})
  if(CMAKE_MATCH_2)
    string(APPEND VERSION_NUMBER "+${CMAKE_MATCH_3}.${CMAKE_MATCH_4}")
  endif()
endif()

if(ONLY_PRINT)  # for scripts
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${VERSION_NUMBER};${SOURCE_REVISION};${SOURCE_DATE}")
  return()
endif()
configure_file(${SOURCE}/src/base/version.cpp.in ${TARGET} @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PACKAGE_FILE} VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
