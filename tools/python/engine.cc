// Owns translators for Python, and waits for their end before the interpreter ends.
#include "tools/python/engine.h"

#include <unistd.h>

#include <set>
#include <thread>
#include <utility>

#include "tools/python/threads.h"
#include "tools/python/values.h"

namespace nibu::python {
namespace {

// Returns the engines that exist. The GIL guards them.
std::set<Engine*>& Engines() {
  static auto& engines = *new std::set<Engine*>;
  return engines;
}

// Destroys a translator that a process made. A forked child has none of its parent's threads, and
// counts none of its parent's translators.
void Destroy(Translator* translator, pid_t process) {
  if (process != getpid()) {
    delete translator;
    return;
  }
  if (Translator::InCallback()) {
    // The destructor waits for this thread, so another one has to call it.
    std::thread([translator, process] { Destroy(translator, process); }).detach();
    return;
  }
  if (PyGILState_Check() != 0) {
    const py::gil_scoped_release release;
    delete translator;
  } else {
    delete translator;
  }
  EndUse();
}

}  // namespace

Engine::Engine(std::unique_ptr<Translator> translator)
    : translator_(translator.release(),
                  [process = getpid()](Translator* owned) { Destroy(owned, process); }) {
  BeginUse();
  Engines().insert(this);
}

Engine::~Engine() { Engines().erase(this); }

std::shared_ptr<Translator> Engine::Use() const {
  LeaveAtEnd();
  if (translator_ == nullptr) Raise(absl::FailedPreconditionError("the translator was closed"));
  return translator_;
}

void Engine::Close() {
  LeaveAtEnd();
  const std::shared_ptr<Translator> closed = std::exchange(translator_, nullptr);
  if (closed == nullptr) return;
  const WithoutGil without_gil;
  closed->CancelAll();
}

void Engine::CloseAll() {
  BeginEnd();
  while (!Engines().empty()) {
    Engine* const next = *Engines().begin();
    Engines().erase(next);
    next->Close();
  }
  WaitForUses();
}

}  // namespace nibu::python
