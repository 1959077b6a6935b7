# Precompiled headers: the headers of other projects that most of our files include. Each file still includes
# what it uses, so it compiles without them too.
#
# A precompiled header serves only files compiled with the same flags, so targets with equal flags share one: the first
# target of a set makes it. A set is "compute" (-O3), "control" (-O1) or "tests".

set(TRIREME_PRECOMPILED
  <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <filesystem> <fstream>
  <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <variant>
  <vector> <fmt/format.h>)

# trireme_precompile(TARGET SET [headers...]): TARGET uses the precompiled header of SET; the first target of a set adds
# the headers to the list above.
function(trireme_precompile target set)
  get_property(first GLOBAL PROPERTY TRIREME_PRECOMPILED_${set})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${TRIREME_PRECOMPILED} ${ARGN})
    set_property(GLOBAL PROPERTY TRIREME_PRECOMPILED_${set} ${target})
  endif()
endfunction()
