/* c_threads MODEL: a C89 program whose four threads share a model, a translator, a plan and a
   request, translate, submit and cancel at the same time, and expect what one thread got before.
   The thread sanitizer watches it. Exit status 0: all results were right. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "c_test.h"

enum { kThreads = 4, kRounds = 6, kTexts = 3 };

static const char* const kLines[kTexts] = {"A man is riding a bicycle.",
                                           "Two dogs are playing in the snow.",
                                           "A dog.\nA woman is singing on a stage."};

static nibu_model* model = NULL;
static nibu_translator* translator = NULL;
static nibu_plan* plan = NULL;
static nibu_request* request = NULL;
static nibu_result* expected = NULL;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int called = 0;
static int destroyed = 0;

static void Take(void* user, nibu_status status, nibu_result* result, nibu_error* error) {
  const size_t text = *(const size_t*)user;
  pthread_mutex_lock(&mutex);
  ++called;
  CHECK(status == NIBU_OK || status == NIBU_CANCELLED);
  CHECK(result == NULL || strcmp(nibu_result_text(result, 0, 0, NULL),
                                 nibu_result_text(expected, text, 0, NULL)) == 0);
  pthread_mutex_unlock(&mutex);
  nibu_result_free(result);
  nibu_error_free(error);
}

static void Destroy(void* user) {
  pthread_mutex_lock(&mutex);
  ++destroyed;
  pthread_mutex_unlock(&mutex);
  free(user);
}

static void* Run(void* unused) {
  nibu_error* error = NULL;
  int round;
  (void)unused;
  for (round = 0; round < kRounds; ++round) {
    const size_t text = (size_t)round % kTexts;
    size_t* user = (size_t*)malloc(sizeof(size_t));
    nibu_result* result = NULL;
    nibu_ticket* ticket = NULL;
    nibu_plan* own = NULL;
    nibu_model* kept = nibu_model_retain(model);
    *user = text;
    OK(error, nibu_submit(translator, plan, kLines[text], strlen(kLines[text]), request, Take, user,
                          Destroy, &ticket, &error));
    OK(error, nibu_plan_new(translator, kept, NULL, &own, &error));
    if (round % 2 == 0) nibu_cancel(translator, ticket);
    OK(error, nibu_translate(translator, round % 2 == 0 ? plan : own, kLines, NULL, kTexts, request,
                             &result, &error));
    pthread_mutex_lock(&mutex);
    CHECK(round % 2 != 0 || strcmp(nibu_result_text(result, text, 0, NULL),
                                   nibu_result_text(expected, text, 0, NULL)) == 0);
    CHECK(nibu_translator_figure(translator, "threads") == 2);
    pthread_mutex_unlock(&mutex);
    nibu_result_free(result);
    nibu_ticket_free(ticket);
    nibu_plan_free(own);
    nibu_model_free(kept);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  nibu_options* options = nibu_options_new();
  nibu_error* error = NULL;
  int i;
  if (argc != 2) return 2;
  OK(error, nibu_options_set(options, "compute_type", "float32", &error));
  OK(error, nibu_options_set(options, "beam_size", "1", &error));
  OK(error, nibu_options_set(options, "threads", "2", &error));
  OK(error, nibu_model_load(argv[1], options, &model, &error));
  OK(error, nibu_translator_new(options, &translator, &error));
  OK(error, nibu_plan_new(translator, model, options, &plan, &error));
  nibu_options_free(options);
  request = nibu_request_new();
  nibu_request_set_queue_timeout(request, -1);
  OK(error, nibu_translate(translator, plan, kLines, NULL, kTexts, NULL, &expected, &error));
  for (i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Run, NULL);
  for (i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  nibu_model_free(model);
  nibu_plan_free(plan);
  nibu_request_free(request);
  nibu_translator_free(translator); /* It finishes all requests. */
  CHECK(called == kThreads * kRounds && destroyed == kThreads * kRounds);
  nibu_result_free(expected);
  printf("%d answers, %d failures\n", called, failures);
  return failures == 0 ? 0 : 1;
}
