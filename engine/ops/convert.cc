// Element type conversions, by plain loops and, for 16-bit floats, by Highway.
#include "engine/ops/convert.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

#include "engine/core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nibu::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out[i] = float(from[i]); `from` is at any address.
template <typename T>
void Convert(const void* from, size_t n, float* out) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  for (size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(value);
  }
}

// Does the same for T = hwy::float16_t or hwy::bfloat16_t.
template <typename T>
void Promote(const void* from, size_t n, float* out) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  ForEachVector(n, [=](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<T, decltype(d)> dt;
    HWY_ALIGN T in[hn::MaxLanes(decltype(d)())];
    std::memcpy(in, bytes + i * sizeof(T), hn::Lanes(d) * sizeof(T));
    hn::StoreU(hn::PromoteTo(d, hn::Load(dt, in)), d, out + i);
  });
}

void ConvertFrom(DType dtype, const void* from, size_t n, float* out) {
  static constexpr decltype(&Convert<float>) kConvert[] = {
      Convert<float>,   Promote<hwy::float16_t>, Promote<hwy::bfloat16_t>, Convert<int8_t>,
      Convert<int16_t>, Convert<int32_t>,        Convert<int64_t>,         Convert<uint8_t>};
  kConvert[static_cast<size_t>(dtype)](from, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace nibu::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nibu::internal {
namespace {
HWY_EXPORT(ConvertFrom);
}  // namespace

void ConvertToFloat(DType dtype, const void* from, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(ConvertFrom)(dtype, from, n, out);
}

// Floats whose exponent has all bits set are infinite or NaN. A loop without exits is vectorized.
bool AllFinite(const float* x, size_t n) {
  uint32_t bad = 0;
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    bad |= static_cast<uint32_t>((bits & 0x7f800000u) == 0x7f800000u);
  }
  return bad == 0;
}

}  // namespace nibu::internal
#endif  // HWY_ONCE
