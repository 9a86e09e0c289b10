# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=... -DFLAGS="..." -DSOURCE=x.cpp -P check.cmake: the file must compile as it is, and must not with its
# mistake, which is all that ATTN_MISTAKE adds; so the mistake is what the compiler refuses.
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
set(command "${COMPILER}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only ${FLAGS} "${SOURCE}")
execute_process(COMMAND ${command} RESULT_VARIABLE right ERROR_VARIABLE messages)
if(NOT right EQUAL 0)
  message(FATAL_ERROR "refused without its mistake:\n${messages}")
endif()
execute_process(COMMAND ${command} -DATTN_MISTAKE RESULT_VARIABLE wrong ERROR_VARIABLE messages)
if(wrong EQUAL 0)
  message(FATAL_ERROR "accepted with its mistake")
endif()
