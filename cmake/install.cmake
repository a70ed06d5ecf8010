# Says which files `cmake --install build/release --prefix P` installs where, and what the .deb holds (`./dev package`,
# or `cpack -G DEB` in the build folder). The program finds its documents in a folder beside its own folder
# (P/share/sluice), and the Python package finds the documents by a link. So the installed files work in any folder P.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # the tests are not installed, so they need not be built
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/sluice)

install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET sluice_simgrid)
  install(TARGETS sluice_simgrid LIBRARY DESTINATION lib/sluice)  # the program searches this folder
endif()
install(DIRECTORY models platforms scenarios fits schemas DESTINATION ${documents})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sluice RENAME copyright)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sluice)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sluice)

# The installed program writes both the man pages and the completion.
set(made ${PROJECT_BINARY_DIR}/installed)
install(CODE "
  file(MAKE_DIRECTORY ${made}/man1)
  set(ENV{SLUICE_ROOT} ${PROJECT_SOURCE_DIR})
  execute_process(COMMAND ${PROJECT_BINARY_DIR}/sluice completion bash OUTPUT_FILE ${made}/sluice
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT \"${HELP2MAN}\" MATCHES \"NOTFOUND\")
    execute_process(COMMAND bash ${PROJECT_SOURCE_DIR}/cmake/man_pages.sh
                            ${PROJECT_BINARY_DIR}/sluice ${made}/man1 COMMAND_ERROR_IS_FATAL ANY)
  endif()")
install(FILES ${made}/sluice
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)

if(TARGET _sluice)
  set(python lib/python3/dist-packages/sluice)  # the folder in which Debian's Python searches
  install(TARGETS _sluice LIBRARY DESTINATION ${python})
  install(TARGETS sluice-worker RUNTIME DESTINATION ${python})
  if(TARGET sluice_simgrid)
    install(CODE "file(CREATE_LINK ../../../sluice/sluice_simgrid.so
      \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${python}/sluice_simgrid.so SYMBOLIC)")
  endif()
  install(DIRECTORY analysis/sluice/ DESTINATION ${python}
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
          PATTERN "__pycache__" EXCLUDE PATTERN "_data" EXCLUDE)
  install(CODE "file(CREATE_LINK ../../../../share/sluice
    \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${python}/_data SYMBOLIC)")
endif()

# --- the .deb --------------------------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_CONTACT "Sluice <sluice@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "simulates neural networks on machines whose memory is too small for them")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # dpkg-shlibdeps finds the libraries
if(TARGET _sluice)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  math(EXPR next "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next}), \
python3-numpy, python3-pandas")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
      "python3-matplotlib, python3-xarray, python3-h5netcdf, python3-tqdm")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-torch, python3-distributed, python3-optuna")
endif()
include(CPack)
