// Binds the classes Engine, Plan and Pending.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "nibu/translator.h"
#include "tools/python/bind.h"
#include "tools/python/engine.h"
#include "tools/python/pending.h"
#include "tools/python/threads.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

using Clock = std::chrono::steady_clock;

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

// The class Pending of Python.
class Pending {
 public:
  Pending(std::weak_ptr<Translator> translator, std::shared_ptr<Outcome> outcome, Ticket ticket)
      : translator_(std::move(translator)),
        outcome_(std::move(outcome)),
        ticket_(std::move(ticket)) {}

  std::shared_ptr<Result> Wait(const std::optional<double>& timeout) const {
    if (!outcome_->Wait(After(timeout))) {
      Raise(absl::DeadlineExceededError("the translation is not there yet"));
    }
    return ValueOf(outcome_->result());
  }

  bool is_done() const { return outcome_->is_done(); }

  void Cancel() const {
    const std::shared_ptr<Translator> translator = translator_.lock();
    if (translator == nullptr) return;
    const WithoutGil without_gil;
    translator->Cancel(ticket_);
  }

  void OnDone(py::object function) const { outcome_->OnDone(std::move(function)); }

 private:
  const std::weak_ptr<Translator> translator_;
  const std::shared_ptr<Outcome> outcome_;
  const Ticket ticket_;
};

// Submits a text. Waits while the queue is full, except within a callback.
std::unique_ptr<Pending> Submit(const Engine& engine, py::handle text, const PlanPtr& plan,
                                const py::object& target_prefix, const py::object& target,
                                int64_t priority, const std::optional<double>& deadline,
                                uint64_t key, const py::object& on_step) {
  const std::shared_ptr<Translator> translator = engine.Use();
  const std::string bytes = TextOf(text);
  Request request;
  request.priority = priority;
  request.deadline = After(deadline).value_or(Clock::time_point::max());
  request.key = key;
  if (!target_prefix.is_none()) request.target_prefix = TextOf(target_prefix);
  if (!target.is_none()) request.target = TextOf(target);
  if (!on_step.is_none()) {
    request.on_step = [function = Share(on_step)](const Step& step) {
      const py::gil_scoped_acquire gil;
      return CallUser(function.get(), py::cast(step));
    };
  }
  const auto outcome = std::make_shared<Outcome>();
  absl::StatusOr<Ticket> ticket;
  {
    const WithoutGil without_gil;
    ticket = translator->Submit(
        bytes, plan.plan, std::move(request),
        [outcome](uint64_t, absl::StatusOr<Result> result) { outcome->Take(std::move(result)); },
        kForever);
  }
  return std::make_unique<Pending>(translator, outcome, ValueOf(std::move(ticket)));
}

}  // namespace

void BindEngine(py::module_* module) {
  py::class_<PlanPtr>(*module, "Plan", "Options that were checked against a model.")
      .def_readonly("has_repeats", &PlanPtr::has_repeats);

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
      .def("submit", &Submit, py::arg("text"), py::arg("plan"), py::kw_only(),
           py::arg("target_prefix") = py::none(), py::arg("target") = py::none(),
           py::arg("priority") = 0, py::arg("deadline") = py::none(), py::arg("key") = 0,
           py::arg("on_step") = py::none())
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
