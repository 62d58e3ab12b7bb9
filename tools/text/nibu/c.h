/* The C interface of nibu: Transformer translation on CPUs. A program:

     #include <stdio.h>
     #include "nibu/c.h"

     int main(void) {
       const char* texts[] = {"Hello world!", "How are you?"};
       nibu_translator* translator = NULL;
       nibu_result* result = NULL;
       nibu_error* error = NULL;
       size_t i;
       if (nibu_open("models/en-de", NULL, &translator, &error) == NIBU_OK &&
           nibu_translate(translator, NULL, texts, NULL, 2, NULL, &result, &error) == NIBU_OK) {
         for (i = 0; i < 2; ++i) puts(nibu_result_text(result, i, 0, NULL));
       } else {
         puts(nibu_error_message(error));
       }
       nibu_error_free(error);
       nibu_result_free(result);
       nibu_translator_free(translator);
       return 0;
     }

   Who has several models or kinds of requests makes each part once: nibu_model_load,
   nibu_translator_new, and nibu_plan_new for each kind of request.

   These rules hold for every function, unless its comment says otherwise.

   Handles. All types are opaque. What a function returns through a pointer belongs to the caller,
   who frees it with the type's own *_free function, once. Every *_free function accepts NULL.
   Handles may be freed in any order: a plan keeps its model alive, and a request its plan.

   Errors. A function that can fail returns a status, and takes as its last argument the address of
   an error object, or NULL. It sets *error to NULL if it succeeds, and otherwise to an object that
   the caller frees. There may be no memory for that object; *error is NULL then, and the status
   alone tells. What a function returns through other pointers is NULL or 0 where it fails. A NULL
   argument that is not allowed is NIBU_INVALID_ARGUMENT. Functions without a status return NULL, 0
   or nothing for it, and likewise for an index out of range. No function ends the process, prints
   anything, or lets a C++ exception out.

   Texts. Texts are UTF-8 with a length in bytes, and may have NULs in them. Bytes that are not
   UTF-8 are unknown characters, never an error. Names, paths and the values of options end at
   their NUL. Arguments are copied before a function returns. What comes out has a NUL behind it,
   which the length does not count. Where a length is returned through a pointer, that may be NULL.

   Threads. Any number of threads may use a handle at the same time, if none of them changes or
   frees it. Functions that change options or a request say so by "set" or "add" in their names.
   A process that was forked must not use its parent's translator, which is refused with
   NIBU_FAILED_PRECONDITION: it makes one of its own. Models may be used there.

   Versions. Functions, names of options and values are only added. A function that had to go or to
   change would come with another NIBU_ABI_VERSION. */
#ifndef NIBU_C_H_
#define NIBU_C_H_

#include <stddef.h>
#include <stdint.h>

#include "nibu/export.h"
#include "nibu/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ---------------------------------------------------------------------------- */

/* The version of this interface. A program that loads the library at run time compares it with
   nibu_abi_version(). */
#define NIBU_ABI_VERSION 1

/* Return the version of the library that the program runs with: as text ("0.1.0"), which lives
   forever; as NIBU_VERSION_NUMBER (100); and its NIBU_ABI_VERSION. Any thread, no errors. */
NIBU_EXPORT const char* nibu_version(void);
NIBU_EXPORT int32_t nibu_version_number(void);
NIBU_EXPORT int32_t nibu_abi_version(void);

/* ---- Errors ------------------------------------------------------------------------------ */

/* How a call or a request ended. The numbers never change; later versions may have more of them. */
typedef int32_t nibu_status;
enum {
  NIBU_OK = 0,
  NIBU_CANCELLED = 1,          /* The request was cancelled. */
  NIBU_INVALID_ARGUMENT = 3,   /* An argument, a file or an option makes no sense. */
  NIBU_DEADLINE_EXCEEDED = 4,  /* The request's time was over. */
  NIBU_NOT_FOUND = 5,          /* There is no such file or option. */
  NIBU_RESOURCE_EXHAUSTED = 8, /* There is not enough memory, or no room in the queue. */
  NIBU_FAILED_PRECONDITION =
      9,                   /* The handle cannot be used so: a forked process, another's plan. */
  NIBU_OUT_OF_RANGE = 11,  /* A text is too long, or an index is out of range. */
  NIBU_UNIMPLEMENTED = 12, /* nibu does not know this kind of model. */
  NIBU_INTERNAL = 13,      /* A mistake in nibu. */
  NIBU_DATA_LOSS = 15      /* The file is damaged. */
};

