# Looks for every library the program is built from, and stops with one message that names what is missing and the command that
# installs it. Needs no compiler, so a test can run it by itself (tests/setup/test_packages.py).
# One row a library: its header, its archives (- for none), Debian's, Fedora's and Homebrew's package.
set(SONDE_LIBRARIES
  "boost|boost/unordered/unordered_flat_map.hpp|-|libboost1.81-dev|boost-devel|boost"
  "openssl|openssl/ssl.h|ssl,crypto|libssl-dev|openssl-devel|openssl"
  "fmt|fmt/format.h|-|libfmt-dev|fmt-devel|fmt"
  "expected|tl/expected.hpp|-|libexpected-dev|expected-devel|tl-expected"
  "rapidjson|rapidjson/reader.h|-|rapidjson-dev|rapidjson-devel|rapidjson"
  "libdeflate|libdeflate.h|deflate|libdeflate-dev|libdeflate-devel|libdeflate"
  "zlib|zlib.h|z|zlib1g-dev|zlib-devel|zlib"
  "zstd|zstd.h|zstd|libzstd-dev|libzstd-devel|zstd"
  "re2|re2/re2.h|re2|libre2-dev|re2-devel|re2"
  "leveldb|leveldb/table.h|leveldb|libleveldb-dev|leveldb-devel|leveldb"
  "snappy|snappy.h|snappy|libsnappy-dev|snappy-devel|snappy"
  "png|png.h|png|libpng-dev|libpng-devel|libpng"
  "jpeg|jpeglib.h|jpeg|libjpeg-dev|libjpeg-turbo-devel|jpeg-turbo"
  "eigen|Eigen/Dense|-|libeigen3-dev|eigen3-devel|eigen"
  "hnswlib|hnswlib/hnswlib.h|-|libhnswlib-dev|hnswlib-devel|hnswlib"
  "nghttp2|nghttp2/nghttp2.h|nghttp2|libnghttp2-dev|libnghttp2-devel|libnghttp2"
  "sqlite|sqlite3.h|sqlite3|libsqlite3-dev|sqlite-devel|sqlite"
  "yaml|yaml.h|yaml|libyaml-dev|libyaml-devel|libyaml")

# Which of the three package managers is asked here, by its place in a row.
if(EXISTS /etc/fedora-release OR EXISTS /etc/redhat-release)
  set(manager 4)
  set(install_command "sudo dnf install")
elseif(CMAKE_HOST_SYSTEM_NAME STREQUAL "Darwin")
  set(manager 5)
  set(install_command "brew install")
else()
  set(manager 3)
  set(install_command "sudo apt-get install")
endif()

set(absent "")
set(to_install "")
foreach(row ${SONDE_LIBRARIES})
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 header)
  list(GET row 2 archives)
  list(GET row ${manager} package)
  set(complete TRUE)
  find_path(SONDE_HEADER_${name} NAMES ${header} PATH_SUFFIXES eigen3)
  if(NOT SONDE_HEADER_${name})
    set(complete FALSE)
    string(APPEND absent "  ${name}: no header <${header}>; it is in ${package}\n")
  endif()
  if(NOT archives STREQUAL "-")
    string(REPLACE "," ";" archives "${archives}")
    foreach(archive ${archives})
      find_library(SONDE_LIB_${archive} NAMES ${archive})
      if(NOT SONDE_LIB_${archive} AND complete)
        set(complete FALSE)
        string(APPEND absent "  ${name}: no library lib${archive}; it is in ${package}\n")
      endif()
    endforeach()
  endif()
  if(NOT complete)
    list(APPEND to_install ${package})
  endif()
endforeach()

if(to_install)
  list(JOIN to_install " " to_install)
  set(newer "")
  if(to_install MATCHES "libboost1.81-dev")
    set(newer "  (Ubuntu 24.04 has libboost1.83-dev instead; an older Boost lacks the flat containers)\n")
  endif()
  message(FATAL_ERROR "libraries are missing:\n${absent}Install them with\n  ${install_command} ${to_install}\n${newer}"
          "or let ./run do it: it installs whatever the build needs.")
endif()
