# Unity builds: the sources of one folder (of a whole part that is TOGETHER) are compiled as one, so headers are read
# once per folder and not once per file. That halves the time of a whole build. A change of one file compiles its folder again; while working on a
# folder of many files, -DTRIREME_UNITY=OFF compiles each file by itself, as `make lint` always does.
#
# Names of one folder's anonymous namespaces must differ. Kernels that are compiled once per instruction set, tests' own
# operator new, and files with compile options of their own stay alone.
option(TRIREME_UNITY "Compile the sources of one folder as one: a whole build takes half the time" ON)

# trireme_unite(TARGET [TOGETHER])
function(trireme_unite target)
  if(NOT TRIREME_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "(_avx512|_avx2|_generic|counted_new)\\.cpp$")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if("TOGETHER" IN_LIST ARGN)
      set(folder ${target})
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
