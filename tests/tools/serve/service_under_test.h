// A server's service without a network. The test's thread does what the network's thread would do.
#ifndef NIBU_TESTS_TOOLS_SERVE_SERVICE_UNDER_TEST_H_
#define NIBU_TESTS_TOOLS_SERVE_SERVICE_UNDER_TEST_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tools/serve/service.h"

namespace nibu::internal {

using Json = nlohmann::json;

// A unit that was submitted. The test decides when it ends, and with which translation.
struct HeldUnit {
  std::string source;
  int64_t priority;
  nibu::Done done;
  std::weak_ptr<const nibu::Plan> plan;

  void Finish() const {
    Result result;
    result.hypotheses.emplace_back().text = absl::StrCat("<", source, ">");
    done(0, std::move(result));
  }
};

class TestService {
 public:
  explicit TestService(const ServeOptions& options = {}, const std::string& model = "") {
    SpeedOptions speed;
    speed.threads = 2;
    speed.queue_size = 1 << 30;
    translator_ = *nibu::Translator::Create(speed);
    service_ = std::make_unique<Service>(translator_.get(), [this](std::function<void()> task) {
      const std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
      changed_.notify_one();
    });
    ServeOptions quiet = options;
    quiet.log_requests = false;
    service_->SetOptions(quiet);
    Offer({model.empty() ? CaptionsModelPath() : model});
  }
  ~TestService() {
    service_->Stop();
    // Its threads post tasks to the service's queue until then.
    translator_.reset();
  }

  void Offer(const std::vector<std::string>& models, const StoreOptions& options = {}) {
    std::vector<std::string> warnings;
    service_->store().Offer(*Catalog::Read(models, "", {}, nullptr, &warnings), Float32(options));
  }
  static StoreOptions Float32(StoreOptions options) {
    options.model.compute_type = ComputeType::kFloat32;
    return options;
  }

  // Keeps units in `held_` from now on, instead of translating them.
  void Hold() {
    service_->jobs().feed().SetSubmitUnit([this](const TextUnit& unit, const auto& plan,
                                                 const nibu::Request& request, nibu::Done done) {
      const std::lock_guard<std::mutex> lock(mutex_);
      held_.push_back({unit.source(), request.priority, std::move(done), plan});
      changed_.notify_one();
      return nibu::Ticket();
    });
  }
  // Waits for so many held units and returns them.
  std::vector<HeldUnit> TakeHeld(size_t count) {
    RunUntil([&] { return held_.size() >= count; });
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(held_, {});
  }

  struct Pending {
    std::optional<HttpAnswer> answer;
    HttpCancel cancel;
  };
  std::shared_ptr<Pending> Send(const HttpRequest& request) {
    auto pending = std::make_shared<Pending>();
    // Only the test may own it. What the service keeps for the request must not keep it alive.
    const std::weak_ptr<Pending> weak = pending;
    pending->cancel = service_->Handle(request, [weak](HttpAnswer answer) {
      if (const auto held = weak.lock(); held != nullptr) held->answer = std::move(answer);
    });
    return pending;
  }
  std::shared_ptr<Pending> SendJson(const Json& json, const std::string& address = "1.1.1.1") {
    HttpRequest request;
    request.method = "POST";
    request.path = "/translate";
    request.content_type = "application/json";
    request.body = json.dump();
    request.address = address;
    return Send(request);
  }
  // Sends a request in JSON to any path, and waits for its answer.
  HttpAnswer Post(const std::string& path, const Json& json, const std::string& key = "") {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.content_type = "application/json";
    request.body = json.dump();
    if (!key.empty()) request.authorization = absl::StrCat("DeepL-Auth-Key ", key);
    return Await(Send(request));
  }
  HttpAnswer Await(const std::shared_ptr<Pending>& pending) {
    RunUntil([&] { return pending->answer.has_value(); });
    return *pending->answer;
  }
  Json Ask(const Json& json) {
    const HttpAnswer answer = Await(SendJson(json));
    Json read = Json::parse(answer.body);
    if (answer.status != 200) read["status"] = answer.status;
    return read;
  }
  HttpAnswer Get(const std::string& path, const std::string& method = "GET") {
    HttpRequest request;
    request.method = method;
    request.path = path.substr(0, path.find('?'));
    if (request.path != path) request.query = path.substr(request.path.size() + 1);
    return Await(Send(request));
  }
  std::string ErrorOf(const Json& json) { return Ask(json).value("error", "no error"); }

  // Does the network's tasks until `is_done`, which is called while no other task is added.
  void RunUntil(const std::function<bool()>& is_done) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!is_done()) {
      changed_.wait(lock, [&] { return !tasks_.empty() || is_done(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  // Does the network's tasks that wait now.
  void RunWaiting() {
    RunUntil([this] { return tasks_.empty(); });
  }

  Service& service() { return *service_; }
  nibu::Translator& translator() { return *translator_; }

 private:
  std::unique_ptr<nibu::Translator> translator_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<HeldUnit> held_;
  std::unique_ptr<Service> service_;
};

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_SERVE_SERVICE_UNDER_TEST_H_
