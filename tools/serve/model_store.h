// Loads models when they are needed, and unloads those that are not.
#ifndef NIBU_TOOLS_SERVE_MODEL_STORE_H_
#define NIBU_TOOLS_SERVE_MODEL_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/serve/work_thread.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

struct StoreOptions {
  ModelOptions model;
  nibu::Options text;                // The options of all requests.
  size_t max_models = 0;             // The most models in memory at a time; 0: any number.
  std::chrono::seconds idle_time{};  // Models not needed for so long are unloaded; 0: none are.
};

// The phrases that a request wants to be translated in its own way.
struct Terms {
  std::string key;  // No other terms have it.
  std::vector<GlossaryEntry> glossary;
  std::string protect_pattern;  // What matches it stays as it is; may be empty.
  // The languages for which the glossary is; empty: all.
  std::string source;
  std::string target;
};

// What requests choose of their plans; the rest is that of StoreOptions::text.
struct PlanChoice {
  TextKind text = TextKind::kLines;
  Markup markup = Markup::kNone;
  bool split_sentences = true;
  int alternatives = 0;
  std::shared_ptr<const Terms> terms;  // null: none
  bool aligns_words = false;           // its results tell which words belong together
};

// A plan with a number that no other plan of this process has had.
struct NumberedPlan {
  std::shared_ptr<const Plan> plan;
  uint64_t number = 0;
};

// Used by the network's thread, to which it posts the results of its own thread, the loader. A
// model that is unloaded or replaced still serves the requests that have begun with it.
class ModelStore {
 public:
  using PlanReady = std::function<void(absl::StatusOr<NumberedPlan>)>;

  // `post` hands a task to the network's thread. Both arguments must live until Stop or the
  // destructor has returned.
  ModelStore(nibu::Translator* translator, std::function<void(std::function<void()>)> post);

  // Gets the result of Catalog::Read, which the loader calls, on the network's thread. The catalog
  // that is offered now counts as the one that is to be replaced.
  using CatalogReady = std::function<void(absl::StatusOr<std::shared_ptr<const Catalog>> catalog,
                                          std::vector<std::string> warnings)>;
  void ReadCatalog(const std::vector<std::string>& models, const std::string& folder,
                   const std::vector<std::string>& pinned, CatalogReady done);
  // Offers the models of a catalog, which replaces the last one.
  void Offer(std::shared_ptr<const Catalog> catalog, const StoreOptions& options);
  // Loads the models of a catalog, which need not be offered yet, that have to be in memory from
  // the beginning: the pinned ones, and those whose files other models in memory were loaded from.
  // So the old models serve until the new ones have been read whole. `done` is called on the
  // network's thread with OK or the first error, after which no model of the catalog is kept.
  void Preload(std::shared_ptr<const Catalog> catalog, const StoreOptions& options,
               std::function<void(absl::Status)> done);
  // REQUIRES: Offer has been called.
  const Catalog& catalog() const {
    ABSL_ASSERT(catalog_ != nullptr);
    return *catalog_;
  }

  // Calls `ready` with the plan for a route: at once if the plan is known, or later on the
  // network's thread, once its models are loaded.
  void Prepare(const Route& route, const PlanChoice& choice, PlanReady ready);

  // Unloads models that have been idle for too long, and frees what unloaded ones have left. To be
  // called every few seconds as long as has_idle_time().
  void ReleaseIdle();
  // Returns whether models are in memory that ReleaseIdle may unload.
  bool has_idle_time() const { return options_.idle_time.count() > 0 && releasable_ > 0; }
  // Sets a function that is called on the network's thread when the models in memory have changed.
  void SetOnChange(std::function<void()> on_change) { on_change_ = std::move(on_change); }
  // Returns the number of models in memory.
  size_t loaded() const { return loaded_; }
  // Ends the loader. Models that wait to be loaded are not loaded.
  void Stop() { loader_.Stop(); }

 private:
  using PlanKey = std::tuple<const ServedModel*, const ServedModel*, std::string, std::string,
                             TextKind, Markup, bool, int, std::string, bool>;
  struct KnownPlan {
    Route route;
    PlanChoice choice;
    NumberedPlan plan;
    std::vector<PlanReady> waiting;  // callers that wait for the plan
  };

  // The loader calls the following functions.
  // Loads a model if it is not in memory. Others may be unloaded for it, but not `other`, which may
  // be null. Returns Internal or ResourceExhausted if it cannot be loaded, since no request is to
  // blame for that.
  absl::StatusOr<std::shared_ptr<const nibu::Model>> Load(const std::shared_ptr<ServedModel>& model,
                                                          const std::shared_ptr<ServedModel>& other,
                                                          const StoreOptions& options);
  // Does Preload for a catalog's models from index `first` on.
  void PreloadFrom(size_t first, std::shared_ptr<const Catalog> catalog,
                   const StoreOptions& options, std::function<void(absl::Status)> done);
  absl::StatusOr<std::shared_ptr<const Plan>> MakePlan(const Route& route, const PlanChoice& choice,
                                                       const StoreOptions& options);
  void Unload(const std::shared_ptr<ServedModel>& model);
  void ReportLoaded();

  // Called on the network's thread: forgets the plans of a model.
  void ForgetPlans(const ServedModel* model);
  void TakePlan(const PlanKey& key, absl::StatusOr<std::shared_ptr<const Plan>> plan);

  nibu::Translator* const translator_;
  const std::function<void(std::function<void()>)> post_;
  std::shared_ptr<const Catalog> catalog_;
  StoreOptions options_;
  std::map<PlanKey, KnownPlan> plans_;
  uint64_t numbers_ = 0;
  size_t loaded_ = 0;
  size_t releasable_ = 0;  // number of those that are not pinned
  std::function<void()> on_change_ = [] {};

  std::vector<std::shared_ptr<ServedModel>> in_memory_;  // used by the loader
  WorkThread loader_;  // comes last, since it uses the other members
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_MODEL_STORE_H_
