// Answers the requests for each path of the server.
#ifndef NIBU_TOOLS_SERVE_SERVICE_H_
#define NIBU_TOOLS_SERVE_SERVICE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "nibu/nibu.h"
#include "tools/serve/access.h"
#include "tools/serve/answers.h"
#include "tools/serve/glossaries.h"
#include "tools/serve/http.h"
#include "tools/serve/jobs.h"
#include "tools/serve/metrics.h"
#include "tools/serve/model_store.h"
#include "tools/serve/parameters.h"
#include "tools/serve/request_log.h"
#include "tools/serve/result_cache.h"
#include "tools/serve/serve_options.h"
#include "tools/serve/translate_request.h"
#include "tools/serve/translated_files.h"
#include "tools/text/model/catalog.h"

namespace nibu::internal {

// Used by the network's thread. Only translations and changes of glossaries take time; all other
// requests are answered at once from memory.
class Service {
 public:
  // `post` hands a task to the network's thread; `translator` must outlive the service.
  Service(nibu::Translator* translator, std::function<void(std::function<void()>)> post);

  HttpCancel Handle(HttpRequest request, HttpReply reply);

  // Sets a function that adds metrics about connections to those of /metrics.
  void SetMoreMetrics(std::function<void(MetricsText*)> more) { more_metrics_ = std::move(more); }
  // May be called while the server runs. Uses the options about requests and their queue.
  void SetOptions(const ServeOptions& options);
  // Says that all pinned models are loaded; from then on /ready answers 200.
  void SetReady() { is_ready_ = true; }
  // Says that the program is about to end; from then on /ready answers 503.
  void SetUnready() { is_ending_ = true; }
  // Refuses translations from now on; those that were accepted go on.
  void Drain() { is_ending_ = is_draining_ = true; }
  // Ends the threads of its own.
  void Stop();

  Access& access() { return access_; }
  ModelStore& store() { return store_; }
  ResultCache& cache() { return cache_; }
  Glossaries& glossaries() { return glossaries_; }
  Jobs& jobs() { return jobs_; }

 private:
  struct Endpoint;
  struct Exchange;
  struct Batch;
  struct Call;
  // Returns the endpoint of a path, which is plain, and the part of the path behind the endpoint's.
  static const Endpoint* Find(const std::string& path, std::string* rest);
  // Returns the endpoint of a request, or null if there is none by the options.
  const Endpoint* FindServed(const HttpRequest& request, std::string* rest) const;
  HttpCancel Answer(const Endpoint& endpoint, const HttpRequest& request, std::string rest,
                    const std::shared_ptr<Exchange>& exchange);
  HttpCancel Translate(ReadRequest read, const Call& call);
  HttpCancel ChangeGlossaries(const Call& call);
  HttpCancel Align(const Call& call);
  void SubmitGroup(const TextGroup& group, const JobRequest& all,
                   const std::shared_ptr<Batch>& batch);
  void TakeGroup(const TextGroup& group, absl::StatusOr<std::vector<Translations>> translations,
                 const std::shared_ptr<Batch>& batch);
  bool Cancel(Batch* batch);
  HttpAnswer FailedAnswer(const absl::Status& status) const;
  HttpAnswer Busy(const std::string& message) const;
  HttpAnswer Ready() const;
  HttpAnswer Metrics() const;
  void End(Exchange* exchange, HttpAnswer answer);

  nibu::Translator* const translator_;
  const std::function<void(std::function<void()>)> post_;
  ServeOptions options_;
  Access access_;
  ResultCache cache_;
  ModelStore store_;
  Jobs jobs_;
  Glossaries glossaries_;
  TranslatedFiles files_;
  RequestCounts counts_;
  // The time of the start, in seconds since 1970.
  const double start_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  RequestLog log_;
  std::function<void(MetricsText*)> more_metrics_;
  bool is_ready_ = false;
  bool is_ending_ = false;
  bool is_draining_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_SERVICE_H_
