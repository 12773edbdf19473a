# Warnings, sanitizers and the few flags every target shares.
add_library(sonde_settings INTERFACE)
target_include_directories(sonde_settings INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                           ${PROJECT_BINARY_DIR}/generated)
target_compile_options(sonde_settings INTERFACE -Wall -Wextra -Wpedantic -Werror=unused-result -fno-math-errno)
# What g++ guesses of sizes once it has inlined much is wrong as often as right (g++ 12, -O2) and would be the first thing that somebody
# who builds Sonde reads. The debug build, where warnings are errors, and clang-tidy look at every source.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(sonde_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-maybe-uninitialized
    -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
if(SONDE_WERROR)
  target_compile_options(sonde_settings INTERFACE -Werror)
endif()
if(SONDE_SANITIZE)
  target_compile_options(sonde_settings INTERFACE -fsanitize=${SONDE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(sonde_settings INTERFACE -fsanitize=${SONDE_SANITIZE})
  if(SONDE_SANITIZE MATCHES "undefined")
    target_compile_options(sonde_settings INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
# For programs that start on older systems: the C library they are linked with (tools/old_glibc makes the folder). GNU ld writes
# programs that such a libc does not load, so mold is asked.
set(SONDE_OLD_GLIBC "" CACHE PATH "folder made by tools/old_glibc")
if(SONDE_OLD_GLIBC)
  add_link_options(-B${SONDE_OLD_GLIBC}/ -L${SONDE_OLD_GLIBC} -fuse-ld=mold)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/sonde/version.h @ONLY)
