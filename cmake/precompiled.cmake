# sonde_precompile(target): the headers nearly every file includes, parsed once. Compiling the program takes a
# third less processor time with them (docs/bench.md). The debug, sanitizer and fuzz builds go without, so a file
# that forgets an include does not get past them.
set(pch_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT SONDE_SANITIZE)
  set(pch_default ON)
endif()
option(SONDE_PCH "precompile the standard library and fmt (g++)" ${pch_default})

# Loading costs a moment in every file, so what few files need is not in the list.
set(SONDE_PCH_HEADERS <algorithm> <array> <atomic> <charconv> <cmath> <condition_variable> <cstdint> <cstring> <deque>
    <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <tuple>
    <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

if(SONDE_PCH)
  # What ccache needs to keep objects that were made with a precompiled header.
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()

# One copy for all layers: they share every flag that matters to it.
function(sonde_precompile target)
  if(NOT SONDE_PCH)
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  if(TARGET sonde_base AND NOT target STREQUAL "sonde_base")
    target_precompile_headers(${target} REUSE_FROM sonde_base)
  else()
    target_precompile_headers(${target} PRIVATE ${SONDE_PCH_HEADERS})
  endif()
endfunction()

# Files that set a macro before they include, or that are compiled with flags of their own.
function(sonde_not_precompiled)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
