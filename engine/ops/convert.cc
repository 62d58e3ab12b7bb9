#include "engine/ops/convert.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/ops/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out[i] = float(from[i]) for T = hwy::float16_t or hwy::bfloat16_t.
template <typename T>
void PromoteArray(const void* from, size_t n, float* out) {
  const auto* bytes = static_cast<const uint8_t*>(from);  // at any address
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<T, decltype(d)> dt;
    HWY_ALIGN T in[hn::MaxLanes(decltype(d)())];
    std::memcpy(in, bytes + i * sizeof(T), hn::Lanes(d) * sizeof(T));
    hn::StoreU(hn::PromoteTo(d, hn::Load(dt, in)), d, out + i);
  });
}

void PromoteFloat16(const void* from, size_t n, float* out) {
  PromoteArray<hwy::float16_t>(from, n, out);
}
void PromoteBFloat16(const void* from, size_t n, float* out) {
  PromoteArray<hwy::bfloat16_t>(from, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu {
namespace {

HWY_EXPORT(PromoteFloat16);
HWY_EXPORT(PromoteBFloat16);

template <typename T>
void CastArray(const void* from, size_t n, float* out) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  for (size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(value);
  }
}

}  // namespace

void ConvertToFloat(DType dtype, const void* from, size_t n, float* out) {
  switch (dtype) {
    case DType::kFloat32:
      if (n > 0) std::memcpy(out, from, n * sizeof(float));
      return;
    case DType::kFloat16:
      HWY_DYNAMIC_DISPATCH(PromoteFloat16)(from, n, out);
      return;
    case DType::kBFloat16:
      HWY_DYNAMIC_DISPATCH(PromoteBFloat16)(from, n, out);
      return;
    case DType::kInt8:
      CastArray<int8_t>(from, n, out);
      return;
    case DType::kInt16:
      CastArray<int16_t>(from, n, out);
      return;
    case DType::kInt32:
      CastArray<int32_t>(from, n, out);
      return;
    case DType::kInt64:
      CastArray<int64_t>(from, n, out);
      return;
    case DType::kUint8:
      CastArray<uint8_t>(from, n, out);
      return;
  }
}

bool AllFinite(const float* x, size_t n) {
  uint32_t bad = 0;
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    bad |= static_cast<uint32_t>((bits & 0x7f800000u) == 0x7f800000u);
  }
  return bad == 0;
}

}  // namespace nibu
#endif  // HWY_ONCE
