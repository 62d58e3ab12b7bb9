// Implements the asynchronous calls of nibu/c.h: callbacks, tickets, and the queue of completions.
//
// The memory for an answer is allocated before its text is submitted, so that no answer can be lost
// for want of memory.

#include <sys/eventfd.h>
#include <unistd.h>

#include <list>
#include <mutex>

#include "tools/c/handles.h"

namespace {

using nibu::internal::CheckText;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::RequestOf;
using nibu::internal::Seconds;
using nibu::internal::SetResult;
using nibu::internal::TextOf;

// A request until its answer has been delivered.
struct Pending {
  std::unique_ptr<nibu_result> result;
  nibu_callback callback;
  std::shared_ptr<void> user;  // Its deleter is destroy_user.

  void Deliver(absl::StatusOr<nibu::Result> found) {
    nibu_error* error = nullptr;
    const nibu_status status = Guard(&error, [&] {
      if (!found.ok()) return found.status();
      SetResult(*std::move(found), &result->texts[0]);
      return absl::OkStatus();
    });
    const std::shared_ptr<void> owned = std::move(user);
    callback(owned.get(), status, status == NIBU_OK ? result.release() : nullptr, error);
  }
};

absl::Status Submit(nibu_translator* translator, const nibu_plan* plan, const char* text,
                    size_t length, const nibu_request* request, nibu_callback callback,
                    const std::shared_ptr<void>& user, nibu_ticket** ticket) {
  if (translator == nullptr) return Missing("translator");
  plan = translator->PlanOf(plan);
  if (plan == nullptr) return Missing("plan");
  if (callback == nullptr) return Missing("callback");
  absl::Status status = CheckText(text, length, "text");
  if (!status.ok()) return status;
  const absl::string_view source = TextOf(text, length);
  nibu::Request wanted = RequestOf(request);
  auto result = std::make_unique<nibu_result>();
  result->alignment = plan->alignment;
  result->is_scored = wanted.target.has_value();
  result->texts.push_back({std::string(source)});
  const auto pending = std::make_shared<Pending>(Pending{std::move(result), callback, user});
  auto made = std::make_unique<nibu_ticket>();
  auto submitted = translator->translator->Submit(
      source, plan->plan, std::move(wanted),
      [pending](uint64_t, absl::StatusOr<nibu::Result> found) {
        pending->Deliver(std::move(found));
      },
      Seconds(request == nullptr ? 0 : request->queue_timeout));
  if (!submitted.ok()) {
    pending->user.reset();
    return submitted.status();
  }
  made->ticket = *std::move(submitted);
  if (ticket != nullptr) *ticket = made.release();
  return absl::OkStatus();
}

struct Completion {
  uint64_t tag = 0;
  nibu_status status = NIBU_OK;
  nibu_result* result = nullptr;
  nibu_error* error = nullptr;
};

// The answers that have come. The descriptor is readable while there are any.
struct Queue {
  const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  std::mutex mutex;
  std::list<Completion> ended;

  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    for (const Completion& completion : ended) {
      nibu_result_free(completion.result);
      nibu_error_free(completion.error);
    }
    if (fd >= 0) close(fd);
  }
};

// The user pointer of a request with a tag. `place` is the list node for its answer, which is
// already allocated.
struct Tagged {
  std::shared_ptr<Queue> queue;
  std::list<Completion> place;
};

void Complete(void* user, nibu_status status, nibu_result* result, nibu_error* error) {
  auto* const tagged = static_cast<Tagged*>(user);
  tagged->place.front() = {tagged->place.front().tag, status, result, error};
  Queue& queue = *tagged->queue;
  const std::lock_guard<std::mutex> lock(queue.mutex);
  queue.ended.splice(queue.ended.end(), tagged->place);
  eventfd_write(queue.fd, 1);
}

}  // namespace

struct nibu_completions {
  std::shared_ptr<Queue> queue;
};

nibu_status nibu_submit(nibu_translator* translator, const nibu_plan* plan, const char* text,
                        size_t length, const nibu_request* request, nibu_callback callback,
                        void* user, nibu_destroy destroy_user, nibu_ticket** ticket,
                        nibu_error** error) {
  return Guard(error, [&] {
    // A shared_ptr calls destroy_user even if there is no memory for its counter.
    const auto nothing = [](void*) {};
    const std::shared_ptr<void> owned(user, destroy_user == nullptr ? nothing : destroy_user);
    if (ticket != nullptr) *ticket = nullptr;
    return Submit(translator, plan, text, length, request, callback, owned, ticket);
  });
}

void nibu_cancel(nibu_translator* translator, const nibu_ticket* ticket) {
  if (translator != nullptr && ticket != nullptr) translator->translator->Cancel(ticket->ticket);
}

void nibu_ticket_free(nibu_ticket* ticket) { delete ticket; }

nibu_status nibu_completions_new(nibu_completions** completions, nibu_error** error) {
  return Guard(completions, "completions", error, [&] {
    auto queue = std::make_shared<Queue>();
    if (queue->fd < 0) {
      return absl::ResourceExhaustedError(
          "there is no file descriptor for a queue; raise ulimit -n");
    }
    *completions = new nibu_completions{std::move(queue)};
    return absl::OkStatus();
  });
}

void nibu_completions_free(nibu_completions* completions) { delete completions; }

int nibu_completions_fd(const nibu_completions* completions) {
  return completions == nullptr ? -1 : completions->queue->fd;
}

nibu_status nibu_completions_submit(nibu_completions* completions, nibu_translator* translator,
                                    const nibu_plan* plan, const char* text, size_t length,
                                    const nibu_request* request, uint64_t tag, nibu_ticket** ticket,
                                    nibu_error** error) {
  return Guard(error, [&] {
    if (ticket != nullptr) *ticket = nullptr;
    if (completions == nullptr) return Missing("completions");
    const auto tagged = std::make_shared<Tagged>();
    tagged->queue = completions->queue;
    tagged->place.push_back({.tag = tag});
    return Submit(translator, plan, text, length, request, Complete, tagged, ticket);
  });
}

int nibu_completions_next(nibu_completions* completions, uint64_t* tag, nibu_status* status,
                          nibu_result** result, nibu_error** error) {
  Completion next;
  bool has_one = false;
  if (completions != nullptr) {
    Queue& queue = *completions->queue;
    const std::lock_guard<std::mutex> lock(queue.mutex);
    has_one = !queue.ended.empty();
    if (has_one) {
      next = queue.ended.front();
      queue.ended.pop_front();
    }
    eventfd_t count = 0;
    if (queue.ended.empty()) eventfd_read(queue.fd, &count);
  }
  if (tag != nullptr) *tag = next.tag;
  if (status != nullptr) *status = next.status;
  nibu_result_free(result == nullptr ? next.result : nullptr);
  nibu_error_free(error == nullptr ? next.error : nullptr);
  if (result != nullptr) *result = next.result;
  if (error != nullptr) *error = next.error;
  return has_one ? 1 : 0;
}
