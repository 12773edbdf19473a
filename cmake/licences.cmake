# Puts the texts of LICENSES/ into the program as one read-only section, each after a line with its name.
function(sonde_embed_licences target)
  file(GLOB texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/LICENSES/*.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${texts})
  string(ASCII 30 mark)
  set(all "")
  foreach(text ${texts})
    get_filename_component(name ${text} NAME_WLE)
    file(READ ${text} body)
    string(APPEND all "\n${mark}${name}\n${body}")
  endforeach()
  set(out ${PROJECT_BINARY_DIR}/generated/licences)
  file(CONFIGURE OUTPUT ${out}.txt CONTENT "${all}" @ONLY)
  file(CONFIGURE OUTPUT ${out}.S @ONLY CONTENT [=[
.section .rodata
.global sonde_licences_begin
.global sonde_licences_end
sonde_licences_begin:
.incbin "@out@.txt"
sonde_licences_end:
.section .note.GNU-stack,"",%progbits
]=])
  set_source_files_properties(${out}.S PROPERTIES OBJECT_DEPENDS ${out}.txt)
  target_sources(${target} PRIVATE ${out}.S)
endfunction()
