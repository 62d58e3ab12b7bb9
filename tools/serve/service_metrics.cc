// Answers /metrics.

#include "tools/serve/service.h"

namespace nibu::internal {

HttpAnswer Service::Metrics() const {
  MetricsText text;
  counts_.AppendTo(&text);
  const JobCounts& jobs = jobs_.counts();
  const Activity activity = translator_->activity();
  const auto add = [&](const char* name, const char* type, const char* help, auto value) {
    text.Add(name, type, help, static_cast<double>(value));
  };
  add("nibu_queue_requests", "gauge",
      "Translations that were accepted and not yet answered. A list in several languages is one "
      "for each of them.",
      jobs_.waiting());
  add("nibu_queue_characters", "gauge",
      "Characters of these translations that are still to be translated.",
      jobs_.waiting_characters());
  add("nibu_accepted_total", "counter", "Requests for translations that were accepted.",
      jobs.accepted);
  add("nibu_refused_total", "counter",
      "Requests for translations that were refused because the queue was full, or their "
      "client had its share of it.",
      jobs.refused);
  add("nibu_cancelled_total", "counter",
      "Translations that were ended early, mostly because their clients went away.",
      jobs.cancelled);
  add("nibu_characters_total", "counter",
      "Characters of the texts that were translated, those from the cache included.",
      jobs.characters);
  add("nibu_source_tokens_total", "counter",
      "Tokens that models have read, without texts from the cache.", jobs.source_tokens);
  add("nibu_target_tokens_total", "counter",
      "Tokens that models have written, without texts from the cache.", jobs.target_tokens);
  add("nibu_cached_texts_total", "counter",
      "Lines of plain text and whole HTML texts whose translations were in the cache.",
      jobs.cached_units);
  add("nibu_cache_bytes", "gauge", "Bytes that the cache holds.", cache_.bytes());
  add("nibu_sentences_waiting", "gauge",
      "Sentences that wait for a thread, of those that were handed to the translator.",
      activity.waiting);
  add("nibu_sentences_total", "counter", "Sentences whose translation was begun.", activity.begun);
  add("nibu_sentence_wait_seconds_total", "counter",
      "Seconds for which these sentences had waited for a thread, added up.",
      activity.waited_seconds);
  add("nibu_decoder_steps_total", "counter",
      "Steps of the decoder; each adds a token to all sentences that are decoded together.",
      activity.steps);
  add("nibu_decoder_step_sentences_total", "counter",
      "Sentences in these steps, added up; divided by the steps, sentences decoded together.",
      activity.step_sentences);
  add("nibu_models_loaded", "gauge", "Models in memory.", store_.loaded());
  add("nibu_unlogged_total", "counter",
      "Lines that were left out of the log because its reader was too slow.", log_.left_out());
  if (more_metrics_ != nullptr) more_metrics_(&text);
  AddProcess(start_, &text);
  HttpAnswer answer;
  answer.body = text.text();
  answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return answer;
}

}  // namespace nibu::internal