/* Says why a call or a request failed. Immutable. */
typedef struct nibu_error nibu_error;

/* Return the message, which is one line; the status; and the name of the option that the error is
   about, "" if it is about none. The texts live as long as the error. A NULL error stands for one
   for which there was no memory: NIBU_RESOURCE_EXHAUSTED and "out of memory". */
NIBU_EXPORT const char* nibu_error_message(const nibu_error* error);
NIBU_EXPORT nibu_status nibu_error_status(const nibu_error* error);
NIBU_EXPORT const char* nibu_error_option(const nibu_error* error);
NIBU_EXPORT void nibu_error_free(nibu_error* error);

/* Frees memory that a function returned as a plain char* or size_t* to be freed so. */
NIBU_EXPORT void nibu_free(void* memory);

/* ---- Options ----------------------------------------------------------------------------- */

/* Options by name, as on the command line: how models are loaded, how a translator uses the
   machine, and how texts are translated. One object may have all of them; each function that takes
   options obeys those that concern it. Where options may be NULL, that means the default values. */
typedef struct nibu_options nibu_options;

/* Returns options with their default values; NULL if there is not enough memory. */
NIBU_EXPORT nibu_options* nibu_options_new(void);
/* Returns a copy; NULL if there is not enough memory. */
NIBU_EXPORT nibu_options* nibu_options_copy(const nibu_options* options);
NIBU_EXPORT void nibu_options_free(nibu_options* options);

/* Sets an option from text: ("beam_size", "2"), ("alignment", "hard"), ("threads", "4"). Lists have
   commas between their elements. NIBU_NOT_FOUND: there is no such option; NIBU_INVALID_ARGUMENT:
   the text is not a value of it. */
NIBU_EXPORT nibu_status nibu_options_set(nibu_options* options, const char* name, const char* value,
                                         nibu_error** error);
/* The same from a list of values, which may have commas in them. */
NIBU_EXPORT nibu_status nibu_options_set_list(nibu_options* options, const char* name,
                                              const char* const* values, size_t count,
                                              nibu_error** error);
/* Adds a term to the glossary: a phrase of the source, and one that is to stand for it. */
NIBU_EXPORT nibu_status nibu_options_add_term(nibu_options* options, const char* source,
                                              size_t source_length, const char* target,
                                              size_t target_length, nibu_error** error);
/* Replaces the glossary by the terms of a text, "SOURCE<tab>TARGET" in each line. Empty lines and
   lines that begin with "#" are skipped. NIBU_INVALID_ARGUMENT names a line that makes no sense. */
NIBU_EXPORT nibu_status nibu_options_set_glossary(nibu_options* options, const char* text,
                                                  size_t length, nibu_error** error);

/* Describe the options, for bindings and help texts: their number, and of the option with this
   index, from 0, the name; the help, in sentences; the type ("bool", "int", "float", "text",
   "path", "word", "words" or "numbers"); the default value; and the values that a "word" may have,
   with blanks between them. The texts live forever; NULL: there is no such index. */
NIBU_EXPORT size_t nibu_option_count(void);
NIBU_EXPORT const char* nibu_option_name(size_t option);
NIBU_EXPORT const char* nibu_option_help(size_t option);
NIBU_EXPORT const char* nibu_option_type(size_t option);
NIBU_EXPORT const char* nibu_option_default(size_t option);
NIBU_EXPORT const char* nibu_option_values(size_t option);

/* ---- Models ------------------------------------------------------------------------------ */

/* A loaded model. Immutable, counted: any number of translators may share it. */
typedef struct nibu_model nibu_model;

