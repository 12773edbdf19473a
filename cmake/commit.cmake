# Writes the commit of the checkout into a header of its own, at every build and only when it changed. In a folder that is
# no checkout (an unpacked release) it is the one given at configuring (-DSONDE_COMMIT=), or none.
# cmake -DSOURCE=folder -DOUT=header -DGIVEN=commit -P commit.cmake
set(commit "${GIVEN}")
if(NOT commit AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n#define SONDE_COMMIT \"${commit}\"\n")
