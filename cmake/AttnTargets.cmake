# SPDX-License-Identifier: Apache-2.0
# attn_add_folder(<name> SOURCES ... USES <folders> LINKS <targets>): one object library per folder of src/.
# attn_add_libraries(): the installed libraries attn_core and attn, and attn_internal, a static library of
# everything for tests that reach below the public face (hidden symbols cannot be reached through a shared one).

set(ATTN_CORE_FOLDERS base runtime kernels ops autograd)
set(ATTN_FULL_FOLDERS io nn models train inspect draw)

function(attn_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wpedantic)
  if(ATTN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ATTN_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ATTN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${ATTN_SANITIZE})
    # Instrumented code hides from g++ what has been initialised (std::regex, for one); the other builds do warn.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
  # Contraction would let the compiler fuse a*b+c where it likes: the order of operations is ours to state.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  # Three x86 sets are enough: AVX-512, AVX2, the compiler's baseline; on Arm NEON, since vectors of unknown size cannot
  # be elements of arrays (bits 18, 19 and 23 to 27 are SVE's, in Highway 1.0 or 1.2). Sanitizers do without AVX-512
  # (bit 8), whose code is the same templates and takes minutes to instrument.
  target_compile_definitions(${target} PRIVATE HWY_DISABLED_TARGETS=${ATTN_HIGHWAY_DISABLED})
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

function(attn_add_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_library(attn_${name} OBJECT ${ARG_SOURCES})
  attn_compile_options(attn_${name})
  target_include_directories(attn_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(attn_${name} PRIVATE ${ARG_LINKS})
  foreach(used IN LISTS ARG_USES)
    target_link_libraries(attn_${name} PRIVATE attn_${used})
  endforeach()
  set_property(GLOBAL PROPERTY attn_${name}_links "${ARG_LINKS}")
endfunction()

function(attn_make_library target folders)
  # Generators want a source of the library's own beside the folders' objects.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/anchor.cpp" CONTENT "")
  add_library(${target} ${ARGN} "${PROJECT_BINARY_DIR}/anchor.cpp")
  attn_compile_options(${target})
  foreach(folder IN LISTS folders)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:attn_${folder}>)
    get_property(links GLOBAL PROPERTY attn_${folder}_links)
    target_link_libraries(${target} PRIVATE ${links})
  endforeach()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# What is installed exports namespace attn and nothing else: hiding by flags alone lets instances of the standard
# library's templates through. An installed library finds its sibling beside itself.
function(attn_make_public_library target export_name folders)
  attn_make_library(${target} "${folders}")
  add_library(attn::${export_name} ALIAS ${target})
  set(exports "${PROJECT_SOURCE_DIR}/cmake/exports.map")
  # Aggregates gain fields from one minor release to the next, so the ABI changes with it.
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${export_name} LINK_DEPENDS "${exports}" INSTALL_RPATH "$ORIGIN"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(BUILD_SHARED_LIBS)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
  endif()
endfunction()

function(attn_add_libraries)
  set(all ${ATTN_CORE_FOLDERS})
  attn_make_public_library(attn_core core "${ATTN_CORE_FOLDERS}")
  if(ATTN_BUILD_FULL)
    list(APPEND all ${ATTN_FULL_FOLDERS})
    attn_make_public_library(attn attn "${ATTN_FULL_FOLDERS}")
    target_link_libraries(attn PUBLIC attn_core)
  endif()
  attn_make_library(attn_internal "${all}" STATIC EXCLUDE_FROM_ALL)
  target_include_directories(attn_internal PUBLIC "${PROJECT_SOURCE_DIR}/src")
endfunction()