/* Loads a model. `path` names a directory or a file, several with commas between them for an
   ensemble, or a model by name; NULL or "" is the bundled English-German model. `options` may be
   NULL. The message of an error names the file or the option. NIBU_NOT_FOUND: there is no such
   file; NIBU_INVALID_ARGUMENT: the file or an option makes no sense; NIBU_UNIMPLEMENTED: nibu does
   not know this kind of model; NIBU_DATA_LOSS: the file is damaged; NIBU_RESOURCE_EXHAUSTED. */
NIBU_EXPORT nibu_status nibu_model_load(const char* path, const nibu_options* options,
                                        nibu_model** model, nibu_error** error);
/* Makes one model of two in a row: `second` translates what `first` has translated. Both stay the
   caller's. NIBU_INVALID_ARGUMENT: one of them cannot be used so. */
NIBU_EXPORT nibu_status nibu_model_pivot(const nibu_model* first, const nibu_model* second,
                                         nibu_model** model, nibu_error** error);
/* Counts one more owner, who calls nibu_model_free. Returns the model. */
NIBU_EXPORT nibu_model* nibu_model_retain(nibu_model* model);
/* Counts one owner less. The last one unloads the model, once no plan or request uses it. */
NIBU_EXPORT void nibu_model_free(nibu_model* model);

/* Returns a fact about the model as text, which lives as long as the model; NULL: there is no fact
   of this name. "" is what the model's files do not say. The names:
     path, format, license, languages, pivot (the path of the second of two models in a row),
     ensemble (one line for each other model), source_language, target_language,
     source_languages, target_languages (the codes that may be chosen, with commas),
     default_source_language, default_target_language, language_tokens (with commas),
     compute_type ("float32", "bfloat16", "int8", "int4"), weight_bytes, source_vocabulary_size,
     target_vocabulary_size, has_tokenizer, has_shortlist ("true", "false"),
     notes (one line for each) */
NIBU_EXPORT const char* nibu_model_fact(const nibu_model* model, const char* name);
/* Returns the name of the fact with this index, from 0, which lives forever; NULL behind the last
   one. */
NIBU_EXPORT const char* nibu_model_fact_name(size_t fact);

/* Cut a text of the source or the target language into the model's pieces, with single spaces
   between them; nibu_model_detokenize makes a text of pieces of the target language. The caller
   frees what is returned with nibu_free. NIBU_FAILED_PRECONDITION: the model has no tokenizer. */
NIBU_EXPORT nibu_status nibu_model_tokenize(const nibu_model* model, const char* text,
                                            size_t length, char** pieces, size_t* pieces_length,
                                            nibu_error** error);
NIBU_EXPORT nibu_status nibu_model_tokenize_target(const nibu_model* model, const char* text,
                                                   size_t length, char** pieces,
                                                   size_t* pieces_length, nibu_error** error);
NIBU_EXPORT nibu_status nibu_model_detokenize(const nibu_model* model, const char* pieces,
                                              size_t length, char** text, size_t* text_length,
                                              nibu_error** error);

/* ---- Translators and plans --------------------------------------------------------------- */

/* Owns the threads that translate, with any number of models. Thread-safe. */
typedef struct nibu_translator nibu_translator;

/* Loads a model, as nibu_model_load does, and makes a translator for it. All `options` hold, which
   may be NULL. Its requests need no plan: NULL stands for the model and these options. The errors
   are those of nibu_model_load, nibu_translator_new and nibu_plan_new. */
NIBU_EXPORT nibu_status nibu_open(const char* path, const nibu_options* options,
                                  nibu_translator** translator, nibu_error** error);
/* Makes a translator without a model. Of `options`, which may be NULL, it obeys threads,
   batch_size, batch_type and queue_size. NIBU_INVALID_ARGUMENT: an option makes no sense. */
NIBU_EXPORT nibu_status nibu_translator_new(const nibu_options* options,
                                            nibu_translator** translator, nibu_error** error);
/* Finishes every request that was submitted, and then ends the threads. It must not be called
   within a callback, nor while another thread uses the translator. */
NIBU_EXPORT void nibu_translator_free(nibu_translator* translator);
/* Ends every request that has not ended with NIBU_CANCELLED, before its next step at the latest,
   and calls of nibu_translate and nibu_score with it. Does not wait for that. Any thread, at any
   time. */
