// Fuzzes the requests of nibu-serve. The first byte of the input chooses the path, the second one
// the content type. A line break ends the query (which is also tried as a content type), and the
// body follows. Each request must be answered once, in JSON, with as many texts as it had.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/serve/service.h"

namespace nibu::internal {
namespace {

constexpr const char* kPaths[] = {"/translate",    "/detect",        "/imme",
                                  "/v2/translate", "/v2/glossaries", "/translate_file"};
constexpr const char* kTypes[] = {"application/json", "application/x-www-form-urlencoded",
                                  "multipart/form-data; boundary=b", ""};

// Keeps the tasks of the network's thread, which this program's only thread does.
class Tasks {
 public:
  void Post(std::function<void()> task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  void DoNext() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
};

Tasks* const tasks = new Tasks;

Service* NewService() {
  SpeedOptions speed;
  speed.threads = 1;
  auto translator = nibu::Translator::Create(speed);
  std::vector<std::string> warnings;
  const auto catalog = Catalog::Read({""}, "", {}, nullptr, &warnings);
  if (!translator.ok() || !catalog.ok()) {
    std::fprintf(stderr, "%s\n", catalog.status().ToString().c_str());
    std::abort();
  }
  auto* const service = new Service(
      translator->release(), [](std::function<void()> task) { tasks->Post(std::move(task)); });
  ServeOptions options;
  options.log_requests = false;
  service->SetOptions(options);
  service->cache().SetMaxBytes(size_t{1} << 20);
  // The addresses of clients are those that X-Forwarded-For gives.
  service->access().Set({}, {0}, {"", "1.2.3.4"});
  service->store().Offer(*catalog, {});
  service->jobs().feed().SetSubmitUnit(
      [](const TextUnit& unit, const auto&, const auto&, const nibu::Done& done) {
        Result result;
        result.hypotheses.emplace_back().text = unit.source();
        done(0, std::move(result));
        return nibu::Ticket();
      });
  return service;
}

// Returns the number of texts that a request asks to be translated; 0: that is not known.
size_t CountTexts(const HttpRequest& request) {
  const auto json = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!absl::StartsWith(request.content_type, "application/json") || !json.is_object()) return 0;
  if (request.path != "/translate") return 0;
  const auto q = json.find("q");
  return q == json.end() ? 0 : q->is_array() ? q->size() : 1;
}

void Ask(HttpRequest request) {
  static Service* const service = NewService();
  const size_t count = CountTexts(request);
  std::optional<HttpAnswer> answer;
  service->Handle(std::move(request), [&answer](HttpAnswer given) {
    if (answer.has_value()) std::abort();
    answer = std::move(given);
  });
  while (!answer.has_value()) tasks->DoNext();
  const auto json = nlohmann::json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_structured()) std::abort();
  if (answer->status != 200) {
    if (answer->status < 400 || answer->status > 413) std::abort();
    if (!json.contains("error") && !json.contains("message")) std::abort();
  } else if (count > 0 && json.is_object()) {
    const auto& texts = json.at("translatedText");
    if (count != (texts.is_array() ? texts.size() : 1)) std::abort();
  }
}

}  // namespace
}  // namespace nibu::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  nibu::internal::HttpRequest request;
  request.method = "POST";
  request.path = nibu::internal::kPaths[data[0] % std::size(nibu::internal::kPaths)];
  const absl::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t end = rest.find('\n');
  request.query = std::string(rest.substr(0, end));
  if (end != absl::string_view::npos) request.body = std::string(rest.substr(end + 1));
  request.forwarded_for = request.query;
  request.content_type = nibu::internal::kTypes[data[1] % std::size(nibu::internal::kTypes)];
  nibu::internal::HttpRequest other = request;
  other.content_type = request.query;
  nibu::internal::Ask(std::move(request));
  nibu::internal::Ask(std::move(other));
  return 0;
}
