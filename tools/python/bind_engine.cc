// Binds the classes Engine, Plan and Pending.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "nibu/translator.h"
#include "tools/python/bind.h"
#include "tools/python/engine.h"
#include "tools/python/pending.h"
#include "tools/python/threads.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

using Clock = std::chrono::steady_clock;
using Texts = std::vector<std::string>;

// The most texts of a list that are under way at a time, for each thread of the translator.
constexpr size_t kAhead = 1024;

// The class Plan of Python.
struct PlanPtr {
  std::shared_ptr<const Plan> plan;
  bool has_repeats;  // Equal texts have equal results: nothing is sampled.
};

// Returns the time so many seconds from now, or nullopt if there is no limit, or none within a
// year.
std::optional<Clock::time_point> After(const std::optional<double>& seconds) {
  constexpr double kYear = 365.0 * 24 * 3600;
  if (!seconds.has_value() || !(*seconds < kYear)) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::max(*seconds, 0.0)));
}

Request MakeRequest(int64_t priority, const std::optional<double>& deadline) {
  Request request;
  request.priority = priority;
  request.deadline = After(deadline).value_or(Clock::time_point::max());
  return request;
}

// Submits a text. Waits while the queue is full, except within a callback. To be called without the
// GIL.
absl::StatusOr<Ticket> Submit(Translator* translator, const std::string& text, const PlanPtr& plan,
                              Request request, size_t index,
                              const std::shared_ptr<Requests>& requests) {
  return translator->Submit(
      text, plan.plan, std::move(request),
      [requests, index](uint64_t, absl::StatusOr<Result> result) {
        requests->Take(index, std::move(result));
      },
      kForever);
}

// The class Pending of Python.
class Pending {
 public:
  Pending(std::weak_ptr<Translator> translator, std::shared_ptr<Requests> requests, Ticket ticket)
      : translator_(std::move(translator)),
        requests_(std::move(requests)),
        ticket_(std::move(ticket)) {}

  std::shared_ptr<Result> Wait(const std::optional<double>& timeout) const {
    if (!requests_->Wait(After(timeout))) {
      Raise(absl::DeadlineExceededError("the translation is not there yet"));
    }
    return ValueOf(requests_->results())[0];
  }

  bool is_done() const { return requests_->is_done(); }

  void Cancel() const {
    const std::shared_ptr<Translator> translator = translator_.lock();
    if (translator == nullptr) return;
    const WithoutGil without_gil;
    translator->Cancel(ticket_);
  }

  void OnDone(py::object function) const { requests_->OnDone(std::move(function)); }

 private:
  const std::weak_ptr<Translator> translator_;
  const std::shared_ptr<Requests> requests_;
  const Ticket ticket_;
};

std::unique_ptr<Pending> SubmitOne(const Engine& engine, py::handle text, const PlanPtr& plan,
                                   const py::object& target_prefix, const py::object& target,
                                   int64_t priority, const std::optional<double>& deadline,
                                   uint64_t key, const py::object& on_step) {
  const std::shared_ptr<Translator> translator = engine.Use();
  const std::string bytes = TextOf(text);
  Request request = MakeRequest(priority, deadline);
  request.key = key;
  if (!target_prefix.is_none()) request.target_prefix = TextOf(target_prefix);
  if (!target.is_none()) request.target = TextOf(target);
  if (!on_step.is_none()) {
    request.on_step = [function = Share(on_step)](const Step& step) {
      const py::gil_scoped_acquire gil;
      return CallUser(function.get(), py::cast(step));
    };
  }
  const auto requests = std::make_shared<Requests>(1);
  absl::StatusOr<Ticket> ticket;
  {
    const WithoutGil without_gil;
    ticket = Submit(translator.get(), bytes, plan, std::move(request), 0, requests);
  }
  return std::make_unique<Pending>(translator, requests, ValueOf(std::move(ticket)));
}

// Returns the elements of an optional list, which has one for each text. Raises ValueError if there
// are more or fewer.
std::optional<Texts> OneEach(const py::object& list, const char* name, size_t count) {
  if (list.is_none()) return std::nullopt;
  Texts texts;
  for (const py::handle text : list) {
    texts.push_back(text.is_none() ? "" : TextOf(text, name, static_cast<int>(texts.size())));
  }
  if (texts.size() != count) {
    throw py::value_error(std::string(name) + " must have one element for each text");
  }
  return texts;
}