NIBU_EXPORT void nibu_translator_cancel_all(nibu_translator* translator);
/* Returns a figure of what the threads have done so far: threads, sentences,
   translated_sentences, waiting (sentences in the queue), begun, waited_seconds (the sum),
   steps (of the decoder), step_sentences (the sum); below 0: there is no such name. */
NIBU_EXPORT double nibu_translator_figure(const nibu_translator* translator, const char* name);
/* Frees what is left of models that have been freed. nibu_plan_new and new requests do so, too. */
NIBU_EXPORT void nibu_translator_release_unloaded(nibu_translator* translator);

/* Options that have been checked against a model, for any number of requests. Immutable, and for
   one translator. */
typedef struct nibu_plan nibu_plan;

/* Makes a plan; the first one for a model starts its threads. `options` may be NULL.
   NIBU_INVALID_ARGUMENT: an option makes no sense, or not for this model (see nibu_error_option);
   NIBU_RESOURCE_EXHAUSTED: there is not enough memory, or not so many threads. */
NIBU_EXPORT nibu_status nibu_plan_new(nibu_translator* translator, const nibu_model* model,
                                      const nibu_options* options, nibu_plan** plan,
                                      nibu_error** error);
/* Frees the plan. Requests that use it go on. */
NIBU_EXPORT void nibu_plan_free(nibu_plan* plan);

/* ---- Requests ---------------------------------------------------------------------------- */

/* The settings of requests, for any number of them. Where a request may be NULL, that means the
   default values. */
typedef struct nibu_request nibu_request;

/* Returns a request with the default values; NULL if there is not enough memory. */
NIBU_EXPORT nibu_request* nibu_request_new(void);
NIBU_EXPORT void nibu_request_free(nibu_request* request);
/* Sets the priority, 0 by default. Requests of higher priority are taken first. */
NIBU_EXPORT void nibu_request_set_priority(nibu_request* request, int64_t priority);
/* Sets the seconds after which a request ends with NIBU_DEADLINE_EXCEEDED, counted from the call
   that submits it. Below 0, the default: there is no deadline. */
NIBU_EXPORT void nibu_request_set_deadline(nibu_request* request, double seconds);
/* Sets the seconds for which nibu_submit may wait for room in the queue, 0 by default; below 0: as
   long as it takes. A text of more sentences than the queue has room for needs some. nibu_translate
   and nibu_score always wait, and callbacks never do. */
NIBU_EXPORT void nibu_request_set_queue_timeout(nibu_request* request, double seconds);
/* Sets the number, 0 by default, on which sampling depends. The n-th text of nibu_translate, from
   0, has this number plus n. */
NIBU_EXPORT void nibu_request_set_key(nibu_request* request, uint64_t key);
/* Sets the text that the translation begins with, or its pieces with the option tokenized. */
NIBU_EXPORT nibu_status nibu_request_set_target_prefix(nibu_request* request, const char* prefix,
                                                       size_t length, nibu_error** error);
/* Sets a translation that nibu_submit has scored, in place of one to be searched for. */
NIBU_EXPORT nibu_status nibu_request_set_target(nibu_request* request, const char* target,
                                                size_t length, nibu_error** error);

/* A token that has just been chosen. It lives until the nibu_step_callback returns. */
typedef struct nibu_step nibu_step;
/* Takes each token of greedy search or sampling as soon as it is chosen, the prefix and the end
   token included; tokens of a sentence come in their order. Unless it returns 0, the sentence ends,
   and its tokens so far become its translation. It is called on the threads that decode, perhaps
   on several at a time, and the other sentences of a thread wait for it. What holds for a
   nibu_callback holds for it, too. */
typedef int (*nibu_step_callback)(void* user, const nibu_step* step);
/* Sets a function that is told of tokens; NULL, the default: none is. `user` must live until the
   last request with it has ended. It does not go with a beam, patience, alternatives, a target,
   on_repetition=retry, two models in a row or a whole text: NIBU_INVALID_ARGUMENT then. */
NIBU_EXPORT void nibu_request_set_step_callback(nibu_request* request, nibu_step_callback callback,
                                                void* user);
