/* c_interface MODEL: a C89 program that calls every function of nibu/c.h, with good input and bad.
   Exit status 0: all calls did what the header says. */
#define _POSIX_C_SOURCE 200112L /* fork and poll */
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "c_test.h"

#define LINE "A man is riding a bicycle."
#define TRANSLATION "Ein Mann f\303\244hrt Fahrrad."

static nibu_error* error = NULL;
static nibu_model* model = NULL;
static nibu_translator* translator = NULL;
static nibu_plan* plan = NULL;

static nibu_options* Options(const char* name, const char* value) {
  nibu_options* options = nibu_options_new();
  OK(error, nibu_options_set(options, name, value, &error));
  return options;
}

static nibu_plan* Plan(const char* name, const char* value) {
  nibu_options* options = Options(name, value);
  nibu_plan* made = NULL;
  OK(error, nibu_plan_new(translator, model, options, &made, &error));
  nibu_options_free(options);
  return made;
}

static void TestVersions(void) {
  CHECK(strcmp(nibu_version(), NIBU_VERSION_STRING) == 0);
  CHECK(nibu_version_number() == NIBU_VERSION_NUMBER);
  CHECK(nibu_abi_version() == NIBU_ABI_VERSION);
}

static void TestErrors(void) {
  CHECK(strcmp(nibu_error_message(NULL), "out of memory") == 0);
  CHECK(nibu_error_status(NULL) == NIBU_RESOURCE_EXHAUSTED);
  CHECK(strcmp(nibu_error_option(NULL), "") == 0);
  nibu_error_free(NULL);
  nibu_free(NULL);
}

static void TestOptionTable(void) {
  size_t i;
  int found = 0;
  for (i = 0; i < nibu_option_count(); ++i) {
    CHECK(strlen(nibu_option_name(i)) > 0);
    CHECK(strlen(nibu_option_help(i)) > 0);
    CHECK(strlen(nibu_option_type(i)) > 0);
    CHECK(nibu_option_default(i) != NULL);
    if (strcmp(nibu_option_name(i), "alignment") == 0) {
      ++found;
      CHECK(strcmp(nibu_option_type(i), "word") == 0);
      CHECK(strcmp(nibu_option_default(i), "none") == 0);
      CHECK(strcmp(nibu_option_values(i), "none hard soft") == 0);
    }
  }
  CHECK(found == 1);
  CHECK(nibu_option_name(i) == NULL && nibu_option_help(i) == NULL);
  CHECK(nibu_option_type(i) == NULL && nibu_option_default(i) == NULL);
  CHECK(nibu_option_values(i) == NULL);
}

