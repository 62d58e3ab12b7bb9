// library_example MODEL: uses the library as a server does. It loads a model twice, with different
// options, sends requests to both from several threads, cancels some, sends invalid ones in
// between, and checks every answer against a run alone. Exit status 0: all answers were right.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nibu/nibu.h"

namespace {

constexpr size_t kThreads = 4;
constexpr size_t kRequests = 1000;
constexpr size_t kKinds = 5;
constexpr size_t kModels = 2;

std::atomic<int> errors{0};

void Expect(bool ok, const std::string& what) {
  if (ok) return;
  ++errors;
  std::fprintf(stderr, "library_example: %s\n", what.c_str());
}

// Returns the value. If there is none, prints the reason and ends the program.
template <typename T>
T Value(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "library_example: %s\n", std::string(value.status().message()).c_str());
  std::exit(1);
}

std::vector<std::string> Lines() {
  return {"A man is riding a bicycle.",
          "Two dogs are playing in the snow. A child is watching them.",
          "A woman in a red dress is singing on a stage.",
          "",
          "The boy is eating an apple.",
          "People are waiting for a train. It is late. Nobody is happy."};
}

std::vector<nibu::Options> Kinds() {
  std::vector<nibu::Options> kinds(kKinds);
  kinds[0].beam_size = 1;
  kinds[1].beam_size = 2;
  kinds[1].num_hypotheses = 2;
  kinds[2].max_decoding_length = 5;
  kinds[3].split_sentences = false;
  kinds[3].length_penalty = 0.6f;
  kinds[4].max_input_length = 4;
  kinds[4].min_decoding_length = 3;
  return kinds;
}

bool Same(const nibu::Result& a, const nibu::Result& b) {
  if (a.hypotheses.size() != b.hypotheses.size()) return false;
  for (size_t n = 0; n < a.hypotheses.size(); ++n) {
    if (a.hypotheses[n].text != b.hypotheses[n].text ||
        a.hypotheses[n].score != b.hypotheses[n].score ||
        a.hypotheses[n].token_scores != b.hypotheses[n].token_scores) {
      return false;
    }
  }
  return true;
}

// Sends requests and options that must be refused, one by one.
void SendNonsense(nibu::Translator* translator, const std::shared_ptr<const nibu::Model>& model,
                  const std::shared_ptr<const nibu::Plan>& plan) {
  const auto refuse_options = [&](const char* name, const char* value) {
    nibu::Options options;
    absl::Status status = nibu::SetOption(name, value, &options);
    if (status.ok()) status = translator->Prepare(model, options).status();
    Expect(status.code() == absl::StatusCode::kInvalidArgument, name);
    Expect(nibu::OptionOfError(status) == name, "the error names no option");
  };
  refuse_options("beam_size", "0");
  refuse_options("beam_size", "many");
  refuse_options("max_decoding_length", "-1");
  refuse_options("max_input_length", "0");
  refuse_options("tgt_lang", "xx");
  refuse_options("protect_pattern", "(");
  refuse_options("suppress_sequences", "no such token");

  const auto refuse = [&](const std::string& line, std::shared_ptr<const nibu::Plan> with,
                          nibu::Request request, const char* what) {
    const auto ticket = translator->Submit(
        line, std::move(with), std::move(request), [](uint64_t, absl::StatusOr<nibu::Result>) {
          Expect(false, "a request that was refused has an answer");
        });
    Expect(!ticket.ok(), what);
  };
  nibu::Request request;
  refuse("no plan", nullptr, request, "no plan");
  request.target = "something";
  refuse("", plan, request, "a target for a blank line");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: library_example MODEL\n");
    return 2;
  }
  nibu::ModelOptions loading;
  loading.compute_type = nibu::ComputeType::kFloat32;
  nibu::SpeedOptions speed;
  speed.threads = 2;
  auto translator = Value(nibu::Translator::Create(speed));
  std::vector<std::shared_ptr<const nibu::Model>> models;
  models.push_back(Value(nibu::Model::Load(argv[1], loading)));
  loading.compute_type = nibu::ComputeType::kInt8;
  models.push_back(Value(nibu::Model::Load(argv[1], loading)));

  // Every request must give the same result as its line translated alone.
  const std::vector<std::string> lines = Lines();
  const std::vector<nibu::Options> kinds = Kinds();
  std::vector<std::vector<nibu::Result>> expected(kModels * kKinds);
  for (size_t kind = 0; kind < kModels * kKinds; ++kind) {
    const auto plan = Value(translator->Prepare(models[kind / kKinds], kinds[kind % kKinds]));
    for (const std::string& line : lines) {
      expected[kind].push_back(Value(translator->Translate({line}, plan))[0]);
    }
  }

  std::mutex mutex;
  size_t answers = 0;
  size_t cancelled = 0;
  const auto check = [&](uint64_t key, const absl::StatusOr<nibu::Result>& result) {
    const std::lock_guard<std::mutex> lock(mutex);
    ++answers;
    if (result.status().code() == absl::StatusCode::kCancelled) {
      ++cancelled;
      Expect(key % 10 == 0, "cancelled, and nobody asked for it");
      return;
    }
    Expect(result.ok() && Same(*result, expected[key % (kModels * kKinds)][key / 7 % lines.size()]),
           "request " + std::to_string(key) + " differs from its run alone");
  };
  std::vector<std::thread> senders;
  for (size_t t = 0; t < kThreads; ++t) {
    senders.emplace_back([&, t] {
      std::vector<std::shared_ptr<const nibu::Plan>> plans;
      for (const auto& model : models) {
        for (const auto& kind : kinds) plans.push_back(Value(translator->Prepare(model, kind)));
      }
      for (uint64_t key = t; key < kRequests; key += kThreads) {
        nibu::Request request;
        request.priority = static_cast<int>(key % 3);
        request.key = key;
        const auto ticket =
            translator->Submit(lines[key / 7 % lines.size()], plans[key % plans.size()],
                               std::move(request), check, nibu::kForever);
        Expect(ticket.ok(), "a request was refused");
        if (key % 10 == 0 && ticket.ok()) translator->Cancel(*ticket);
        if (key % 100 == t) SendNonsense(translator.get(), models[t % kModels], plans[t]);
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  // The plans of the models are gone. Requests keep their models until they end.
  models.clear();
  // The destructor waits until all requests are answered.
  translator.reset();
  Expect(answers == kRequests, "not every request was answered once");
  std::printf("nibu %s: %zu answers, %zu of them cancelled, %d errors\n", nibu::Version(), answers,
              cancelled, errors.load());
  return errors == 0 ? 0 : 1;
}