/* The characters by which the sentence's translation has grown, for showing it as it comes; ""
   while a character lacks bytes. Tags are not in it, and in place of a protected part, such as a
   URL, it has the word that stands for it; the option protect=none has none of these. And the
   token. */
NIBU_EXPORT const char* nibu_step_text(const nibu_step* step, size_t* length);
NIBU_EXPORT const char* nibu_step_token(const nibu_step* step, size_t* length);
/* The sentence of the line, the sample (0 without sampling), and the place in it, from 0. */
NIBU_EXPORT size_t nibu_step_sentence(const nibu_step* step);
NIBU_EXPORT size_t nibu_step_hypothesis(const nibu_step* step);
NIBU_EXPORT size_t nibu_step_position(const nibu_step* step);
/* The token's log-probability; and 1 if the sentence ends with it, else 0. */
NIBU_EXPORT float nibu_step_log_prob(const nibu_step* step);
NIBU_EXPORT int nibu_step_is_last(const nibu_step* step);

/* The answer to requests: the translations of one or more texts. Immutable. */
typedef struct nibu_result nibu_result;

/* Translates texts and waits for all of them. A text with line feeds, or whose plan has the option
   text=paragraphs or text=document, is cut into units, which are translated one by one and
   joined; any other text is a line. Texts of all threads are decoded together, so one call with
   many texts is fastest. `lengths` may be NULL: each text ends at its NUL. `request` may be NULL,
   and so may `plan` for a translator of nibu_open. An error is that of the first text that failed:
   NIBU_INVALID_ARGUMENT: a text and an option do not go together; NIBU_OUT_OF_RANGE: a text is too
   long, and the options refuse it; NIBU_DEADLINE_EXCEEDED; NIBU_CANCELLED;
   NIBU_RESOURCE_EXHAUSTED; NIBU_FAILED_PRECONDITION: the plan is another translator's, the process
   was forked, or this is within a callback, which would wait for itself. */
NIBU_EXPORT nibu_status nibu_translate(nibu_translator* translator, const nibu_plan* plan,
                                       const char* const* texts, const size_t* lengths,
                                       size_t count, const nibu_request* request,
                                       nibu_result** result, nibu_error** error);
/* Scores a given translation of each text, which has no line feed, in place of searching for one.
   The log-probabilities are the model's own, among all tokens; if the plan has the option
   min_decoding_length, they are those that a search with its options would see.
   `target_lengths` may be NULL as `lengths` may; all else is as with nibu_translate. */
NIBU_EXPORT nibu_status nibu_score(nibu_translator* translator, const nibu_plan* plan,
                                   const char* const* texts, const size_t* lengths,
                                   const char* const* targets, const size_t* target_lengths,
                                   size_t count, const nibu_request* request, nibu_result** result,
                                   nibu_error** error);

/* Takes the answer to a request, once. NIBU_OK: `result` is the callee's, who frees it, and `error`
   is NULL; otherwise `result` is NULL, and `error` is the callee's. It is called on a thread of the
   translator's, or within nibu_submit. Other answers wait behind it, so it must not block for
   long. It may call everything but nibu_translate and nibu_score, which are refused, and
   nibu_translator_free; nibu_submit does not wait there. It must not throw or longjmp. */
typedef void (*nibu_callback)(void* user, nibu_status status, nibu_result* result,
                              nibu_error* error);
/* Frees what a user pointer points to. */
typedef void (*nibu_destroy)(void* user);

/* A request that was submitted. It keeps nothing of the request alive. */
typedef struct nibu_ticket nibu_ticket;

/* Submits a text, which nibu_translate would translate in the same way, and does not wait for its
   translation. NIBU_OK: `callback` is called exactly once, perhaps before this function returns;
   otherwise it never is, and the errors are those of nibu_translate and NIBU_RESOURCE_EXHAUSTED:
   the queue had no room within the request's queue_timeout. `destroy_user`, if it is not NULL, is
   called with `user` exactly once in every case: behind the callback, or before this function
   returns an error. `ticket` may be NULL. */
