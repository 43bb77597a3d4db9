# SPDX-License-Identifier: Apache-2.0
# Headers, both libraries, tacit.pc (it finds itself: the tree can be moved), the program, what the
# program says about itself (man page and completion), and what peers need: the unit of systemd,
# its user, and the files of docs/quickstart-peers.md.

if(NOT TACIT_SHARED OR NOT TARGET tacit)
  return()
endif()

configure_file(cmake/tacit.pc.in tacit.pc @ONLY)
install(DIRECTORY include/tacit TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS tacit_static tacit_shared
  ARCHIVE DESTINATION lib LIBRARY DESTINATION lib)
install(TARGETS tacit RUNTIME DESTINATION bin)
install(FILES ${CMAKE_BINARY_DIR}/tacit.pc DESTINATION lib/pkgconfig)

install(CODE "
  function(ask_tacit file)
    execute_process(COMMAND \"${CMAKE_BINARY_DIR}/tacit\" \${ARGN}
      OUTPUT_FILE \"${CMAKE_BINARY_DIR}/\${file}\" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR \"tacit \${ARGN} failed: \${result}\")
    endif()
  endfunction()
  ask_tacit(tacit.1 help --man)
  ask_tacit(tacit.bash help --completion bash)

  file(READ \"${CMAKE_SOURCE_DIR}/packaging/tacit-node@.service\" unit)
  string(REPLACE \"/usr/local/bin/\" \"\${CMAKE_INSTALL_PREFIX}/bin/\" unit \"\${unit}\")
  file(WRITE \"${CMAKE_BINARY_DIR}/tacit-node@.service\" \"\${unit}\")
")
install(FILES ${CMAKE_BINARY_DIR}/tacit.1 DESTINATION share/man/man1)
install(FILES ${CMAKE_BINARY_DIR}/tacit.bash
  DESTINATION share/bash-completion/completions RENAME tacit)
install(FILES LICENSE DESTINATION share/doc/tacit)
install(FILES ${CMAKE_BINARY_DIR}/tacit-node@.service DESTINATION lib/systemd/system)
install(FILES packaging/tacit.sysusers DESTINATION lib/sysusers.d RENAME tacit.conf)
install(DIRECTORY examples/peers DESTINATION share/doc/tacit/examples)
