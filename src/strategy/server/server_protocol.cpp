#include "strategy/server/server_protocol.h"

#include "base/error.h"

namespace trireme::strategy {
namespace {
constexpr double kLookSeconds = 0.5;  // how often to check `stop`
}

std::size_t receive_patiently(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into,
                              const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_acquire))
    if (const auto received = mailbox.receive_within(kLookSeconds, from, tag, into)) return received->bytes;
  base::run_error("rank {} stopped waiting for rank {} (tag {})", mailbox.rank(), from, tag);
}

void receive_bytes(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into,
                   const std::atomic<bool>& stop) {
  const std::size_t bytes = receive_patiently(mailbox, from, tag, into, stop);
  base::check(bytes == into.size(), "rank {} expected {} bytes from rank {} (tag {}), {} came", mailbox.rank(),
              into.size(), from, tag, bytes);
}

void check_encodings(std::span<const WireBucket> buckets, int worker, int server) {
  for (std::size_t b = 0; b < buckets.size(); ++b)
    base::check(buckets[b].encoding == tensor::ElementType::float32,
                "worker {} sends bucket {} of server {} as {} (number {}), the server reads {} only", worker, b, server,
                tensor::element_name(buckets[b].encoding), static_cast<int>(buckets[b].encoding),
                tensor::element_name(tensor::ElementType::float32));
}

}  // namespace trireme::strategy