std::vector<std::shared_ptr<Result>> Run(const Engine& engine, py::handle texts,
                                         const PlanPtr& plan, const py::object& target_prefixes,
                                         const py::object& targets, int64_t priority,
                                         const std::optional<double>& deadline) {
  RefuseToWait();
  const std::shared_ptr<Translator> translator = engine.Use();
  const Texts all = TextsOf(texts, "source");
  const std::optional<Texts> prefixes = OneEach(target_prefixes, "target_prefix", all.size());
  const std::optional<Texts> scored = OneEach(targets, "target", all.size());
  const auto requests = std::make_shared<Requests>(all.size());
  std::vector<Ticket> tickets;
  size_t begun = 0;
  std::map<std::array<absl::string_view, 3>, size_t> known;
  std::vector<size_t> same(all.size());  // For each text, the first one that is equal.
  const auto submit = [&](size_t i) {
    same[i] = i;
    if (plan.has_repeats) {
      const auto of = [i](const std::optional<Texts>& list) {
        return list ? absl::string_view((*list)[i]) : absl::string_view();
      };
      same[i] = known.try_emplace({all[i], of(prefixes), of(scored)}, i).first->second;
    }
    if (same[i] != i) return requests->Take(i, Result());
    Request request = MakeRequest(priority, deadline);
    request.key = i;
    if (prefixes.has_value()) request.target_prefix = (*prefixes)[i];
    if (scored.has_value()) request.target = (*scored)[i];
    auto ticket = Submit(translator.get(), all[i], plan, std::move(request), i, requests);
    if (ticket.ok()) {
      tickets.push_back(*std::move(ticket));
    } else {
      requests->Take(i, ticket.status());
    }
  };
  const size_t ahead = kAhead * static_cast<size_t>(translator->threads());
  try {
    // The texts under way are bounded, so that other calls get their turns among those of a long
    // list. After an error, or once the translator is closed, no more texts are begun.
    for (size_t i = 0; i < all.size() && !requests->has_failed(); ++i) {
      if (i >= ahead) requests->Wait(std::nullopt, all.size() - i + ahead - 1);
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      const WithoutGil without_gil;
      submit(i);
      begun = i + 1;
    }
    for (; begun < all.size(); ++begun)
      requests->Take(begun, absl::CancelledError("the request was cancelled"));
    requests->Wait(std::nullopt);
  } catch (...) {
    const WithoutGil without_gil;
    for (const Ticket& ticket : tickets) translator->Cancel(ticket);
    throw;
  }
  std::vector<std::shared_ptr<Result>> found = ValueOf(requests->results());
  for (size_t i = 0; i < found.size(); ++i) found[i] = found[same[i]];
  return found;
}

}  // namespace

void BindEngine(py::module_* module) {
  py::class_<PlanPtr>(*module, "Plan").doc() = "Options that were checked against a model.";

  py::class_<Pending>(*module, "Pending")
      .def("result", &Pending::Wait, py::arg("timeout") = py::none())
      .def("done", &Pending::is_done)
      .def("cancel", &Pending::Cancel)
      .def("add_done_callback", &Pending::OnDone, py::arg("function"));

  py::class_<Engine>(*module, "Engine")
      .def(py::init([](const py::dict& options) {
             return std::make_unique<Engine>(ValueOf(Translator::Create(SpeedOptionsOf(options))));
           }),
           py::arg("options") = py::dict())
      .def(
          "prepare",
          [](const Engine& self, const ModelPtr& model, const py::dict& values) {
            const std::shared_ptr<Translator> translator = self.Use();
            const Options options = OptionsOf(values);
            absl::StatusOr<std::shared_ptr<const Plan>> plan;
            {
              const WithoutGil without_gil;
              plan = translator->Prepare(model.model, options);
            }
            return PlanPtr{ValueOf(std::move(plan)), options.sampling_topk == 1};
          },
          py::arg("model"), py::arg("options") = py::dict())
      .def("submit", &SubmitOne, py::arg("text"), py::arg("plan"), py::kw_only(),
           py::arg("target_prefix") = py::none(), py::arg("target") = py::none(),
           py::arg("priority") = 0, py::arg("deadline") = py::none(), py::arg("key") = 0,
           py::arg("on_step") = py::none())
      .def("run", &Run, py::arg("texts"), py::arg("plan"), py::kw_only(),
           py::arg("target_prefixes") = py::none(), py::arg("targets") = py::none(),
           py::arg("priority") = 0, py::arg("deadline") = py::none())
      .def("cancel_all",
           [](const Engine& self) {
             const std::shared_ptr<Translator> translator = self.Use();
             const WithoutGil without_gil;
             translator->CancelAll();
           })
      .def("close", &Engine::Close)
      .def_property_readonly("threads", [](const Engine& self) { return self.Use()->threads(); });
  module->def("refuse_to_wait", &RefuseToWait);
  module->def("leave_at_end", &LeaveAtEnd);
  module->def("close_all", &Engine::CloseAll);
}

}  // namespace nibu::python
