// Loads models when they are needed, and lets go of those that are not.
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
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/serve/catalog.h"
#include "tools/serve/work_thread.h"

namespace nibu::internal {

struct StoreOptions {
  ModelOptions model;
  nibu::Options text;                // Those of every request.
  size_t max_models = 0;             // Models in memory at a time, at most; 0: any number.
  std::chrono::seconds idle_time{};  // Models that nobody has needed for as long go; 0: none do.
};

// A plan with a number that no other plan of this process has had.
struct NumberedPlan {
  std::shared_ptr<const Plan> plan;
  uint64_t number = 0;
};

// Belongs to the network's thread, to which it posts what its own thread, the loader, has done. A
// model that goes, or is replaced, serves the requests that have begun with it to their end.
class ModelStore {
 public:
  using PlanReady = std::function<void(absl::StatusOr<NumberedPlan>)>;

  // `post` hands a task to the network's thread. Both must outlive the store, or its Stop.
  ModelStore(nibu::Translator* translator, std::function<void(std::function<void()>)> post);

  // Catalog::Read, by the loader. `done` is called on the network's thread.
  using CatalogReady = std::function<void(absl::StatusOr<std::shared_ptr<const Catalog>> catalog,
                                          std::vector<std::string> warnings)>;
  void ReadCatalog(const std::vector<std::string>& models, const std::string& folder,
                   const std::vector<std::string>& pinned, CatalogReady done);
  // Offers the models of a catalog in place of those of the last one, if any.
  void Offer(std::shared_ptr<const Catalog> catalog, const StoreOptions& options);
  // Loads all pinned models of a catalog, which need not be offered yet. `done` is called on the
  // network's thread, with the first error, after which none is loaded and none is left.
  void LoadPinned(std::shared_ptr<const Catalog> catalog, const StoreOptions& options,
                  std::function<void(absl::Status)> done);
  // REQUIRES: Offer has been called.
  const Catalog& catalog() const { return *catalog_; }

  // Hands over the plan for a route once its models are there: at once, where the plan is known, or
  // later, on the network's thread.
  void Prepare(const Route& route, bool is_html, int alternatives, PlanReady ready);

  // Call it every few seconds: lets go of models that have been idle for too long.
  void ReleaseIdle();
  // Models in memory.
  size_t loaded() const { return loaded_; }
  // Ends the loader; models that wait to be loaded are not.
  void Stop() { loader_.Stop(); }

 private:
  using PlanKey =
      std::tuple<const ServedModel*, const ServedModel*, std::string, std::string, bool, int>;
  struct KnownPlan {
    Route route;
    NumberedPlan plan;
    std::vector<PlanReady> waiting;  // while the plan is being prepared
  };

  // The following are the loader's.
  // Loads a model if it is not there; others may have to go, but not `other`, which may be null.
  absl::StatusOr<std::shared_ptr<const nibu::Model>> Load(const std::shared_ptr<ServedModel>& model,
                                                          const std::shared_ptr<ServedModel>& other,
                                                          const StoreOptions& options);
  // Loads the pinned ones of a catalog's models from this one on.
  void LoadPinnedFrom(size_t first, std::shared_ptr<const Catalog> catalog,
                      const StoreOptions& options, std::function<void(absl::Status)> done);
  absl::StatusOr<std::shared_ptr<const Plan>> MakePlan(const Route& route, bool is_html,
                                                       int alternatives,
                                                       const StoreOptions& options);
  void Unload(const std::shared_ptr<ServedModel>& model);
  void ReportLoaded();

  // Forgets the plans of a model.
  void ForgetPlans(const ServedModel* model);
  void TakePlan(const PlanKey& key, absl::StatusOr<std::shared_ptr<const Plan>> plan);

  nibu::Translator* const translator_;
  const std::function<void(std::function<void()>)> post_;
  std::shared_ptr<const Catalog> catalog_;
  StoreOptions options_;
  std::map<PlanKey, KnownPlan> plans_;
  uint64_t numbers_ = 0;
  size_t loaded_ = 0;

  std::vector<std::shared_ptr<ServedModel>> in_memory_;  // the loader's
  WorkThread loader_;                                    // the last member: it uses the others
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_MODEL_STORE_H_
