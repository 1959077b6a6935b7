# Writes the headers of an installed engine to the folder TO: those of include/trireme, and below internal/ those of src
# that they include. Installed headers name each other by their full path ("trireme/internal/graph/network.h"), so a
# user's own graph/network.h is never taken for ours. cmake/public_headers.txt lists the internal ones; a test compares
# the list with what is included. Run as cmake -DSOURCE=<repository> -DTO=<folder> -P.

function(write_header from to)
  file(READ ${from} text)
  string(REGEX REPLACE "(#include \")([^\"]+\")" "\\1trireme/internal/\\2" text "${text}")
  file(WRITE ${to} "${text}")
endfunction()

file(REMOVE_RECURSE ${TO})
file(GLOB public RELATIVE ${SOURCE}/include/trireme ${SOURCE}/include/trireme/*.h)
foreach(header ${public})
  write_header(${SOURCE}/include/trireme/${header} ${TO}/${header})
endforeach()
file(STRINGS ${SOURCE}/cmake/public_headers.txt internal)
foreach(header ${internal})
  write_header(${SOURCE}/src/${header} ${TO}/internal/${header})
endforeach()
