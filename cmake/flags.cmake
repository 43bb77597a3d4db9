# SPDX-License-Identifier: Apache-2.0
# How everything is compiled.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF) # -std=c17, not gnu17
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Assertions stay on: they guard invariants of our own, never input.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g")

# Same bytes for the same binary, CPU type, configuration and seed: the compiler fuses a
# multiply and an add only in the kernels that say so (tacit_kernel_flags below).
add_compile_options(-ffp-contract=off -fno-semantic-interposition)
add_compile_definitions(_GNU_SOURCE)

if(TACIT_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TACIT_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
  endif()
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1") # lines for the reports, and half the time to compile
  set(tacit_sanitizer_flags -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(TACIT_SANITIZE)
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(tacit_sanitizer_flags -fsanitize=${TACIT_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
endif()
if(tacit_sanitizer_flags)
  add_compile_options(${tacit_sanitizer_flags})
  add_compile_definitions(TACIT_FEW_WIDTHS) # see src/math/kernels_all.h
  add_link_options(${tacit_sanitizer_flags})
  set(TACIT_SHARED OFF)
else()
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

set(tacit_warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wpointer-arith -Wwrite-strings -Wformat=2
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough
  # The secret and the public vector are different types: no compiler default may let one
  # pass for the other.
  -Werror=incompatible-pointer-types -Werror=int-conversion
  -Werror=implicit-function-declaration)
if(TACIT_WERROR)
  list(APPEND tacit_warnings -Werror)
endif()

function(tacit_strict target)
  target_compile_options(${target} PRIVATE ${tacit_warnings})
endfunction()

# src/ and cli/ also: banned functions are errors, and no silent narrowing.
function(tacit_ban target)
  target_compile_options(${target} PRIVATE
    -Wconversion -Wno-sign-conversion
    "SHELL:-include ${CMAKE_SOURCE_DIR}/src/base/banned.h")
endfunction()

# src/math/kernels_*.c, src/math/net_kernels_*.c and src/crypto/streams_*.c: the same loops, compiled
# for several vector widths and chosen when the library first runs. Elsewhere only the *_base.c are built.
function(tacit_kernel_flags sources)
  set(math ${CMAKE_SOURCE_DIR}/src/math)
  set_source_files_properties(${math}/vector_ops.c PROPERTIES COMPILE_OPTIONS -fno-math-errno) # roots in vectors
  set(crypto ${CMAKE_SOURCE_DIR}/src/crypto)
  set(net_kernels ${math}/net_kernels)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    add_compile_definitions(TACIT_HAVE_X86_KERNELS)
    # Where variables are kept is a quarter of the time of compiling these, and of no use in a debugger.
    set(light -g1)
    if(TACIT_FUZZ) # no reader is in here, and the tests look for undefined behaviour
      list(APPEND light -fno-sanitize=undefined)
    endif()
    # Wide vectors never cross a function that is not inlined: no ABI is at stake.
    set_source_files_properties(${math}/kernels_base.c ${net_kernels}_base.c PROPERTIES COMPILE_OPTIONS "${light};-Wno-psabi;-fno-math-errno")
    set_source_files_properties(${math}/kernels_avx2.c ${net_kernels}_avx2.c PROPERTIES
      COMPILE_OPTIONS "${light};-mavx2;-mfma;-ffp-contract=fast;-fno-math-errno")
    set_source_files_properties(${math}/kernels_avx512.c ${net_kernels}_avx512.c PROPERTIES COMPILE_OPTIONS
      "${light};-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mfma;-ffp-contract=fast;-mprefer-vector-width=512;-fno-math-errno")
    set_source_files_properties(${crypto}/streams_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2")
    set_source_files_properties(${crypto}/streams_avx512.c PROPERTIES COMPILE_OPTIONS
      "-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mprefer-vector-width=512")
  else()
    list(REMOVE_ITEM ${sources} ${math}/kernels_avx2.c ${math}/kernels_avx512.c
      ${net_kernels}_avx2.c ${net_kernels}_avx512.c ${crypto}/streams_avx2.c ${crypto}/streams_avx512.c)
    set(${sources} ${${sources}} PARENT_SCOPE)
  endif()
endfunction()
