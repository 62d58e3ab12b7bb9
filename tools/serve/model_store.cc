// Loads models on a thread of its own, and keeps the plans that requests share.

#include "tools/serve/model_store.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The most plans that are kept. They are small, but there may be many: one for each pair of
// languages and number of alternatives. Those with terms of their own are larger: the search
// patterns that they compile take 0.5 to 0.7 MB.
constexpr size_t kMostPlans = 1000;
constexpr size_t kPlansOfTerms = 16;   // A plan with terms counts as so many and, beyond that,
constexpr size_t kTermsOfAPlan = 64;   // so many terms, or so many bytes of a pattern,
constexpr size_t kBytesOfAPlan = 256;  // count as one.

// Turns the error of a model that cannot be used into one for which no request is to blame.
absl::StatusOr<std::shared_ptr<const nibu::Model>> OwnFault(
    absl::StatusOr<std::shared_ptr<const nibu::Model>> model) {
  if (model.ok() || absl::IsResourceExhausted(model.status())) return model;
  return absl::InternalError(model.status().message());
}

}  // namespace

ModelStore::ModelStore(nibu::Translator* translator,
                       std::function<void(std::function<void()>)> post)
    : translator_(translator), post_(std::move(post)) {}

void ModelStore::ReadCatalog(const std::vector<std::string>& models, const std::string& folder,
                             const std::vector<std::string>& pinned, CatalogReady done) {
  loader_.Post([=, this, before = catalog_] {
    std::vector<std::string> warnings;
    auto catalog = Catalog::Read(models, folder, pinned, before.get(), &warnings);
    post_([done, catalog = std::move(catalog), warnings] { done(catalog, warnings); });
  });
}

void ModelStore::Offer(std::shared_ptr<const Catalog> catalog, const StoreOptions& options) {
  catalog_ = std::move(catalog);
  options_ = options;
  // Requests that wait for a plan still get the old one.
  std::erase_if(plans_, [](const auto& each) { return each.second.plan.plan != nullptr; });
  loader_.Post([this, offered = catalog_] {
    const std::vector<std::shared_ptr<ServedModel>> before = in_memory_;
    for (const auto& model : before) {
      if (!absl::c_linear_search(offered->models(), model)) Unload(model);
    }
  });
}

void ModelStore::Preload(std::shared_ptr<const Catalog> catalog, const StoreOptions& options,
                         std::function<void(absl::Status)> done) {
  StoreOptions all = options;
  all.max_models = 0;  // The old models must not be unloaded for the new ones.
  loader_.Post([=, this] { PreloadFrom(0, catalog, all, done); });
}

// Each model is a task of its own, so that requests' tasks can run between them, and Stop has
// effect.
void ModelStore::PreloadFrom(size_t first, std::shared_ptr<const Catalog> catalog,
                             const StoreOptions& options, std::function<void(absl::Status)> done) {
  const auto& models = catalog->models();
  std::shared_ptr<ServedModel> old;
  for (; first < models.size(); ++first) {
    const auto is_old = [&](const auto& each) { return each->path == models[first]->path; };
    const auto found = absl::c_find_if(in_memory_, is_old);
    old = found == in_memory_.end() ? nullptr : *found;
    if (models[first]->is_pinned || old != nullptr) break;
  }
  if (first == models.size()) return post_([done] { done(absl::OkStatus()); });
  // The model must not look like one that was never used, which would be unloaded at once.
  if (old != nullptr) models[first]->last_use = old->last_use.load();
  const absl::Status status = Load(models[first], nullptr, options).status();
  if (status.ok()) {
    loader_.Post([=, this] { PreloadFrom(first + 1, catalog, options, done); });
    return;
  }
  for (const auto& model : models) {
    if (model->model != nullptr) Unload(model);
  }
  post_([done, status] { done(status); });
}

void ModelStore::Prepare(const Route& route, const PlanChoice& choice, PlanReady ready) {
  for (const auto& model : {route.first, route.second}) {
    if (model != nullptr) model->last_use = SteadyClock::now();
  }
  const PlanKey key = {
      route.first.get(),      route.second.get(),  route.src_lang,
      route.tgt_lang,         choice.text,         choice.markup,
      choice.split_sentences, choice.alternatives, choice.terms == nullptr ? "" : choice.terms->key,
      choice.aligns_words};
  if (const auto known = plans_.find(key); known != plans_.end()) {
    if (known->second.plan.plan != nullptr) return ready(known->second.plan);
    known->second.waiting.push_back(std::move(ready));
    return;
  }
  // If there are too many plans, forgets all that are ready; they can be prepared again.
  size_t size = 0;
  for (const auto& [other, known_plan] : plans_) {
    const auto& terms = known_plan.choice.terms;
    size += 1;
    if (terms == nullptr) continue;
    size += kPlansOfTerms + terms->glossary.size() / kTermsOfAPlan +
            terms->protect_pattern.size() / kBytesOfAPlan;
  }
  if (size >= kMostPlans) {
    std::erase_if(plans_, [](const auto& each) { return each.second.plan.plan != nullptr; });
  }
  plans_[key] = {route, choice, {}, {std::move(ready)}};
  loader_.Post([=, this, options = options_] {
    auto plan = MakePlan(route, choice, options);
    post_([this, key, plan = std::move(plan)] { TakePlan(key, plan); });
  });
}

