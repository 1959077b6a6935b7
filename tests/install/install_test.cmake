# Installs the build into an empty prefix, configures and builds an example against the installed package alone, runs
# it, and asks the installed program for its version. Arguments: BUILD, EXAMPLE, WORK (emptied first), GENERATOR.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${EXAMPLE} -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build)

# The example's one program lies in its build folder.
file(GLOB files ${WORK}/build/*)
set(programs "")
foreach(file ${files})
  execute_process(COMMAND test -f ${file} -a -x ${file} RESULT_VARIABLE not_program)
  if(NOT not_program)
    list(APPEND programs ${file})
  endif()
endforeach()
list(LENGTH programs count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "expected one program in ${WORK}/build, found: ${programs}")
endif()
run(${programs})
run(${WORK}/prefix/bin/trireme --version)
if(NOT EXISTS ${WORK}/prefix/share/trireme/peers/pytorch/step.py)
  message(FATAL_ERROR "the scripts for peers are not installed")
endif()
file(REMOVE_RECURSE ${WORK})
