/* translate MODEL TEXT: translates a text with the C interface, and says why it cannot.

     cc translate.c $(pkg-config --cflags --libs nibu) -o translate
     ./translate opus-mt-en-fr "A dog runs." */
#include <stdio.h>

#include "nibu/c.h"

int main(int argc, char** argv) {
  nibu_translator* translator = NULL;
  nibu_result* result = NULL;
  nibu_error* error = NULL;
  nibu_status status;
  if (argc != 3) {
    fputs("usage: translate MODEL TEXT\n", stderr);
    return 2;
  }
  status = nibu_open(argv[1], NULL, &translator, &error);
  if (status == NIBU_OK) {
    const char* text = argv[2]; /* The length NULL says that it ends at its NUL. */
    status = nibu_translate(translator, NULL, &text, NULL, 1, NULL, &result, &error);
  }
  if (status == NIBU_OK) {
    puts(nibu_result_text(result, 0, 0, NULL));
  } else {
    fprintf(stderr, "translate: %s\n", nibu_error_message(error));
  }
  nibu_error_free(error); /* Each of these functions accepts NULL. */
  nibu_result_free(result);
  nibu_translator_free(translator);
  return status == NIBU_OK ? 0 : 1;
}
