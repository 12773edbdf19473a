# What `cmake --install` puts down: the program. The logging library adds its own part.
install(TARGETS sonde RUNTIME DESTINATION bin COMPONENT program)
