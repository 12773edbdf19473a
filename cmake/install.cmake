# What `cmake --install` puts down: the program, and the logging library as one shared object with its
# headers and a CMake package, so that `find_package(sonde)` and `sonde::sonde` are all a user needs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS sonde RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/library.cc CONTENT "// libsonde.so is the whole of the writer layer.\n")
add_library(sonde_library SHARED ${PROJECT_BINARY_DIR}/generated/library.cc)
set_target_properties(sonde_library PROPERTIES OUTPUT_NAME sonde EXPORT_NAME sonde
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(sonde_library PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,sonde_log_write>)
target_include_directories(sonde_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(sonde_library INTERFACE cxx_std_20)
# Only the public names leave the library; the layers and libpng inside stay private to it.
target_link_options(sonde_library PRIVATE
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map LINKER:--no-undefined)
set_target_properties(sonde_library PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)

install(TARGETS sonde_library EXPORT sonde LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES include/sonde/writer.h include/sonde/summary.h include/sonde/sonde.h
        ${PROJECT_BINARY_DIR}/generated/sonde/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sonde COMPONENT library)
install(EXPORT sonde NAMESPACE sonde:: FILE sondeConfig.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sonde COMPONENT library)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sondeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sondeConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sonde COMPONENT library)

# The same for those who ask pkg-config. It counts from where it lies, so the folder may be moved.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
configure_file(${PROJECT_SOURCE_DIR}/cmake/sonde.pc.in ${PROJECT_BINARY_DIR}/generated/sonde.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/sonde.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
