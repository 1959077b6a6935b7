# The version of this build: base/version.cpp is made from src/base/version.cpp.in at build time, because the revision
# changes without CMake being configured again; the file is touched only when its content changes.
# Included from CMakeLists.txt it declares the step; run as a script (cmake -P) it is the step.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(version_source ${PROJECT_BINARY_DIR}/generated/base/version.cpp)
  add_custom_target(trireme_version
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTARGET=${version_source}
            -DPROJECT_VERSION=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_FILE}
    BYPRODUCTS ${version_source}
    COMMENT "Asking git for the revision")
  target_sources(trireme_base PRIVATE ${version_source})
  add_dependencies(trireme_base trireme_version)
  return()
endif()

set(SOURCE_REVISION "unknown revision")
if(EXISTS ${SOURCE}/.git)  # a source archive inside somebody else's checkout is not that checkout
  execute_process(COMMAND git -C ${SOURCE} describe --tags --always --dirty
    RESULT_VARIABLE result OUTPUT_VARIABLE described ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(result EQUAL 0)
    set(SOURCE_REVISION ${described})
  endif()
endif()
configure_file(${SOURCE}/src/base/version.cpp.in ${TARGET} @ONLY)