void ModelStore::TakePlan(const PlanKey& key, absl::StatusOr<std::shared_ptr<const Plan>> plan) {
  const auto known = plans_.find(key);
  if (known == plans_.end()) return;
  const std::vector<PlanReady> waiting = std::move(known->second.waiting);
  absl::StatusOr<NumberedPlan> numbered = NumberedPlan{nullptr, ++numbers_};
  if (plan.ok()) {
    numbered->plan = *std::move(plan);
  } else {
    numbered = plan.status();
  }
  // A plan of a model that a new catalog no longer has serves only those who wait for it.
  if (numbered.ok() && absl::c_linear_search(catalog_->models(), known->second.route.first)) {
    known->second.plan = *numbered;
  } else {
    plans_.erase(known);
  }
  for (const PlanReady& ready : waiting) ready(numbered);
}

void ModelStore::ReleaseIdle() {
  loader_.Post([this, options = options_] {
    const std::vector<std::shared_ptr<ServedModel>> before = in_memory_;
    for (const auto& model : before) {
      const bool is_idle = SteadyClock::now() - model->last_use.load() > options.idle_time;
      if (options.idle_time.count() > 0 && is_idle && !model->is_pinned) Unload(model);
    }
    translator_->ReleaseUnloaded();
  });
}

absl::StatusOr<std::shared_ptr<const nibu::Model>> ModelStore::Load(
    const std::shared_ptr<ServedModel>& model, const std::shared_ptr<ServedModel>& other,
    const StoreOptions& options) {
  if (model->model != nullptr) return model->model;
  while (options.max_models > 0 && in_memory_.size() >= options.max_models) {
    // Unloads the model that has been idle for longest; models that have to stay come last.
    const auto order = [&](const std::shared_ptr<ServedModel>& each) {
      return std::pair(each->is_pinned || each == other, each->last_use.load());
    };
    const std::shared_ptr<ServedModel> oldest = *absl::c_min_element(
        in_memory_, [&](const auto& a, const auto& b) { return order(a) < order(b); });
    if (order(oldest).first) break;
    Unload(oldest);
  }
  NIBU_ASSIGN_OR_RETURN(model->model, OwnFault(nibu::Model::Load(model->path, options.model)));
  in_memory_.push_back(model);
  ReportLoaded();
  return model->model;
}

absl::StatusOr<std::shared_ptr<const Plan>> ModelStore::MakePlan(const Route& route,
                                                                 const PlanChoice& choice,
                                                                 const StoreOptions& options) {
  NIBU_ASSIGN_OR_RETURN(std::shared_ptr<const nibu::Model> model,
                        Load(route.first, route.second, options));
  if (route.second != nullptr) {
    NIBU_ASSIGN_OR_RETURN(auto second, Load(route.second, route.first, options));
    NIBU_ASSIGN_OR_RETURN(model, OwnFault(nibu::Model::Pivot(std::move(model), std::move(second))));
  }
  nibu::Options text = options.text;
  text.src_lang = route.src_lang;
  text.tgt_lang = route.tgt_lang;
  if (choice.aligns_words) {
    text.alignment = AlignmentKind::kHard;
    text.alignment_level = AlignmentLevel::kWords;
  }
  text.text = choice.text;
  text.markup = choice.markup;
  text.split_sentences = text.split_sentences && choice.split_sentences;
  text.num_hypotheses = 1 + choice.alternatives;
  int least_beam_size = choice.alternatives > 0 ? text.num_hypotheses : 1;
  if (choice.terms != nullptr) {
    text.glossary = choice.terms->glossary;
    if (!text.glossary.empty()) least_beam_size = std::max(least_beam_size, 2);
    std::string pattern = choice.terms->protect_pattern;
    if (!pattern.empty() && !text.protect_pattern.empty()) {
      pattern = absl::StrCat("(?:", text.protect_pattern, ")|", pattern);
    }
    if (!pattern.empty()) text.protect_pattern = pattern;
  }
  // The beam must be as wide as the number of hypotheses, unless these are samples, and a glossary
  // needs one.
  if (least_beam_size > 1 && text.sampling_topk == 1) {
    const int beam_size =
        text.beam_size.value_or(model->info().defaults.beam_size.value_or(kDefaultBeamSize));
    text.beam_size = std::max(beam_size, least_beam_size);
  }
  text.return_scores = choice.alternatives > 0;
  return translator_->Prepare(std::move(model), text);
}

// Plans keep the model alive, so the translator can free it only once they are forgotten.
void ModelStore::Unload(const std::shared_ptr<ServedModel>& model) {
  model->model = nullptr;
  std::erase(in_memory_, model);
  ReportLoaded();
  post_([this, model] {
    ForgetPlans(model.get());
    loader_.Post([this] { translator_->ReleaseUnloaded(); });
  });
}

void ModelStore::ReportLoaded() {
  const auto releasable = absl::c_count_if(in_memory_, [](const auto& m) { return !m->is_pinned; });
  post_([this, count = in_memory_.size(), releasable = static_cast<size_t>(releasable)] {
    loaded_ = count;
    releasable_ = releasable;
    on_change_();
  });
}

void ModelStore::ForgetPlans(const ServedModel* model) {
  std::erase_if(plans_, [&](const auto& each) {
    const Route& route = each.second.route;
    return each.second.plan.plan != nullptr &&
           (route.first.get() == model || route.second.get() == model);
  });
}

}  // namespace nibu::internal