NIBU_EXPORT nibu_status nibu_submit(nibu_translator* translator, const nibu_plan* plan,
                                    const char* text, size_t length, const nibu_request* request,
                                    nibu_callback callback, void* user, nibu_destroy destroy_user,
                                    nibu_ticket** ticket, nibu_error** error);

/* Ends a request with NIBU_CANCELLED, before its next step at the latest. Any thread, at any time;
   does nothing once the request has ended, or for another translator's ticket. */
NIBU_EXPORT void nibu_cancel(nibu_translator* translator, const nibu_ticket* ticket);
/* Frees the ticket, and does not cancel the request. */
NIBU_EXPORT void nibu_ticket_free(nibu_ticket* ticket);

/* ---- Completions: answers for event loops ------------------------------------------------- */

/* A queue of requests that have ended, in place of callbacks on foreign threads. Thread-safe. */
typedef struct nibu_completions nibu_completions;

/* Makes a queue. NIBU_RESOURCE_EXHAUSTED: there is not enough memory, or no file descriptor. */
NIBU_EXPORT nibu_status nibu_completions_new(nibu_completions** completions, nibu_error** error);
/* Frees the queue and what is in it. Requests that have not ended go on, and their answers are
   freed. */
NIBU_EXPORT void nibu_completions_free(nibu_completions* completions);
/* Returns a file descriptor that poll, select and epoll find readable as long as the queue has
   something. It is the queue's: do not read from it, and do not close it. -1 for NULL. */
NIBU_EXPORT int nibu_completions_fd(const nibu_completions* completions);
/* Submits a text as nibu_submit does, and queues the answer with the caller's tag. */
NIBU_EXPORT nibu_status nibu_completions_submit(nibu_completions* completions,
                                                nibu_translator* translator, const nibu_plan* plan,
                                                const char* text, size_t length,
                                                const nibu_request* request, uint64_t tag,
                                                nibu_ticket** ticket, nibu_error** error);
/* Takes the next answer and returns 1; 0: there is none now. `result` and `error` are what a
   nibu_callback gets, and the caller's from then on. Never waits. Each pointer may be NULL. */
NIBU_EXPORT int nibu_completions_next(nibu_completions* completions, uint64_t* tag,
                                      nibu_status* status, nibu_result** result,
                                      nibu_error** error);

/* ---- Results ----------------------------------------------------------------------------- */

/* What these functions return lives as long as the result. `text` and `hypothesis` count from 0;
   hypothesis 0 is the best. An index out of range gives NULL or 0. */
NIBU_EXPORT void nibu_result_free(nibu_result* result);
/* The number of texts, and the number of hypotheses of a text. A blank text has an empty one. */
NIBU_EXPORT size_t nibu_result_count(const nibu_result* result);
NIBU_EXPORT size_t nibu_result_hypothesis_count(const nibu_result* result, size_t text);
/* The translation. */
NIBU_EXPORT const char* nibu_result_text(const nibu_result* result, size_t text, size_t hypothesis,
                                         size_t* length);
/* The score by which hypotheses are ranked, and the sum of the log-probabilities of the tokens. */
NIBU_EXPORT float nibu_result_score(const nibu_result* result, size_t text, size_t hypothesis);
NIBU_EXPORT float nibu_result_log_prob(const nibu_result* result, size_t text, size_t hypothesis);
/* 1, or 0 if a length limit cut the translation. */
NIBU_EXPORT int nibu_result_finished(const nibu_result* result, size_t text, size_t hypothesis);
/* The token that ended the translation, or its last sentence: the end of sentence or one of the
   option end_token. "": a length limit cut it, or it is blank or a scored target. */
NIBU_EXPORT const char* nibu_result_end_token(const nibu_result* result, size_t text,
                                              size_t hypothesis);
/* The tokens, and the log-probability of each of them. */
NIBU_EXPORT size_t nibu_result_token_count(const nibu_result* result, size_t text,
                                           size_t hypothesis);
NIBU_EXPORT const char* nibu_result_token(const nibu_result* result, size_t text, size_t hypothesis,
                                          size_t token, size_t* length);
NIBU_EXPORT const float* nibu_result_token_scores(const nibu_result* result, size_t text,
                                                  size_t hypothesis, size_t* count);
