// Implements the translators, plans and request settings of nibu/c.h.

#include "tools/c/handles.h"

using nibu::internal::CheckText;
using nibu::internal::Guard;
using nibu::internal::HandOut;
using nibu::internal::Missing;
using nibu::internal::OrNull;
using nibu::internal::TextOf;

nibu_status nibu_translator_new(const nibu_options* options, nibu_translator** translator,
                                nibu_error** error) {
  return Guard(translator, "translator", error, [&] {
    auto made =
        nibu::Translator::Create(options == nullptr ? nibu::SpeedOptions() : options->speed);
    if (!made.ok()) return made.status();
    *translator = new nibu_translator{.translator = *std::move(made)};
    return absl::OkStatus();
  });
}

nibu_status nibu_open(const char* path, const nibu_options* options, nibu_translator** translator,
                      nibu_error** error) {
  return Guard(translator, "translator", error, [&] {
    const nibu_options& all = options == nullptr ? nibu_options() : *options;
    auto opened =
        nibu::Translator::Open(path == nullptr ? "" : path, all.text, all.model, all.speed);
    if (!opened.ok()) return opened.status();
    *translator = new nibu_translator{
        std::unique_ptr<const nibu_plan>(new nibu_plan{nullptr, all.text.alignment}),
        *std::move(opened)};
    return absl::OkStatus();
  });
}

void nibu_translator_free(nibu_translator* translator) { delete translator; }

void nibu_translator_cancel_all(nibu_translator* translator) {
  if (translator != nullptr) translator->translator->CancelAll();
}

double nibu_translator_figure(const nibu_translator* translator, const char* name) {
  if (translator == nullptr) return 0;
  const nibu::Translator& asked = *translator->translator;
  const absl::string_view figure = TextOf(name);
  if (figure == "threads") return asked.threads();
  if (figure == "sentences") return static_cast<double>(asked.sentences());
  if (figure == "translated_sentences") return static_cast<double>(asked.translated_sentences());
  const nibu::Activity activity = asked.activity();
  if (figure == "waiting") return static_cast<double>(activity.waiting);
  if (figure == "begun") return static_cast<double>(activity.begun);
  if (figure == "waited_seconds") return activity.waited_seconds;
  if (figure == "steps") return static_cast<double>(activity.steps);
  if (figure == "step_sentences") return static_cast<double>(activity.step_sentences);
  return -1;
}

void nibu_translator_release_unloaded(nibu_translator* translator) {
  if (translator != nullptr) translator->translator->ReleaseUnloaded();
}

nibu_status nibu_plan_new(nibu_translator* translator, const nibu_model* model,
                          const nibu_options* options, nibu_plan** plan, nibu_error** error) {
  return Guard(plan, "plan", error, [&] {
    if (translator == nullptr) return Missing("translator");
    if (model == nullptr) return Missing("model");
    const nibu::Options text = options == nullptr ? nibu::Options() : options->text;
    auto made = translator->translator->Prepare(model->model, text);
    if (!made.ok()) return made.status();
    *plan = new nibu_plan{*std::move(made), text.alignment};
    return absl::OkStatus();
  });
}

void nibu_plan_free(nibu_plan* plan) { delete plan; }

nibu_request* nibu_request_new(void) {
  return OrNull([] { return new nibu_request(); });
}

void nibu_request_free(nibu_request* request) { delete request; }

void nibu_request_set_priority(nibu_request* request, int64_t priority) {
  if (request != nullptr) request->request.priority = priority;
}

void nibu_request_set_deadline(nibu_request* request, double seconds) {
  if (request != nullptr) request->deadline = seconds;
}

void nibu_request_set_queue_timeout(nibu_request* request, double seconds) {
  if (request != nullptr) request->queue_timeout = seconds;
}

void nibu_request_set_key(nibu_request* request, uint64_t key) {
  if (request != nullptr) request->request.key = key;
}

void nibu_request_set_step_callback(nibu_request* request, nibu_step_callback callback,
                                    void* user) {
  if (request == nullptr) return;
  request->request.on_step = nullptr;
  if (callback == nullptr) return;
  request->request.on_step = [callback, user](const nibu::Step& step) {
    const nibu_step told = {step};
    return callback(user, &told) != 0;
  };
}

const char* nibu_step_text(const nibu_step* step, size_t* length) {
  return HandOut(step == nullptr ? nullptr : &step->step.text, length);
}

const char* nibu_step_token(const nibu_step* step, size_t* length) {
  return HandOut(step == nullptr ? nullptr : &step->step.token, length);
}

size_t nibu_step_sentence(const nibu_step* step) {
  return step == nullptr ? 0 : step->step.sentence;
}

size_t nibu_step_hypothesis(const nibu_step* step) {
  return step == nullptr ? 0 : step->step.hypothesis;
}

size_t nibu_step_position(const nibu_step* step) {
  return step == nullptr ? 0 : step->step.position;
}

float nibu_step_log_prob(const nibu_step* step) {
  return step == nullptr ? 0 : step->step.log_prob;
}

int nibu_step_is_last(const nibu_step* step) {
  return step != nullptr && step->step.is_last ? 1 : 0;
}

nibu_status nibu_request_set_target_prefix(nibu_request* request, const char* prefix, size_t length,
                                           nibu_error** error) {
  return Guard(error, [&] {
    if (request == nullptr) return Missing("request");
    absl::Status status = CheckText(prefix, length, "prefix");
    if (status.ok()) request->request.target_prefix = std::string(TextOf(prefix, length));
    return status;
  });
}

nibu_status nibu_request_set_target(nibu_request* request, const char* target, size_t length,
                                    nibu_error** error) {
  return Guard(error, [&] {
    if (request == nullptr) return Missing("request");
    if (target == nullptr) {
      request->request.target.reset();
      return CheckText(target, length, "target");
    }
    request->request.target = std::string(target, length);
    return absl::OkStatus();
  });
}

namespace nibu::internal {

Request RequestOf(const nibu_request* request) {
  if (request == nullptr) return {};
  Request made = request->request;
  const auto left = Seconds(request->deadline);
  if (left != kForever) made.deadline = std::chrono::steady_clock::now() + left;
  return made;
}

}  // namespace nibu::internal
