// Builds zip archives, gzip files, pickles and PyTorch files for the tests of their readers.
#ifndef NIBU_TESTS_MODELS_ARCHIVES_H_
#define NIBU_TESTS_MODELS_ARCHIVES_H_

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/models/files.h"

namespace nibu::internal::testing {

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// Compresses by zlib. `window_bits`: chooses the format around the data, as in deflateInit2.
inline std::string Compress(const std::string& bytes, int window_bits) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string Deflate(const std::string& bytes) { return Compress(bytes, -MAX_WBITS); }
inline std::string Gzip(const std::string& bytes) { return Compress(bytes, 16 + MAX_WBITS); }

using Members = std::vector<std::pair<std::string, std::string>>;

// Returns an archive of members (name, bytes), with the older or the 64-bit directory.
inline std::string Zip(const Members& members, bool deflated = false, bool large = false) {
  std::string file;
  std::string directory;
  for (const auto& [name, bytes] : members) {
    const std::string stored = deflated ? Deflate(bytes) : bytes;
    const auto crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
    const std::string method = Bytes<uint16_t>(deflated ? 8 : 0);
    const std::string sizes = Bytes<uint32_t>(static_cast<uint32_t>(stored.size())) +
                              Bytes<uint32_t>(static_cast<uint32_t>(bytes.size()));
    const std::string none = Bytes<uint32_t>(0);
    const std::string name_bytes = Bytes<uint16_t>(static_cast<uint16_t>(name.size()));
    std::string extra;
    std::string stated = sizes;
    std::string offset = Bytes<uint32_t>(static_cast<uint32_t>(file.size()));
    if (large) {
      extra = Bytes<uint16_t>(1) + Bytes<uint16_t>(24) + Bytes<uint64_t>(bytes.size()) +
              Bytes<uint64_t>(stored.size()) + Bytes<uint64_t>(file.size());
      stated = std::string(8, '\xff');
      offset = std::string(4, '\xff');
    }
    directory += std::string("PK\1\2") + none + Bytes<uint16_t>(0) + method + none + Bytes(crc) +
                 stated + name_bytes + Bytes(static_cast<uint16_t>(extra.size())) +
                 Bytes<uint16_t>(0) + none + none + offset + name + extra;
    file += std::string("PK\3\4") + Bytes<uint16_t>(20) + Bytes<uint16_t>(0) + method + none +
            Bytes(crc) + sizes + name_bytes + Bytes<uint16_t>(0) + name + stored;
  }
  const auto start = static_cast<uint32_t>(file.size());
  const auto count = static_cast<uint16_t>(members.size());
  const auto size = static_cast<uint32_t>(directory.size());
  file += directory;
  if (large) {
    const uint64_t end = file.size();
    file += std::string("PK\6\6") + std::string(28, '\0') + Bytes<uint64_t>(count) +
            Bytes<uint64_t>(size) + Bytes<uint64_t>(start);
    file += std::string("PK\6\7") + Bytes<uint32_t>(0) + Bytes(end) + Bytes<uint32_t>(1);
  }
  file += std::string("PK\5\6") + Bytes<uint32_t>(0);
  if (large) return file + std::string(12, '\xff') + Bytes<uint16_t>(0);
  return file + Bytes(count) + Bytes(count) + Bytes(size) + Bytes(start) + Bytes<uint16_t>(0);
}

inline std::string PickleText(const std::string& text) {
  return std::string("X") + Bytes(static_cast<uint32_t>(text.size())) + text;
}
inline std::string PickleInt(int64_t value) {
  return std::string("J") + Bytes(static_cast<int32_t>(value));
}
inline std::string PickleTuple(const std::vector<int64_t>& values) {
  std::string out = "(";
  for (const int64_t value : values) out += PickleInt(value);
  return out + "t";
}

// Returns a tensor as torch.save pickles it. `stream`: in the older format, without zip.
inline std::string PickleTensor(const std::string& type, const std::string& key, int64_t elements,
                                int64_t first, const std::vector<int64_t>& shape,
                                const std::vector<int64_t>& strides, bool stream = false) {
  return std::string("ctorch._utils\n_rebuild_tensor_v2\n((") + PickleText("storage") + "ctorch\n" +
         type + "\n" + PickleText(key) + PickleText("cpu") + PickleInt(elements) +
         (stream ? "N" : "") + "tQ" + PickleInt(first) + PickleTuple(shape) + PickleTuple(strides) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

inline std::vector<int64_t> RowMajor(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Returns a file with `tensors` as float32, one storage each, in either format of torch.save. If
// there are `args`, a value without the opcode that ends a pickle, it is a checkpoint of fairseq.
inline std::string TorchFile(const TestTensors& tensors, bool stream,
                             const std::string& args = "") {
  std::string state = "\x80\x02";
  if (!args.empty()) state += "}(" + PickleText("args") + args + PickleText("model");
  state += "ccollections\nOrderedDict\n)R(";
  std::string keys = "\x80\x02](";
  std::string storages;
  Members members;
  for (const auto& [name, tensor] : tensors) {
    const std::string key = absl::StrCat(members.size());
    const auto elements = static_cast<int64_t>(tensor.values.size());
    const std::string raw(reinterpret_cast<const char*>(tensor.values.data()),
                          tensor.values.size() * 4);
    state += PickleText(name) + PickleTensor("FloatStorage", key, elements, 0, tensor.shape,
                                             RowMajor(tensor.shape), stream);
    keys += PickleText(key);
    storages += Bytes(elements) + raw;
    members.emplace_back("archive/data/" + key, raw);
  }
  state += "u}" + PickleText("_metadata") + "}sb";
  state += args.empty() ? "." : "u.";
  if (!stream) {
    members.insert(members.begin(), {"archive/data.pkl", state});
    members.emplace_back("archive/byteorder", "little");
    members.emplace_back("archive/version", "3\n");
    return Zip(members);
  }
  return std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15) +
         "\x80\x02M\xe9\x03."
         "\x80\x02}" +
         PickleText("little_endian") + "\x88s." + state + keys + "e." + storages;
}

}  // namespace nibu::internal::testing

#endif  // NIBU_TESTS_MODELS_ARCHIVES_H_