static void TestOptions(void) {
  const char* list[] = {"a , b", "c"};
  const char* bad[] = {"a", NULL};
  nibu_options* options = nibu_options_new();
  nibu_options* copy;
  OK(error, nibu_options_set(options, "beam_size", "2", &error));
  OK(error, nibu_options_set(options, "threads", "1", &error));
  OK(error, nibu_options_set(options, "compute_type", "float32", NULL));
  OK(error, nibu_options_set_list(options, "end_token", list, 2, &error));
  CHECK(nibu_options_set_list(options, "beam_size", list, 2, NULL) == NIBU_INVALID_ARGUMENT);
  OK(error, nibu_options_add_term(options, "cat", 3, "Katze", 5, &error));
  OK(error, nibu_options_set_glossary(options, "dog\tHund\n# a comment\n", 21, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_glossary(options, "dog", 3, &error));
  REFUSED(NIBU_NOT_FOUND, error, nibu_options_set(options, "beam", "2", &error));
  REFUSED(NIBU_NOT_FOUND, error, nibu_options_set_list(options, "beam", list, 2, &error));
  CHECK(nibu_options_set(options, "beam_size", "two", &error) == NIBU_INVALID_ARGUMENT);
  CHECK(strcmp(nibu_error_option(error), "beam_size") == 0);
  CHECK(strstr(nibu_error_message(error), "two") != NULL);
  nibu_error_free(error);
  error = NULL;
  CHECK(nibu_options_set(options, "beam_size", "two", NULL) == NIBU_INVALID_ARGUMENT);
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set(NULL, "beam_size", "2", &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set(options, NULL, "2", &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set(options, "beam_size", NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_list(NULL, "a", list, 2, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_list(options, NULL, list, 2, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_list(options, "a", NULL, 2, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_list(options, "a", bad, 2, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_add_term(NULL, "a", 1, "b", 1, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_add_term(options, NULL, 1, "b", 1, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_add_term(options, "a", 1, NULL, 1, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_glossary(NULL, "", 0, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_options_set_glossary(options, NULL, 1, &error));
  copy = nibu_options_copy(options);
  CHECK(copy != NULL && nibu_options_copy(NULL) == NULL);
  nibu_options_free(options);
  OK(error, nibu_options_set(copy, "beam_size", "3", &error));
  nibu_options_free(copy);
  nibu_options_free(NULL);
}

static void TestModel(const char* path) {
  nibu_model* none = NULL;
  nibu_options* options = Options("sentencepiece", "no-such-file");
  char* pieces = NULL;
  char* text = NULL;
  size_t length = 0;
  size_t text_length = 0;
  size_t i;
  for (i = 0; nibu_model_fact_name(i) != NULL; ++i) {
    CHECK(nibu_model_fact(model, nibu_model_fact_name(i)) != NULL);
  }
  CHECK(i > 15);
  CHECK(strcmp(nibu_model_fact(model, "path"), path) == 0);
  CHECK(strcmp(nibu_model_fact(model, "compute_type"), "float32") == 0);
  CHECK(strcmp(nibu_model_fact(model, "has_tokenizer"), "true") == 0);
  CHECK(atol(nibu_model_fact(model, "weight_bytes")) > 0);
  CHECK(nibu_model_fact(model, "weather") == NULL && nibu_model_fact(model, NULL) == NULL);
  CHECK(nibu_model_fact(NULL, "path") == NULL);

  OK(error, nibu_model_tokenize(model, LINE, strlen(LINE), &pieces, &length, &error));
  CHECK(strlen(pieces) == length && strchr(pieces, ' ') != NULL);
  nibu_free(pieces);
  OK(error,
     nibu_model_tokenize_target(model, TRANSLATION, strlen(TRANSLATION), &pieces, NULL, &error));
  OK(error, nibu_model_detokenize(model, pieces, strlen(pieces), &text, &text_length, &error));
  CHECK(strcmp(text, TRANSLATION) == 0 && text_length == strlen(TRANSLATION));
  nibu_free(pieces);
  nibu_free(text);
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_tokenize(NULL, "a", 1, &pieces, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_tokenize(model, "a", 1, NULL, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_model_tokenize_target(model, NULL, 1, &pieces, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_detokenize(NULL, "a", 1, &text, NULL, &error));
  CHECK(pieces == NULL && text == NULL);

  REFUSED(NIBU_NOT_FOUND, error, nibu_model_load("/no/such/model", NULL, &none, &error));
  REFUSED(NIBU_NOT_FOUND, error, nibu_model_load(path, options, &none, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_load(path, NULL, NULL, &error));
  CHECK(none == NULL);
  nibu_options_free(options);
  CHECK(nibu_model_retain(model) == model && nibu_model_retain(NULL) == NULL);
  nibu_model_free(model);
  nibu_model_free(NULL);
}

static void TestPivot(void) {
  nibu_model* both = NULL;
  nibu_model* more = NULL;
  OK(error, nibu_model_pivot(model, model, &both, &error));
  CHECK(strcmp(nibu_model_fact(both, "pivot"), nibu_model_fact(model, "path")) == 0);
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_pivot(both, model, &more, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_pivot(NULL, model, &more, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_pivot(model, NULL, &more, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_model_pivot(model, model, NULL, &error));
  nibu_model_free(both);
}

static void TestTranslatorAndPlan(void) {
  nibu_plan* made = NULL;
  nibu_options* options = Options("tgt_lang", "xx");
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_translator_new(NULL, NULL, &error));
  CHECK(nibu_translator_figure(translator, "threads") == 2);
  CHECK(nibu_translator_figure(translator, "sentences") >= 0);
  CHECK(nibu_translator_figure(translator, "translated_sentences") >= 0);
  CHECK(nibu_translator_figure(translator, "waiting") >= 0);
  CHECK(nibu_translator_figure(translator, "begun") >= 0);
  CHECK(nibu_translator_figure(translator, "waited_seconds") >= 0);
  CHECK(nibu_translator_figure(translator, "steps") >= 0);
  CHECK(nibu_translator_figure(translator, "step_sentences") >= 0);
  CHECK(nibu_translator_figure(translator, "weather") < 0);
  CHECK(nibu_translator_figure(translator, NULL) < 0);
  CHECK(nibu_translator_figure(NULL, "threads") == 0);

  CHECK(nibu_plan_new(translator, model, options, &made, &error) == NIBU_INVALID_ARGUMENT);
  CHECK(made == NULL && strcmp(nibu_error_option(error), "tgt_lang") == 0);
  nibu_error_free(error);
  error = NULL;
  nibu_options_free(options);
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_plan_new(NULL, model, NULL, &made, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_plan_new(translator, NULL, NULL, &made, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_plan_new(translator, model, NULL, NULL, &error));
  nibu_translator_release_unloaded(translator);
  nibu_translator_release_unloaded(NULL);
  nibu_translator_free(NULL);
  nibu_plan_free(NULL);
}

static void TestTranslate(void) {
  const char* texts[] = {LINE, "", LINE "\n\n" LINE "\n"};
  const char* with_null[] = {"A dog.", NULL};
  size_t lengths[] = {26, 0, 26};
  nibu_plan* cut = Plan("max_decoding_length", "3");
  nibu_result* result = NULL;
  size_t length = 0;
  OK(error, nibu_translate(translator, plan, texts, NULL, 3, NULL, &result, &error));
  CHECK(nibu_result_count(result) == 3);
  CHECK(nibu_result_hypothesis_count(result, 0) == 1);
  CHECK(strcmp(nibu_result_text(result, 0, 0, &length), TRANSLATION) == 0);
  CHECK(length == strlen(TRANSLATION));
  CHECK(strcmp(nibu_result_text(result, 1, 0, NULL), "") == 0);
  CHECK(strcmp(nibu_result_text(result, 2, 0, NULL), TRANSLATION "\n\n" TRANSLATION "\n") == 0);
  CHECK(nibu_result_finished(result, 0, 0) == 1);
  CHECK(strcmp(nibu_result_end_token(result, 0, 0), "</s>") == 0);
  CHECK(strcmp(nibu_result_warnings(result, 0, 0), "") == 0);
  CHECK(strcmp(nibu_result_source_language(result, 0), "") == 0);
  nibu_result_free(result);

  OK(error, nibu_translate(translator, plan, texts, lengths, 3, NULL, &result, &error));
  CHECK(strcmp(nibu_result_text(result, 2, 0, NULL), TRANSLATION) == 0);
  nibu_result_free(result);
  OK(error, nibu_translate(translator, plan, NULL, NULL, 0, NULL, &result, &error));
  CHECK(nibu_result_count(result) == 0);
  nibu_result_free(result);
  OK(error, nibu_translate(translator, cut, texts, NULL, 1, NULL, &result, &error));
  CHECK(nibu_result_finished(result, 0, 0) == 0);
  CHECK(strstr(nibu_result_warnings(result, 0, 0), "unfinished") != NULL);
  nibu_result_free(result);
  nibu_plan_free(cut);

  lengths[1] = 1;
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_translate(NULL, plan, texts, NULL, 1, NULL, &result, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_translate(translator, NULL, texts, NULL, 1, NULL, &result, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_translate(translator, plan, NULL, NULL, 1, NULL, &result, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_translate(translator, plan, with_null, NULL, 2, NULL, &result, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_translate(translator, plan, with_null, lengths, 2, NULL, &result, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_translate(translator, plan, texts, NULL, 1, NULL, NULL, &error));
  CHECK(result == NULL);
}

static void TestAnotherTranslatorsPlan(void) {
  const char* text = LINE;
  nibu_options* options = Options("threads", "1");
  nibu_translator* other = NULL;
  nibu_result* result = NULL;
  OK(error, nibu_translator_new(options, &other, &error));
  REFUSED(NIBU_FAILED_PRECONDITION, error,
          nibu_translate(other, plan, &text, NULL, 1, NULL, &result, &error));
  nibu_translator_free(other);
  nibu_options_free(options);
}

static void TestResult(void) {
  const char* text = LINE;
  nibu_options* options = Options("alignment", "soft");
  nibu_plan* soft = NULL;
  nibu_result* result = NULL;
  char* json = NULL;
  size_t tokens, pairs = 0, count = 0, length = 0, h, t;
  OK(error, nibu_options_set(options, "num_hypotheses", "2", &error));
  OK(error, nibu_plan_new(translator, model, options, &soft, &error));
  nibu_options_free(options);
  OK(error, nibu_translate(translator, soft, &text, NULL, 1, NULL, &result, &error));
  nibu_plan_free(soft);
  CHECK(nibu_result_hypothesis_count(result, 0) == 2);
  CHECK(nibu_result_score(result, 0, 0) >= nibu_result_score(result, 0, 1));
  for (h = 0; h < 2; ++h) {
    const size_t* alignment = nibu_result_alignment(result, 0, h, &pairs);
    tokens = nibu_result_token_count(result, 0, h);
    CHECK(tokens > 0 && nibu_result_log_prob(result, 0, h) < 0);
    CHECK(nibu_result_token_scores(result, 0, h, &count)[0] < 0 && count == tokens);
    CHECK(pairs == tokens);
    for (t = 0; t < tokens; ++t) {
      CHECK(strlen(nibu_result_token(result, 0, h, t, &length)) == length && length > 0);
      CHECK(alignment[2 * t + 1] == t);
      CHECK(nibu_result_attention(result, 0, h, t, &count)[alignment[2 * t]] > 0);
      CHECK(alignment[2 * t] < count);
    }
    CHECK(nibu_result_token(result, 0, h, tokens, NULL) == NULL);
    CHECK(nibu_result_attention(result, 0, h, tokens, &count) == NULL && count == 0);
  }
  OK(error, nibu_result_json(result, 0, &json, &length, &error));
  CHECK(strlen(json) == length && strstr(json, "\"source\":\"" LINE "\"") != NULL);
  CHECK(strstr(json, "\"attention\"") != NULL);
  nibu_free(json);
  REFUSED(NIBU_OUT_OF_RANGE, error, nibu_result_json(result, 1, &json, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_result_json(NULL, 0, &json, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_result_json(result, 0, NULL, NULL, &error));

  /* Indices beyond the end, and a result that is NULL, give nothing. */
  for (t = 0; t < 2; ++t) {
    const nibu_result* none = t == 0 ? NULL : result;
    CHECK(nibu_result_hypothesis_count(none, 1) == 0);
    for (h = 0; h < 3; ++h) {
      const size_t at = h == 2 ? 0 : 1; /* the text; for h = 2 there is no such hypothesis */
      CHECK(nibu_result_text(none, at, h, &length) == NULL && length == 0);
      CHECK(nibu_result_score(none, at, h) == 0 && nibu_result_log_prob(none, at, h) == 0);
      CHECK(nibu_result_finished(none, at, h) == 0);
      CHECK(nibu_result_end_token(none, at, h) == NULL);
      CHECK(nibu_result_token_count(none, at, h) == 0);
      CHECK(nibu_result_token(none, at, h, 0, &length) == NULL);
      CHECK(nibu_result_token_scores(none, at, h, &count) == NULL && count == 0);
      CHECK(nibu_result_alignment(none, at, h, &pairs) == NULL && pairs == 0);
      CHECK(nibu_result_attention(none, at, h, 0, NULL) == NULL);
      CHECK(nibu_result_warnings(none, at, h) == NULL);
      CHECK(nibu_result_source_label(none, at, 99) == NULL);
    }
    CHECK(nibu_result_source_language(none, 1) == NULL);
  }
  CHECK(nibu_result_count(NULL) == 0);
  nibu_result_free(result);
  nibu_result_free(NULL);
}

static void TestKindsOfText(void) {
  /* A text may have NULs in it. */
  const char* text = "A dog.\0A cat.";
  const size_t length = 13;
  const char* wrapped = "A man is riding\na bicycle.\n";
  const char* page = "<p>A man is riding\na <b>bicycle</b>.</p>";
  nibu_options* options = Options("markup", "html");
  nibu_plan* paragraphs = Plan("text", "paragraphs");
  nibu_plan* document = NULL;
  nibu_result* result = NULL;
  size_t got = 0;
  OK(error, nibu_options_set(options, "text", "document", &error));
  OK(error, nibu_plan_new(translator, model, options, &document, &error));
  nibu_options_free(options);
  OK(error, nibu_translate(translator, plan, &text, &length, 1, NULL, &result, &error));
  CHECK(nibu_result_text(result, 0, 0, &got) != NULL && got > 9);
  nibu_result_free(result);
  OK(error, nibu_translate(translator, paragraphs, &wrapped, NULL, 1, NULL, &result, &error));
  CHECK(strcmp(nibu_result_text(result, 0, 0, NULL), TRANSLATION "\n") == 0);
  nibu_result_free(result);
  OK(error, nibu_translate(translator, document, &page, NULL, 1, NULL, &result, &error));
  CHECK(strncmp(nibu_result_text(result, 0, 0, NULL), "<p>Ein Mann", 11) == 0);
  nibu_result_free(result);
  nibu_plan_free(paragraphs);
  nibu_plan_free(document);
}

static void TestScore(void) {
  const char* texts[] = {LINE, LINE};
  const char* targets[] = {TRANSLATION, "Ein Hund."};
  const char* missing[] = {TRANSLATION, NULL};
  const size_t lengths[] = {26, 26};
  const size_t target_lengths[] = {24, 9};
  nibu_result* result = NULL;
  char* json = NULL;
  OK(error, nibu_score(translator, plan, texts, NULL, targets, NULL, 2, NULL, &result, &error));
  CHECK(nibu_result_log_prob(result, 0, 0) > nibu_result_log_prob(result, 1, 0));
  OK(error, nibu_result_json(result, 1, &json, NULL, &error));
  CHECK(strncmp(json, "{\"id\":1,\"tokens\":[", 18) == 0);
  nibu_free(json);
  nibu_result_free(result);
  OK(error, nibu_score(translator, plan, texts, lengths, targets, target_lengths, 2, NULL, &result,
                       &error));
  nibu_result_free(result);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_score(translator, plan, texts, NULL, missing, NULL, 2, NULL, &result, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_score(translator, plan, texts, NULL, NULL, NULL, 2, NULL, &result, &error));
  CHECK(result == NULL);
}

static void TestRequest(void) {
  const char* texts[] = {LINE, LINE};
  nibu_options* options = Options("sampling_topk", "0");
  nibu_request* request = nibu_request_new();
  nibu_plan* samples = NULL;
  nibu_result* result = NULL;
  nibu_result* again = NULL;
  OK(error, nibu_request_set_target_prefix(request, "Der Mann", 8, &error));
  nibu_request_set_priority(request, 3);
  OK(error, nibu_translate(translator, plan, texts, NULL, 1, request, &result, &error));
  CHECK(strncmp(nibu_result_text(result, 0, 0, NULL), "Der Mann", 8) == 0);
  nibu_result_free(result);
  OK(error, nibu_request_set_target_prefix(request, NULL, 0, &error));

  /* The key of the second text of one call is that of the first text of the other. */
  OK(error, nibu_options_set(options, "beam_size", "1", &error));
  OK(error, nibu_options_set(options, "sampling_temperature", "2", &error));
  OK(error, nibu_plan_new(translator, model, options, &samples, &error));
  nibu_options_free(options);
  nibu_request_set_key(request, 6);
  OK(error, nibu_translate(translator, samples, texts, NULL, 2, request, &result, &error));
  nibu_request_set_key(request, 7);
  OK(error, nibu_translate(translator, samples, texts, NULL, 1, request, &again, &error));
  CHECK(strcmp(nibu_result_text(result, 1, 0, NULL), nibu_result_text(again, 0, 0, NULL)) == 0);
  nibu_result_free(result);
  nibu_result_free(again);
  nibu_plan_free(samples);

  nibu_request_set_deadline(request, 0);
  REFUSED(NIBU_DEADLINE_EXCEEDED, error,
          nibu_translate(translator, plan, texts, NULL, 2, request, &result, &error));
  nibu_request_set_deadline(request, 1e300);
  OK(error, nibu_translate(translator, plan, texts, NULL, 2, request, &result, &error));
  nibu_result_free(result);
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_request_set_target(NULL, "a", 1, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_request_set_target(request, NULL, 1, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_request_set_target_prefix(NULL, "a", 1, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_request_set_target_prefix(request, NULL, 1, &error));
  nibu_request_set_priority(NULL, 1);
  nibu_request_set_deadline(NULL, 1);
  nibu_request_set_queue_timeout(NULL, 1);
  nibu_request_set_key(NULL, 1);
  nibu_request_free(request);
  nibu_request_free(NULL);
}

/* Counts the calls of a test's callbacks and keeps what they got. */
struct Answers {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int called, destroyed, ok, cancelled, late;
  char text[256];
};

static struct Answers* NewAnswers(void) {
  struct Answers* answers = (struct Answers*)calloc(1, sizeof(*answers));
  pthread_mutex_init(&answers->mutex, NULL);
  pthread_cond_init(&answers->changed, NULL);
  return answers;
}

static void Take(void* user, nibu_status status, nibu_result* result, nibu_error* failed) {
  struct Answers* answers = (struct Answers*)user;
  pthread_mutex_lock(&answers->mutex);
  ++answers->called;
  answers->ok += status == NIBU_OK;
  answers->cancelled += status == NIBU_CANCELLED;
  answers->late += status == NIBU_DEADLINE_EXCEEDED;
  CHECK((status == NIBU_OK) == (result != NULL) && (status == NIBU_OK) == (failed == NULL));
  if (result != NULL) strncpy(answers->text, nibu_result_text(result, 0, 0, NULL), 255);
  pthread_mutex_unlock(&answers->mutex);
  nibu_result_free(result);
  nibu_error_free(failed);
}

static void Destroy(void* user) {
  struct Answers* answers = (struct Answers*)user;
  pthread_mutex_lock(&answers->mutex);
  ++answers->destroyed;
  pthread_cond_signal(&answers->changed);
  pthread_mutex_unlock(&answers->mutex);
}

static void Await(struct Answers* answers, int destroyed) {
  pthread_mutex_lock(&answers->mutex);
  while (answers->destroyed < destroyed) pthread_cond_wait(&answers->changed, &answers->mutex);
  pthread_mutex_unlock(&answers->mutex);
}

static void TestSubmit(void) {
  struct Answers* answers = NewAnswers();
  nibu_request* request = nibu_request_new();
  nibu_ticket* ticket = NULL;
  char* two_lines = (char*)malloc(64);
  /* The text is copied, and the ticket may be freed at any time. */
  strcpy(two_lines, LINE "\n" LINE);
  OK(error,
     nibu_submit(translator, plan, two_lines, 53, NULL, Take, answers, Destroy, &ticket, &error));
  strcpy(two_lines, "nonsense");
  free(two_lines);
  nibu_ticket_free(ticket);
  nibu_ticket_free(NULL);
  Await(answers, 1);
  CHECK(answers->called == 1 && answers->ok == 1);
  CHECK(strcmp(answers->text, TRANSLATION "\n" TRANSLATION) == 0);
  OK(error, nibu_submit(translator, plan, NULL, 0, NULL, Take, answers, Destroy, NULL, &error));
  Await(answers, 2);
  CHECK(answers->called == 2 && strcmp(answers->text, "") == 0);
  nibu_request_set_deadline(request, 0);
  nibu_request_set_queue_timeout(request, -1);
  OK(error, nibu_submit(translator, plan, LINE, 26, request, Take, answers, Destroy, NULL, &error));
  Await(answers, 3);
  CHECK(answers->late == 1);
  nibu_request_set_deadline(request, -1);
  OK(error, nibu_request_set_target(request, TRANSLATION, 24, &error));
  OK(error, nibu_submit(translator, plan, LINE, 26, request, Take, answers, Destroy, NULL, &error));
  Await(answers, 4);
  CHECK(answers->ok == 3 && strcmp(answers->text, TRANSLATION) == 0);

  /* A call that is refused destroys its user pointer at once, and gets no answer. */
  REFUSED(
      NIBU_INVALID_ARGUMENT, error,
      nibu_submit(translator, plan, "a\nb", 3, request, Take, answers, Destroy, &ticket, &error));
  CHECK(answers->destroyed == 5);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_submit(NULL, plan, "a", 1, NULL, Take, answers, Destroy, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_submit(translator, NULL, "a", 1, NULL, Take, answers, Destroy, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_submit(translator, plan, NULL, 1, NULL, Take, answers, Destroy, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_submit(translator, plan, "a", 1, NULL, NULL, answers, Destroy, NULL, &error));
  CHECK(answers->destroyed == 9 && answers->called == 4 && ticket == NULL);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_submit(translator, plan, "a", 1, NULL, NULL, NULL, NULL, NULL, &error));
  nibu_request_free(request);
  free(answers);
}

/* What the callbacks below have seen. */
struct Told {
  struct Answers* answers;
  char text[256];
  int last, refused;
};

static int TakeStep(void* user, const nibu_step* step) {
  struct Told* told = (struct Told*)user;
  nibu_result* result = NULL;
  const char* line = LINE;
  size_t length = 0;
  CHECK(nibu_step_token(step, &length) != NULL && length == strlen(nibu_step_token(step, NULL)));
  CHECK(nibu_step_sentence(step) == 0 && nibu_step_hypothesis(step) == 0);
  CHECK(nibu_step_log_prob(step) <= 0);
  strncat(told->text, nibu_step_text(step, NULL), 255 - strlen(told->text));
  told->last += nibu_step_is_last(step);
  told->refused += nibu_translate(translator, plan, &line, NULL, 1, NULL, &result, NULL) ==
                   NIBU_FAILED_PRECONDITION;
  return nibu_step_position(step) == 3;
}

static void TakeAndWait(void* user, nibu_status status, nibu_result* result, nibu_error* failed) {
  struct Told* told = (struct Told*)user;
  nibu_result* more = NULL;
  const char* line = LINE;
  told->refused += nibu_translate(translator, plan, &line, NULL, 1, NULL, &more, NULL) ==
                   NIBU_FAILED_PRECONDITION;
  Take(told->answers, status, result, failed);
}

static void TakeNothing(void* user, nibu_status status, nibu_result* result, nibu_error* failed) {
  (void)user;
  (void)status;
  nibu_result_free(result);
  nibu_error_free(failed);
}

static void DestroyTold(void* user) { Destroy(((struct Told*)user)->answers); }

static void TestSteps(void) {
  struct Told told;
  nibu_request* request = nibu_request_new();
  nibu_plan* greedy = Plan("beam_size", "1");
  memset(&told, 0, sizeof(told));
  told.answers = NewAnswers();
  nibu_request_set_step_callback(request, TakeStep, &told);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_submit(translator, plan, LINE, 26, request, Take, told.answers, NULL, NULL, &error));
  OK(error, nibu_submit(translator, greedy, LINE, 26, request, TakeAndWait, &told, DestroyTold,
                        NULL, &error));
  Await(told.answers, 1);
  CHECK(told.last == 0 && told.refused == 5 && strcmp(told.text, told.answers->text) == 0);
  nibu_request_set_step_callback(request, NULL, NULL);
  OK(error, nibu_submit(translator, greedy, LINE, 26, request, TakeAndWait, &told, DestroyTold,
                        NULL, &error));
  Await(told.answers, 2);
  CHECK(told.refused == 6 && strcmp(told.answers->text, TRANSLATION) == 0);
  nibu_request_set_step_callback(NULL, TakeStep, NULL);
  CHECK(nibu_step_text(NULL, NULL) == NULL && nibu_step_token(NULL, NULL) == NULL);
  CHECK(nibu_step_sentence(NULL) == 0 && nibu_step_hypothesis(NULL) == 0);
  CHECK(nibu_step_position(NULL) == 0 && nibu_step_log_prob(NULL) == 0);
  CHECK(nibu_step_is_last(NULL) == 0);
  nibu_plan_free(greedy);
  nibu_request_free(request);
  free(told.answers);
}

/* Submits with the translator's own plan while it is being freed. */
static void TakeAndSubmit(void* user, nibu_status status, nibu_result* result, nibu_error* failed) {
  nibu_translator* opened = (nibu_translator*)user;
  nibu_error* refused = NULL;
  nibu_status more;
  sleep(1);
  more = nibu_submit(opened, NULL, LINE, 26, NULL, TakeNothing, NULL, NULL, NULL, &refused);
  CHECK(more == NIBU_OK || more == NIBU_FAILED_PRECONDITION);
  nibu_error_free(refused);
  TakeNothing(NULL, status, result, failed);
}

static void TestOpen(const char* path) {
  nibu_options* options = Options("alignment", "hard");
  nibu_translator* opened = NULL;
  nibu_result* result = NULL;
  const char* texts[] = {LINE, "Two dogs."};
  char* json = NULL;
  OK(error, nibu_options_set(options, "compute_type", "float32", &error));
  OK(error, nibu_options_set(options, "threads", "1", &error));
  OK(error, nibu_open(path, options, &opened, &error));
  OK(error, nibu_translate(opened, NULL, texts, NULL, 2, NULL, &result, &error));
  CHECK(strcmp(nibu_result_text(result, 0, 0, NULL), TRANSLATION) == 0);
  CHECK(strcmp(nibu_result_source_label(result, 1, 0), "\xe2\x96\x81Two") == 0);
  CHECK(nibu_result_source_label(result, 1, 99) == NULL);
  OK(error, nibu_result_json(result, 0, &json, NULL, &error));
  CHECK(strstr(json, "alignment") != NULL);
  nibu_free(json);
  nibu_result_free(result);
  OK(error, nibu_submit(opened, NULL, LINE, 26, NULL, TakeAndSubmit, opened, NULL, NULL, &error));
  nibu_translator_free(opened);
  REFUSED(NIBU_NOT_FOUND, error, nibu_open("/no/such/model", NULL, &opened, &error));
  CHECK(opened == NULL);
  OK(error, nibu_options_set(options, "num_hypotheses", "9", &error));
  CHECK(nibu_open(path, options, &opened, &error) == NIBU_INVALID_ARGUMENT);
  CHECK(strcmp(nibu_error_option(error), "num_hypotheses") == 0);
  nibu_error_free(error);
  error = NULL;
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_open(path, NULL, NULL, &error));
  nibu_options_free(options);
}

/* The translator ends before the requests, whose plan and ticket are freed after it. */
static void TestCancelAndEnd(void) {
  enum { kRequests = 60 };
  struct Answers* answers = NewAnswers();
  nibu_options* options = Options("threads", "1");
  nibu_request* request = nibu_request_new();
  nibu_translator* other = NULL;
  nibu_plan* made = NULL;
  nibu_ticket* tickets[kRequests];
  int i;
  OK(error, nibu_options_set(options, "queue_size", "4", &error));
  OK(error, nibu_translator_new(options, &other, &error));
  OK(error, nibu_plan_new(other, model, options, &made, &error));
  nibu_request_set_queue_timeout(request, -1);
  for (i = 0; i < kRequests; ++i) {
    OK(error,
       nibu_submit(other, made, LINE, 26, request, Take, answers, Destroy, &tickets[i], &error));
    if (i % 2 == 0) nibu_cancel(other, tickets[i]);
    nibu_cancel(translator, tickets[i]); /* It is not this translator's. */
  }
  Await(answers, kRequests / 2);
  nibu_cancel(other, tickets[0]); /* It has ended. */
  nibu_cancel(NULL, tickets[0]);
  nibu_cancel(other, NULL);
  nibu_request_set_queue_timeout(request, 0);
  for (i = 0; i < kRequests; ++i) { /* Some find the queue full. */
    const nibu_status status =
        nibu_submit(other, made, LINE, 26, request, Take, answers, Destroy, NULL, &error);
    CHECK(status == NIBU_OK || status == NIBU_RESOURCE_EXHAUSTED);
    nibu_error_free(error);
    error = NULL;
  }
  nibu_request_free(request);
  nibu_options_free(options);
  nibu_translator_free(other);
  CHECK(answers->destroyed == 2 * kRequests && answers->called >= kRequests);
  CHECK(answers->cancelled >= 1 && answers->cancelled <= kRequests / 2);
  CHECK(answers->ok == answers->called - answers->cancelled);
  nibu_plan_free(made);
  for (i = 0; i < kRequests; ++i) nibu_ticket_free(tickets[i]);
  free(answers);
}

static void TestCancelAll(void) {
  enum { kRequests = 30 };
  struct Answers* answers = NewAnswers();
  nibu_request* request = nibu_request_new();
  int i;
  nibu_request_set_queue_timeout(request, -1);
  for (i = 0; i < kRequests; ++i) {
    OK(error,
       nibu_submit(translator, plan, LINE, 26, request, Take, answers, Destroy, NULL, &error));
    nibu_translator_cancel_all(translator);
  }
  nibu_translator_cancel_all(NULL);
  Await(answers, kRequests);
  CHECK(answers->called == kRequests && answers->ok + answers->cancelled == kRequests);
  CHECK(answers->cancelled >= 1);
  nibu_request_free(request);
  free(answers);
}

static void TestCompletions(void) {
  nibu_completions* completions = NULL;
  nibu_request* request = nibu_request_new();
  nibu_ticket* ticket = NULL;
  nibu_result* result = NULL;
  nibu_error* failed = NULL;
  nibu_status status = NIBU_INTERNAL;
  uint64_t tag = 0;
  uint64_t sum = 0;
  struct pollfd poll_fd;
  int left = 3;
  OK(error, nibu_completions_new(&completions, &error));
  poll_fd.fd = nibu_completions_fd(completions);
  poll_fd.events = POLLIN;
  CHECK(poll(&poll_fd, 1, 0) == 0);
  CHECK(nibu_completions_next(completions, &tag, &status, &result, &failed) == 0);
  OK(error,
     nibu_completions_submit(completions, translator, plan, LINE, 26, NULL, 1, &ticket, &error));
  nibu_ticket_free(ticket);
  OK(error,
     nibu_completions_submit(completions, translator, plan, LINE, 26, NULL, 2, NULL, &error));
  nibu_request_set_deadline(request, 0);
  OK(error,
     nibu_completions_submit(completions, translator, plan, LINE, 26, request, 4, NULL, &error));
  while (left > 0) {
    CHECK(poll(&poll_fd, 1, -1) == 1);
    while (nibu_completions_next(completions, &tag, &status, &result, &failed) == 1) {
      --left;
      sum += tag;
      CHECK(status == (tag == 4 ? NIBU_DEADLINE_EXCEEDED : NIBU_OK));
      CHECK((result == NULL) == (tag == 4) && nibu_error_status(failed) != NIBU_OK);
      nibu_result_free(result);
      nibu_error_free(failed);
    }
  }
  CHECK(sum == 7 && poll(&poll_fd, 1, 0) == 0);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_completions_submit(completions, translator, NULL, "", 0, NULL, 1, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_completions_submit(NULL, translator, plan, "", 0, NULL, 1, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_completions_new(NULL, &error));
  CHECK(nibu_completions_fd(NULL) == -1);
  CHECK(nibu_completions_next(NULL, NULL, NULL, NULL, NULL) == 0);

  /* An answer that nobody looks at, one that is still in the queue, and one that comes later. */
  OK(error, nibu_completions_submit(completions, translator, plan, "", 0, NULL, 1, NULL, &error));
  OK(error, nibu_completions_submit(completions, translator, plan, "", 0, NULL, 1, NULL, &error));
  CHECK(nibu_completions_next(completions, NULL, NULL, NULL, NULL) == 1);
  OK(error,
     nibu_completions_submit(completions, translator, plan, LINE, 26, NULL, 1, NULL, &error));
  nibu_completions_free(completions);
  nibu_completions_free(NULL);
  nibu_request_free(request);
}

static void TestLanguages(void) {
  const char* german = "Das ist ein Satz in deutscher Sprache.";
  nibu_detector* detector = NULL;
  nibu_languages* languages = NULL;
  OK(error, nibu_detector_new("en,de,fr", &detector, &error));
  OK(error, nibu_detector_detect(detector, german, strlen(german), NULL, &languages, &error));
  CHECK(nibu_languages_count(languages) >= 1);
  CHECK(strcmp(nibu_languages_code(languages, 0), "de") == 0);
  CHECK(nibu_languages_confidence(languages, 0) > 0.5);
  CHECK(nibu_languages_code(languages, 9) == NULL && nibu_languages_confidence(languages, 9) == 0);
  nibu_languages_free(languages);
  OK(error, nibu_detector_detect(detector, "<p>", 3, "html", &languages, &error));
  CHECK(nibu_languages_count(languages) == 0);
  nibu_languages_free(languages);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_detector_detect(detector, "a", 1, "tex", &languages, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_detector_detect(NULL, "a", 1, NULL, &languages, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_detector_detect(detector, NULL, 1, NULL, &languages, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_detector_detect(detector, "a", 1, NULL, NULL, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_detector_new(NULL, NULL, &error));
  CHECK(nibu_languages_count(NULL) == 0 && nibu_languages_code(NULL, 0) == NULL);
  nibu_detector_free(detector);
  OK(error, nibu_detector_new(NULL, &detector, &error));
  nibu_detector_free(detector);
  nibu_detector_free(NULL);
  nibu_languages_free(NULL);
}

static void TestSentences(void) {
  const char* text = "Mr. Smith is here. Is he?";
  nibu_splitter* splitter = NULL;
  size_t* bounds = NULL;
  size_t count = 0;
  OK(error, nibu_splitter_new("en-US", &splitter, &error));
  OK(error, nibu_splitter_split(splitter, text, strlen(text), &bounds, &count, &error));
  CHECK(count == 2 && bounds[0] == 0 && bounds[1] == 18 && bounds[2] == 19 && bounds[3] == 25);
  nibu_free(bounds);
  OK(error, nibu_splitter_split(splitter, NULL, 0, &bounds, &count, &error));
  CHECK(count == 0 && bounds != NULL);
  nibu_free(bounds);
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_splitter_split(splitter, NULL, 1, &bounds, &count, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_splitter_split(NULL, "a", 1, &bounds, &count, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_splitter_split(splitter, "a", 1, NULL, &count, &error));
  REFUSED(NIBU_INVALID_ARGUMENT, error,
          nibu_splitter_split(splitter, "a", 1, &bounds, NULL, &error));
  nibu_splitter_free(splitter);
  REFUSED(NIBU_INVALID_ARGUMENT, error, nibu_splitter_new("no language", &splitter, &error));
  CHECK(splitter == NULL);
  nibu_splitter_free(NULL);
}

/* The error of a forked child says what it has to do. */
static void TestFork(void) {
  const char* text = LINE;
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    nibu_result* result = NULL;
    failures = 0;
    CHECK(nibu_translate(translator, plan, &text, NULL, 1, NULL, &result, &error) ==
          NIBU_FAILED_PRECONDITION);
    CHECK(strstr(nibu_error_message(error), "make one of the child's own") != NULL);
    _exit(failures);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char** argv) {
  nibu_options* options = Options("compute_type", "float32");
  if (argc != 2) return 2;
  OK(error, nibu_options_set(options, "threads", "2", &error));
  OK(error, nibu_model_load(argv[1], options, &model, &error));
  OK(error, nibu_translator_new(options, &translator, &error));
  OK(error, nibu_plan_new(translator, model, options, &plan, &error));
  nibu_options_free(options);
  TestVersions();
  TestErrors();
  TestOptionTable();
  TestOptions();
  TestModel(argv[1]);
  TestPivot();
  TestTranslatorAndPlan();
  TestTranslate();
  TestAnotherTranslatorsPlan();
  TestResult();
  TestKindsOfText();
  TestScore();
  TestRequest();
  TestSubmit();
  TestSteps();
  TestOpen(argv[1]);
  TestCancelAndEnd();
  TestCancelAll();
  TestCompletions();
  TestLanguages();
  TestSentences();
  TestFork();
  /* Objects may be freed in any order: the plan keeps the model, and requests keep the plan. */
  nibu_model_free(model);
  nibu_translator_free(translator);
  nibu_plan_free(plan);
  printf("nibu %s: %d failures\n", nibu_version(), failures);
  return failures == 0 ? 0 : 1;
}
