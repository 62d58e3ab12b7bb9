// Implements the blocking calls of nibu/c.h: submits all texts, and waits for the last of them.

#include <condition_variable>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "tools/text/c/handles.h"

namespace {

using nibu::internal::Clear;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::RequestOf;
using nibu::internal::SetResult;
using nibu::internal::SubmitOne;

// The texts of one call. Thread-safe.
class Batch {
 public:
  explicit Batch(size_t count) : results_(count), missing_(count) {}

  // Takes the result of a text.
  void Take(size_t text, absl::StatusOr<nibu::Result> result) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (result.ok()) {
      results_[text] = *std::move(result);
    } else if (status_.ok() || text < failed_) {
      failed_ = text;
      status_ = result.status();
    }
    if (--missing_ == 0) complete_.notify_all();
  }

  bool has_failed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !status_.ok();
  }

  // Waits for all texts. Returns their results, or the error of the first text that failed.
  absl::StatusOr<std::vector<nibu::Result>> Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    complete_.wait(lock, [this] { return missing_ == 0; });
    if (!status_.ok()) return status_;
    return std::move(results_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable complete_;
  std::vector<nibu::Result> results_;
  absl::Status status_;
  size_t failed_ = 0;
  size_t missing_;
};

// The texts of a call, in the caller's arrays.
struct Texts {
  const char* const* texts;
  const size_t* lengths;

  absl::Status Check(size_t count, absl::string_view argument) const {
    if (count > 0 && texts == nullptr) return Missing(argument);
    for (size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr && (lengths == nullptr || lengths[i] > 0)) {
        return Missing(absl::StrCat(argument, "[", i, "]"));
      }
    }
    return absl::OkStatus();
  }
  absl::string_view At(size_t i) const {
    return lengths == nullptr ? nibu::internal::TextOf(texts[i])
                              : nibu::internal::TextOf(texts[i], lengths[i]);
  }
};

// `targets`: the translations to be scored, or null if texts are to be translated.
absl::Status TranslateAll(nibu_translator* translator, const nibu_plan* plan, const Texts& texts,
                          const Texts* targets, size_t count, const nibu_request* request,
                          nibu_result** result) {
  absl::Status status = Clear(result, "result");
  if (status.ok() && translator == nullptr) status = Missing("translator");
  if (status.ok() && plan == nullptr) status = Missing("plan");
  if (status.ok()) status = texts.Check(count, "texts");
  if (status.ok() && targets != nullptr) status = targets->Check(count, "targets");
  if (!status.ok()) return status;
  auto made = std::make_unique<nibu_result>();
  made->alignment = plan->alignment;
  made->is_scored = targets != nullptr;
  made->texts.reserve(count);
  for (size_t i = 0; i < count; ++i) made->texts.push_back({std::string(texts.At(i))});

  const nibu::Request wanted = RequestOf(request);
  const auto batch = std::make_shared<Batch>(count);
  for (size_t i = 0; i < count; ++i) {
    nibu::Request of_text = {wanted.priority, wanted.deadline, wanted.key + i,
                             wanted.target_prefix};
    if (targets != nullptr) of_text.target = std::string(targets->At(i));
    const auto ticket = SubmitOne(
        translator->translator.get(), *plan, texts.At(i), std::move(of_text),
        [batch, i](uint64_t, absl::StatusOr<nibu::Result> taken) {
          batch->Take(i, std::move(taken));
        },
        nibu::kForever);
    if (!ticket.ok()) batch->Take(i, ticket.status());
    if (!batch->has_failed()) continue;
    // The other texts are not begun.
    while (++i < count) batch->Take(i, absl::CancelledError("the request was cancelled"));
  }
  auto results = batch->Await();
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < count; ++i) SetResult(std::move((*results)[i]), &made->texts[i]);
  *result = made.release();
  return absl::OkStatus();
}

}  // namespace

nibu_status nibu_translate(nibu_translator* translator, const nibu_plan* plan,
                           const char* const* texts, const size_t* lengths, size_t count,
                           const nibu_request* request, nibu_result** result, nibu_error** error) {
  return Guard(error, [&] {
    return TranslateAll(translator, plan, {texts, lengths}, nullptr, count, request, result);
  });
}

nibu_status nibu_score(nibu_translator* translator, const nibu_plan* plan, const char* const* texts,
                       const size_t* lengths, const char* const* targets,
                       const size_t* target_lengths, size_t count, const nibu_request* request,
                       nibu_result** result, nibu_error** error) {
  return Guard(error, [&] {
    const Texts scored = {targets, target_lengths};
    return TranslateAll(translator, plan, {texts, lengths}, &scored, count, request, result);
  });
}
