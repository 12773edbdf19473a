# SONDE_UNITY: sources of a room compiled several at a time, which shortens a first build (docs/bench.md) and makes
# every later one slower, since an edit compiles its neighbours again. SONDE_UNITY=ON ./run switches it on where there
# is no build yet. tools/unity.py says which sources go together.
option(SONDE_UNITY "compile several sources as one" OFF)

if(SONDE_UNITY)
  find_program(SONDE_PYTHON3 NAMES python3 REQUIRED)
  file(STRINGS ${PROJECT_SOURCE_DIR}/CMakeLists.txt layers REGEX "^sonde_layer\\(")
  list(TRANSFORM layers REPLACE "^sonde_layer\\(([^ )]+).*" "\\1")
  execute_process(COMMAND ${SONDE_PYTHON3} ${PROJECT_SOURCE_DIR}/tools/unity.py ${PROJECT_BINARY_DIR}/generated/unity ${layers}
                  OUTPUT_VARIABLE SONDE_JOINED COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" SONDE_JOINED "${SONDE_JOINED}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/unity.py)
endif()

# sonde_join(LIST room): in the list of the room's sources, those that were joined are replaced by the files that join them.
function(sonde_join list room)
  if(NOT SONDE_UNITY)
    return()
  endif()
  # What a source keeps to itself decides with whom it is compiled.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${${list}})
  set(made ${SONDE_JOINED})
  list(FILTER made INCLUDE REGEX "^${room}\t")
  set(single ${made})
  list(TRANSFORM made REPLACE "^[^\t]+\t([^\t]+)\t.*" "\\1")
  list(REMOVE_DUPLICATES made)
  list(TRANSFORM single REPLACE ".*\t" "")
  list(REMOVE_ITEM ${list} ${single})
  set(${list} ${${list}} ${made} PARENT_SCOPE)
endfunction()

# sonde_ease(target): what g++ is told where it compiles much at once.
function(sonde_ease target)
  if(NOT SONDE_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  # A tenth of its time goes into collecting garbage from a heap that would fit into memory (kB).
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=400000>)
endfunction()
