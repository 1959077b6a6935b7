// The messages between workers and servers, and how each side waits for them.
// The functions are thread-safe; each lane of a worker and server has one thread on each side.
//
// Each triple of worker, server and lane has a request thread in the worker and a session, a thread of the server. They
// strictly alternate, so they cannot deadlock: the request thread pushes a bucket, the session replies with the new
// weights (or the summed gradient), then the next bucket of the lane follows. Bucket b of a server belongs to lane
// b % kLanes, so while one lane waits for its reply, another one pushes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/oar_tree.h"
#include "comm/mailbox/mailbox.h"
#include "strategy/common/tags.h"
#include "tensor/element_type.h"

namespace trireme::strategy {

inline constexpr int kLanes = 2;

// The first message of a worker's interval; its buckets follow.
struct BeginHead {
  std::int64_t buckets = 0;
  std::int32_t oars = 0;
  std::int8_t synchronous = 0, returns_gradients = 0, is_exact = 0, clips = 0;
};
struct WireBucket {
  base::Range floats;
  base::Range chunks;                                           // numbers of the replica's chunks; empty: statistics
  tensor::ElementType encoding = tensor::ElementType::float32;  // of its partials and replies on the wire
  std::array<std::uint8_t, 7> unused = {};
  friend bool operator==(const WireBucket&, const WireBucket&) = default;
};
static_assert(std::has_unique_object_representations_v<WireBucket>, "padding would be sent uninitialised");
// Throws an internal error that names the bucket and its encoding when this program cannot decode it.
void check_encodings(std::span<const WireBucket> buckets, int worker, int server);

enum class RequestKind : std::int32_t { push, pull, end };

// The head of a request. Layout of the message: RequestHead; for a push of a synchronous step the ends of all pushers'
// shares of the oars (int64 each); with has_places the WindowAddress of the reply and then of each partial.
// With has_places the server reads partials and writes the reply in the worker's memory, and the reply message is
// empty. Without, the partials of a push follow, one message each, and the reply message carries the result.
struct RequestHead {
  RequestKind request = RequestKind::end;
  std::int32_t bucket = 0;  // number of the bucket at the server
  std::int32_t partials = 0;
  std::int32_t has_places = 0;
  std::int64_t samples = 0;  // of the batch; when asynchronous, of the worker's share
  std::int64_t step = 0;
  double lr = 0;
  double clip = 1;
};

// Receives without a deadline, however late the peer is. Throws when the group's alarm is raised or `stop` is set.
std::size_t receive_patiently(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into,
                              const std::atomic<bool>& stop);

// Arrays whose length both sides know; an empty array is not sent.
template <class T>
void send_array(comm::Mailbox& mailbox, int to, comm::Tag tag, std::span<const T> values) {
  if (!values.empty()) mailbox.send(to, tag, std::as_bytes(values));
}
void receive_bytes(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into,
                   const std::atomic<bool>& stop);
template <class T>
void receive_array(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<T> into, const std::atomic<bool>& stop) {
  if (!into.empty()) receive_bytes(mailbox, from, tag, std::as_writable_bytes(into), stop);
}
template <class T>
void send_one(comm::Mailbox& mailbox, int to, comm::Tag tag, const T& value) {
  mailbox.send(to, tag, std::as_bytes(std::span(&value, 1)));
}
template <class T>
T receive_one(comm::Mailbox& mailbox, int from, comm::Tag tag, const std::atomic<bool>& stop) {
  T value{};
  receive_bytes(mailbox, from, tag, std::as_writable_bytes(std::span(&value, 1)), stop);
  return value;
}

}  // namespace trireme::strategy
