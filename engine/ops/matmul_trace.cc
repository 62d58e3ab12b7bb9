// The matmul floor of MatmulContext.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/aligned_buffer.h"
#include "engine/core/profile.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul_state.h"
#include "engine/ops/packed_linear.h"

namespace nibu::internal {

void MatmulContext::StartTrace() { state_->trace = std::make_shared<MatmulTrace>(); }

std::shared_ptr<const MatmulTrace> MatmulContext::FinishTrace() { return std::move(state_->trace); }

double MatmulContext::ReplayTrace(const MatmulTrace& trace) {
  size_t x_bytes = 0;
  size_t y_bytes = 0;
  for (const auto& [call, packed] : trace.calls) {
    const MatmulKernel* const kernel = std::get<MatmulKernel*>(call);
    const auto in = static_cast<size_t>(packed->spec.in);
    const auto out = static_cast<size_t>(packed->spec.out);
    x_bytes =
        std::max(x_bytes, kernel != nullptr ? kernel->x.get_desc().get_size() : in * kMostRows);
    y_bytes = std::max(y_bytes, kernel != nullptr ? kernel->y.get_desc().get_size()
                                                  : out * kMostRows * sizeof(float));
  }
  const std::vector<float> scales(kMostRows, 1.0f);
  AlignedBuffer<char> x(x_bytes);
  AlignedBuffer<char> y(y_bytes);
  std::memset(x.data(), 0, x.size());
  std::memset(y.data(), 0, y.size());  // some calls add to it
  const auto replay = [&] {
    double seconds = 0;
    {
      ScopedTimer timer(&seconds);
      for (const auto* made : trace.order) {
        const auto& [call, packed] = *made;
        const auto& [kernel, rows, weights, part] = call;
        if (kernel == nullptr) {
          state_->MultiplyInt8(*packed, x.data(), scales.data(), rows,
                               reinterpret_cast<float*>(y.data()));
        } else {
          state_->Execute(*kernel, x.data(), packed->parts[part], packed->BiasOf(part), y.data());
        }
      }
    }
    return seconds;
  };
  constexpr size_t kReplays = 3;       // of which the median counts
  constexpr double kLongEnough = 0.2;  // seconds of all of them
  std::vector<double> replays = {replay()};
  for (double total = replays[0];
       !trace.order.empty() && (total < kLongEnough || replays.size() < kReplays);) {
    total += replays.emplace_back(replay());
  }
  std::nth_element(replays.begin(), replays.begin() + replays.size() / 2, replays.end());
  return replays[replays.size() / 2];
}

double MatmulContext::TracedSeconds(const MatmulTrace& trace) { return trace.seconds; }

}  // namespace nibu::internal
