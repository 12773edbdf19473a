# Builds the page with Vite and embeds it, precompressed, as a read-only section of the program.
find_program(SONDE_NPM npm REQUIRED HINTS $ENV{SONDE_NODE_BIN})
find_program(SONDE_NODE node REQUIRED HINTS $ENV{SONDE_NODE_BIN})

function(sonde_embed_web target)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(out ${PROJECT_BINARY_DIR}/web)
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${web}/src/* ${web}/index.html ${web}/public/*)
  # `npm ci` refuses a lock without the native parts of other platforms, which some registries do not
  # have; `npm install` takes the same versions from the lock and leaves those out.
  add_custom_command(
    OUTPUT ${web}/node_modules/.sonde-installed
    COMMAND ${SONDE_NPM} ci --no-audit --no-fund --loglevel=silent || ${SONDE_NPM} install --no-save --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${web}/node_modules/.sonde-installed
    DEPENDS ${web}/package.json ${web}/package-lock.json
    WORKING_DIRECTORY ${web} COMMENT "Installing the page's build tools" VERBATIM)
  add_custom_command(
    OUTPUT ${out}/assets.S
    COMMAND ${SONDE_NODE} node_modules/vite/bin/vite.js build --logLevel warn --outDir ${out}/dist --emptyOutDir
    COMMAND ${SONDE_NODE} node_modules/vite/bin/vite.js build --config vite.report.config.ts --logLevel warn --outDir ${out}/dist/report
    COMMAND ${SONDE_NODE} tools/pack.mjs ${out}/dist ${out}
    DEPENDS ${inputs} ${web}/package-lock.json ${web}/vite.config.ts ${web}/vite.report.config.ts ${web}/tools/pack.mjs
            ${web}/node_modules/.sonde-installed
    WORKING_DIRECTORY ${web} COMMENT "Building the page" VERBATIM)
  # A target of its own: as a step of the program it would wait for every library first.
  add_custom_target(sonde_page DEPENDS ${out}/assets.S)
  add_dependencies(${target} sonde_page)
  target_sources(${target} PRIVATE ${out}/assets.S)
  target_compile_definitions(${target} PRIVATE SONDE_WEB=1)
endfunction()
