# The Python package: one extension module for every CPython from 3.10 on, and the program beside it.
# Used by `pip install .` (scikit-build-core, see pyproject.toml) and, with -DSONDE_PYTHON=ON, by the tests,
# which load the package from build/<dir>/python without installing anything.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cc)
nanobind_add_module(_sonde BACKEND_MODULE nanobind_backend STABLE_ABI ${python_sources})
target_link_libraries(_sonde PRIVATE sonde_log_write sonde_log_store)
target_link_options(_sonde PRIVATE LINKER:--exclude-libs,ALL)
if(SONDE_OLD_GLIBC)  # the libstdc++ of such systems is old as well
  target_link_libraries(_sonde PRIVATE ${SONDE_OLD_GLIBC}/libnewer_stdc++.a)
endif()

# The package as it will be installed, for tests and for stubs: the sources linked, the module built in.
set(package ${PROJECT_BINARY_DIR}/python/sonde)
set_target_properties(_sonde PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package})
file(MAKE_DIRECTORY ${package})
file(GLOB modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/sonde/*.py ${PROJECT_SOURCE_DIR}/python/sonde/*.pyi
     ${PROJECT_SOURCE_DIR}/python/sonde/py.typed)
foreach(module ${modules})
  get_filename_component(name ${module} NAME)
  file(CREATE_LINK ${module} ${package}/${name} SYMBOLIC)
endforeach()

install(TARGETS _sonde LIBRARY DESTINATION sonde COMPONENT python)
# The wheel carries the program: the one of this build, or one built before (-DSONDE_PROGRAM=path).
set(SONDE_PROGRAM "" CACHE FILEPATH "a finished sonde program to put into the wheel")
if(SKBUILD AND SONDE_PROGRAM)
  install(PROGRAMS ${SONDE_PROGRAM} DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME sonde COMPONENT python)
elseif(SKBUILD)
  install(TARGETS sonde RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()
