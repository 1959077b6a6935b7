// What workers and servers send each other, and how they wait for it.
//
// For each worker, server and lane there is a request thread (of the worker) and a session (a thread of the server).
// They strictly alternate, so nobody ever waits in a circle: the request thread pushes a bucket, the session replies
// with what became of it, then comes the next bucket of the lane. Bucket b of a server belongs to lane b % kLanes; so
// while one lane waits for its reply, another one pushes.
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
  base::Range chunks;                                           // of all; none: statistics
  tensor::ElementType encoding = tensor::ElementType::float32;  // of its partials and replies on the wire
  std::array<std::uint8_t, 7> unused = {};
  friend bool operator==(const WireBucket&, const WireBucket&) = default;
};
static_assert(std::has_unique_object_representations_v<WireBucket>, "padding would travel with whatever it held");
// Fails when this program cannot read what will travel; the text names the bucket and its encoding.
void check_encodings(std::span<const WireBucket> buckets, int worker, int server);

enum class RequestKind : std::int32_t { push, pull, end };

// What a request thread wants. In a synchronous step the ends of all workers' shares of the oars follow the head in its
// message. Where both sides reach the worker's memory, then comes the place of each partial, and first that of the
// reply, which is nothing but an empty message: the server reads and writes there. Otherwise the partials of a push
// follow, each a message, and the reply carries what became of them.
struct RequestHead {
  RequestKind request = RequestKind::end;
  std::int32_t bucket = 0;  // of the server's
  std::int32_t partials = 0;
  std::int32_t has_places = 0;
  std::int64_t samples = 0;  // of the batch; without synchronisation, of the worker's share
  std::int64_t step = 0;
  double lr = 0;
  double clip = 1;
};

// Waits as long as the group lives, however late the other side is. Throws when the alarm is raised, or `stop` is set.
std::size_t receive_patiently(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into,
                              const std::atomic<bool>& stop);

// Arrays whose length both sides know; none is sent where it is 0.
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
