// A connection to a server, on which tests send any bytes and read the answers.
#ifndef NIBU_TESTS_TOOLS_SERVE_RAW_CONNECTION_H_
#define NIBU_TESTS_TOOLS_SERVE_RAW_CONNECTION_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace nibu::internal {

struct ReceivedAnswer {
  int status = 0;                              // 0: there was no answer
  std::map<std::string, std::string> headers;  // by their names in lower case
  std::string body;
};

class RawConnection {
 public:
  // `url`: "http://127.0.0.1:PORT". `from`: the address of this end; each is another client.
  explicit RawConnection(const std::string& url, const std::string& from = "127.0.0.1")
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const int port = std::atoi(url.substr(url.rfind(':') + 1).c_str());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof(own));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    const timeval time = {20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  ~RawConnection() { Close(); }
  RawConnection(RawConnection&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), read_(std::move(other.read_)) {}
  RawConnection& operator=(RawConnection&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(read_, other.read_);
    return *this;
  }

  void Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  void SendPost(const std::string& path, const std::string& type, const std::string& body) {
    Send(absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: x\r\nContent-Type: ", type,
                      "\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  }
  void SendGet(const std::string& path) {
    Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n"));
  }

  // Reads the next answer. `has_body`: false for an answer to HEAD.
  ReceivedAnswer Read(bool has_body = true) {
    ReceivedAnswer answer;
    size_t end = 0;
    while ((end = read_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore()) return answer;
    }
    const std::string head = read_.substr(0, end);
    read_.erase(0, end + 4);
    bool is_first = true;
    for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
      if (std::exchange(is_first, false)) {
        if (!absl::SimpleAtoi(line.substr(9, 3), &answer.status)) return answer;
        continue;
      }
      const std::pair<std::string, std::string> header =
          absl::StrSplit(line, absl::MaxSplits(": ", 1));
      answer.headers[absl::AsciiStrToLower(header.first)] = header.second;
    }
    size_t size = 0;
    if (!has_body || !absl::SimpleAtoi(answer.headers["content-length"], &size)) return answer;
    while (read_.size() < size && ReadMore()) {
    }
    answer.body = read_.substr(0, size);
    read_.erase(0, size);
    return answer;
  }

  // Reads so many bytes, or fewer if the connection ends.
  std::string ReadBytes(size_t size) {
    while (read_.size() < size && ReadMore()) {
    }
    const std::string bytes = read_.substr(0, size);
    read_.erase(0, size);
    return bytes;
  }

  // Returns whether the server closes the connection within 20 seconds and sends nothing before.
  bool IsClosed() {
    const size_t before = read_.size();
    return !ReadMore() && read_.size() == before && !timed_out_;
  }
  // Returns whether something can be read within so many milliseconds.
  bool HasData(int milliseconds) {
    pollfd wait = {socket_, POLLIN, 0};
    return !read_.empty() || poll(&wait, 1, milliseconds) > 0;
  }

  // Returns the first of the connections on which something can be read within 20 seconds, or null.
  static RawConnection* AwaitAny(std::vector<RawConnection>* connections) {
    std::vector<pollfd> waits;
    for (const RawConnection& each : *connections) waits.push_back({each.socket_, POLLIN, 0});
    if (poll(waits.data(), waits.size(), 20'000) <= 0) return nullptr;
    size_t index = 0;
    while (waits[index].revents == 0) ++index;
    return &(*connections)[index];
  }

  // Ends only the sending side.
  void FinishSending() { shutdown(socket_, SHUT_WR); }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  // Closes the connection with a reset.
  void Reset() {
    const linger now = {1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    Close();
  }

 private:
  bool ReadMore() {
    char bytes[4096];
    const ssize_t read = recv(socket_, bytes, sizeof(bytes), 0);
    timed_out_ = read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (read <= 0) return false;
    read_.append(bytes, static_cast<size_t>(read));
    return true;
  }

  int socket_;
  std::string read_;
  bool timed_out_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_SERVE_RAW_CONNECTION_H_