/* The alignment, if the option alignment asked for it, as pairs: source, target, source, target...
   `pairs` is their number. They count tokens or words from 0, as alignment_level says. */
NIBU_EXPORT const size_t* nibu_result_alignment(const nibu_result* result, size_t text,
                                                size_t hypothesis, size_t* pairs);
/* The attention of a target token or word to the `count` tokens or words of the source, with
   alignment=soft. NULL: there is none, or no such target. */
NIBU_EXPORT const float* nibu_result_attention(const nibu_result* result, size_t text,
                                               size_t hypothesis, size_t target, size_t* count);
/* The token or word of the source with this number, from 0, that the alignment and the attention
   count. NULL: there is none. */
NIBU_EXPORT const char* nibu_result_source_label(const nibu_result* result, size_t text,
                                                 size_t source);
/* The reasons to look at the translation, with commas between them; "" if there are none: short,
   long, repetition, unfinished, truncated, numbers, protected. */
NIBU_EXPORT const char* nibu_result_warnings(const nibu_result* result, size_t text,
                                             size_t hypothesis);
/* The language that was translated from, with a src_lang of "auto"; else "". */
NIBU_EXPORT const char* nibu_result_source_language(const nibu_result* result, size_t text);
/* Returns all of a text's result as a JSON object on one line, with the text's index as "id", as
   the command-line programs write it. The caller frees it with nibu_free. NIBU_OUT_OF_RANGE: there
   is no such text. */
NIBU_EXPORT nibu_status nibu_result_json(const nibu_result* result, size_t text, char** json,
                                         size_t* length, nibu_error** error);

/* ---- Languages and sentences ------------------------------------------------------------- */

/* Tells which language a text is in. Immutable. */
typedef struct nibu_detector nibu_detector;
/* The languages that a text may be in, the most probable first. Immutable. */
typedef struct nibu_languages nibu_languages;

/* Makes a detector for the languages of a list, with commas between their codes; NULL or "": all
   that are known. NIBU_RESOURCE_EXHAUSTED. */
NIBU_EXPORT nibu_status nibu_detector_new(const char* among, nibu_detector** detector,
                                          nibu_error** error);
NIBU_EXPORT void nibu_detector_free(nibu_detector* detector);
/* Detects the language of a text. `markup` is "none", "html" or "xml", whose tags do not count;
   NULL is "none". There are no languages where nothing can be told. NIBU_RESOURCE_EXHAUSTED. */
NIBU_EXPORT nibu_status nibu_detector_detect(const nibu_detector* detector, const char* text,
                                             size_t length, const char* markup,
                                             nibu_languages** languages, nibu_error** error);
/* The number of languages; and the code, which lives as long as the list, and the probability, 0 to
   1, of one of them. NULL and 0: there is no such index. */
NIBU_EXPORT size_t nibu_languages_count(const nibu_languages* languages);
NIBU_EXPORT const char* nibu_languages_code(const nibu_languages* languages, size_t language);
NIBU_EXPORT float nibu_languages_confidence(const nibu_languages* languages, size_t language);
NIBU_EXPORT void nibu_languages_free(nibu_languages* languages);

/* Splits text into sentences, by the rules of one language. Immutable. */
typedef struct nibu_splitter nibu_splitter;

/* Makes a splitter. `language` is any code, such as "de"; NULL or "" is English.
   NIBU_INVALID_ARGUMENT: it is not a code; NIBU_FAILED_PRECONDITION: ICU lacks its data. */
NIBU_EXPORT nibu_status nibu_splitter_new(const char* language, nibu_splitter** splitter,
                                          nibu_error** error);
NIBU_EXPORT void nibu_splitter_free(nibu_splitter* splitter);
/* Returns where the sentences of a text begin and end, in bytes: begin, end, begin, end... `count`
   is the number of sentences. The caller frees `bounds` with nibu_free. */
NIBU_EXPORT nibu_status nibu_splitter_split(const nibu_splitter* splitter, const char* text,
                                            size_t length, size_t** bounds, size_t* count,
                                            nibu_error** error);

#ifdef __cplusplus
}
#endif

#endif /* NIBU_C_H_ */
