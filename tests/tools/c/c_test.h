/* Checks that the C programs in this folder share. */
#ifndef NIBU_TESTS_TOOLS_TEXT_C_C_TEST_H_
#define NIBU_TESTS_TOOLS_TEXT_C_C_TEST_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nibu/c.h"

static int failures = 0;

/* Counts and prints a condition that does not hold. */
#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      fprintf(stderr, "%s:%d: not: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                          \
    }                                                                      \
  } while (0)

/* Checks that a call fails with a status and an error that has this status, and frees the error. */
#define REFUSED(expected, error, call)             \
  do {                                             \
    CHECK((call) == (expected));                   \
    CHECK((error) != NULL);                        \
    CHECK(nibu_error_status(error) == (expected)); \
    CHECK(strlen(nibu_error_message(error)) > 0);  \
    nibu_error_free(error);                        \
    (error) = NULL;                                \
  } while (0)

/* Checks that a call succeeds. If it does not, prints the error and ends the program. */
#define OK(error, call)                                                              \
  do {                                                                               \
    if ((call) != NIBU_OK) {                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, nibu_error_message(error)); \
      exit(1);                                                                       \
    }                                                                                \
    CHECK((error) == NULL);                                                          \
  } while (0)

#endif /* NIBU_TESTS_TOOLS_TEXT_C_C_TEST_H_ */
