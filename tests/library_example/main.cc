// library_example MODEL: what a server does with the library. Opens a model, sends requests with
// options of their own from several threads, cancels some, sends nonsense in between, and checks
// every answer against a run of its own. Exit status 0: all as it should be.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/translator.h"
#include "models/load_model.h"
#include "tools/text/text_translator.h"

namespace {

constexpr size_t kThreads = 4;
constexpr size_t kRequests = 1000;
constexpr size_t kKinds = 5;

std::atomic<int> errors{0};

void Expect(bool ok, const std::string& what) {
  if (ok) return;
  ++errors;
  std::fprintf(stderr, "library_example: %s\n", what.c_str());
}

std::vector<std::string> Lines() {
  return {"A man is riding a bicycle.",
          "Two dogs are playing in the snow. A child is watching them.",
          "A woman in a red dress is singing on a stage.",
          "",
          "The boy is eating an apple.",
          "People are waiting for a train. It is late. Nobody is happy."};
}

std::vector<nibu::internal::TextOptions> Kinds(const nibu::internal::TextOptions& defaults) {
  std::vector<nibu::internal::TextOptions> kinds(kKinds, defaults);
  kinds[0].decoding.beam_size = 1;
  kinds[1].decoding.beam_size = 2;
  kinds[1].decoding.num_hypotheses = 2;
  kinds[2].decoding.max_decoding_length = 5;
  kinds[3].split_sentences = false;
  kinds[3].decoding.length_penalty = 0.6f;
  kinds[4].max_input_length = 4;
  kinds[4].decoding.min_decoding_length = 3;
  return kinds;
}

bool Same(const nibu::internal::TextResult& a, const nibu::internal::TextResult& b) {
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

void SendNonsense(nibu::internal::Translator* engine) {
  const auto refuse = [&](nibu::internal::Request request, const char* what) {
    const auto ticket = engine->Submit(
        std::move(request),
        [&](uint64_t, const nibu::internal::Result&) { Expect(false, "was answered"); });
    Expect(ticket.status().code() == absl::StatusCode::kInvalidArgument, what);
  };
  nibu::internal::Request request;
  refuse(request, "no tokens");
  request.source.assign(1, 1000000000);
  refuse(request, "an id beyond the vocabulary");
  request.source.assign(1, -7);
  refuse(request, "a negative id");
  request.source.assign(1000000, 5);
  refuse(request, "too many tokens");
  request.source.assign(1, 5);
  request.options.beam_size = 0;
  refuse(request, "no beam");
  request.options = {};
  request.options.max_decoding_length = -1;
  refuse(request, "a negative length");
  request.options = {};
  request.options.frame = nibu::internal::Frame{{}, {}, {1 << 30}};
  refuse(request, "an id of the frame");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: library_example MODEL\n");
    return 2;
  }
  auto opened = nibu::internal::OpenModel(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "library_example: %s\n", std::string(opened.status().message()).c_str());
    return 1;
  }
  auto model =
      nibu::internal::LoadTextModel(*std::move(opened), nibu::internal::ComputeType::kFloat32, {});
  if (!model.ok()) return 1;
  nibu::internal::TranslatorOptions threads;
  threads.threads = 2;
  auto translator = nibu::internal::TextTranslator::Create(*std::move(model), threads);
  if (!translator.ok()) return 1;
  nibu::internal::TextTranslator& text = **translator;

  // What every request has to give: alone.
  const std::vector<std::string> lines = Lines();
  const std::vector<nibu::internal::TextOptions> kinds = Kinds(text.default_options());
  std::vector<std::vector<nibu::internal::TextResult>> expected(kKinds);
  for (size_t kind = 0; kind < kKinds; ++kind) {
    for (const std::string& line : lines) {
      const auto alone = text.Translate({line}, kinds[kind]);
      if (!alone.ok()) return 1;
      expected[kind].push_back((*alone)[0]);
    }
  }

  std::mutex mutex;
  size_t answers = 0;
  size_t cancelled = 0;
  const auto check = [&](uint64_t key, const absl::StatusOr<nibu::internal::TextResult>& result) {
    const std::lock_guard<std::mutex> lock(mutex);
    ++answers;
    if (result.status().code() == absl::StatusCode::kCancelled) {
      ++cancelled;
      Expect(key % 10 == 0, "cancelled, and nobody asked for it");
      return;
    }
    Expect(result.ok() && Same(*result, expected[key % kKinds][key % lines.size()]),
           "request " + std::to_string(key) + " differs from its run alone");
  };
  std::vector<std::thread> senders;
  for (size_t t = 0; t < kThreads; ++t) {
    senders.emplace_back([&, t] {
      std::vector<std::shared_ptr<const nibu::internal::TextTranslator::Plan>> plans;
      for (const auto& kind : kinds) plans.push_back(text.Prepare(kind).value());
      for (uint64_t key = t; key < kRequests; key += kThreads) {
        const auto ticket = text.Submit(
            lines[key % lines.size()],
            {.plan = plans[key % kKinds], .priority = static_cast<int>(key % 3), .key = key}, check,
            std::chrono::nanoseconds::max());
        Expect(ticket.ok(), "a request was refused");
        if (key % 10 == 0 && ticket.ok()) text.Cancel(*ticket);
        if (key % 100 == t) SendNonsense(&text.translator());
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  translator->reset();  // once everything is answered
  Expect(answers == kRequests, "not every request was answered once");
  std::printf("%zu answers, %zu of them cancelled, %d errors\n", answers, cancelled, errors.load());
  return errors == 0 ? 0 : 1;
}
